// One channel on the device's clock: descriptors become accesses to the device's host port.
//
//   command_*  descriptors in their order; each stays until it has ended, and answer_* says so
//   in_*       lines of words for the device, in the order of the descriptors that want them
//   out_*      lines of words of the device; out_count_i is rs_async_fifo's wcount_o
//   host_*     one access a cycle, of row host_row_o of polynomial host_index_o of memory
//              host_space_o of unit host_unit_o. A row has HostWords words of Width bits, the first
//              one lowest. Reads are answered by host_rvalid_i some cycles later, in order, each as
//              it likes. Until the last answer, address space, unit and index hold still, and
//              nothing is written.
//   start_o    The program starts, in the ring of asked_o; busy_i shows it StartCycles cycles later
//              at the latest, and is then high until it has ended.
//   asked_o    The descriptor at hand, until it has ended; an OpStart's with start_o. refused_i
//              answers it in the same cycle: the device has no such address, or does not support
//              the ring.
//   moving_o   Rows may stand at the port, in this cycle and the next.
//   host_busy_i  An access is at the port or in progress: no program may start.
//   opened_i   Polynomials of the key store that the program has opened to be written since its
//              start. It is that of the new program when busy_i shows that.
//
// An OpWrite, OpRead or OpStart begins when busy_i is low; an OpStart when host_busy_i is low, too;
// an OpStream when opened_i is above the number of OpStreams since the last OpStart. If the program
// has ended and it is not, the OpStream fails; a refused descriptor fails at once. An OpWrite or
// OpStream ends with its last row at the port, an OpRead when all its lines are in out_*, an
// OpStart at once.
//
// A row crosses in each cycle, in either direction, while its source has words and its destination
// has space. A descriptor costs three cycles more; one that reads also costs the latency of an
// answer. A word of more than Width bits is an error (ErrValue): its row is not written. After an
// error nothing is done until rst_ni, synchronous, which may come at any time; the answer to an
// access in progress is then ignored.
//
// Words lie in lines with 4 bytes where Width is at most 32, with 8 elsewhere. Accesses leave
// through registers.
`include "rs_assert.svh"

module rs_dma_device
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  input  logic                                    command_valid_i,
  output logic                                    command_ready_o,
  input  command_t                                command_i,
  output logic                                    answer_valid_o,
  input  logic                                    answer_ready_i,
  output answer_t                                 answer_o,
  input  logic                                    in_valid_i,
  output logic                                    in_ready_o,
  input  logic [8*LineBytes-1:0]                  in_i,
  output logic                                    out_valid_o,
  input  logic                                    out_ready_i,
  output logic [8*LineBytes-1:0]                  out_o,
  input  logic [Cfg.LogDepth:0]                   out_count_i,

  output logic                                    host_we_o,
  output logic                                    host_re_o,
  output logic [SpaceBits-1:0]                    host_space_o,
  output logic [UnitBits-1:0]                     host_unit_o,
  output logic [IndexBits-1:0]                    host_index_o,
  output logic [RowBits-1:0]                      host_row_o,
  output logic [Cfg.HostWords-1:0][Cfg.Width-1:0] host_wdata_o,
  input  logic                                    host_rvalid_i,
  input  logic [Cfg.HostWords-1:0][Cfg.Width-1:0] host_rdata_i,
  input  logic                                    host_busy_i,
  output command_t                                asked_o,
  input  logic                                    refused_i,
  output logic                                    moving_o,
  output logic                                    start_o,
  input  logic                                    busy_i,
  input  logic [15:0]                             opened_i,
  input  logic [63:0]                             cycles_i
);
  localparam int unsigned WordBits = 8 * word_bytes(Cfg.Width);
  localparam int unsigned RowWidth = Cfg.HostWords * WordBits;
  localparam int unsigned LineRows = 8 * LineBytes / RowWidth;
  localparam int unsigned PartBits = (LineRows > 1) ? $clog2(LineRows) : 1;
  localparam int unsigned SettleBits = $clog2(Cfg.StartCycles + 1);

  typedef enum logic [2:0] {
    StIdle,
    StWrite,
    StRead,
    StSettle,  // until busy_i shows the program
    StAnswer,
    StFailed
  } state_e;
  state_e                state_q;
  error_e                error_q;
  logic [RowBits-1:0]    row_q;     // the next one
  logic [RowBits:0]      left_q;    // rows that are not asked for or written
  logic [RowBits:0]      due_q;     // rows that have not come
  logic [PartBits-1:0]   part_q;    // of a line
  logic [15:0]           streamed_q;
  logic [SettleBits-1:0] settle_q;
  logic                  we_q, re_q, start_q;
  logic [RowBits-1:0]    at_q;

  // ---- to the device ----------------------------------------------------------------------------
  logic [Cfg.HostWords-1:0][Cfg.Width-1:0] words, words_q;
  logic                                    wide, write, last_part;
  always_comb begin
    wide = 1'b0;
    for (int unsigned w = 0; w < Cfg.HostWords; w++) begin
      words[w] = in_i[RowWidth*part_q+WordBits*w+:Cfg.Width];
      wide |= WordBits'(in_i[RowWidth*part_q+WordBits*w+:WordBits]) >> Cfg.Width != '0;
    end
  end
  assign last_part  = LineRows == 1 || part_q == PartBits'(LineRows - 1);
  assign write      = state_q == StWrite && in_valid_i && left_q != '0;
  assign in_ready_o = write && (last_part || left_q == (RowBits + 1)'(1));

  // ---- and from it ------------------------------------------------------------------------------
  // The FIFO has space for each row that was asked for, counted as a full line.
  logic [RowBits:0]       open_q;  // rows that are asked for and have not come
  logic                   read, came, came_last;
  logic [8*LineBytes-1:0] line_q;
  logic                   full_q;  // line_q goes into the FIFO
  logic [RowWidth-1:0]    row;
  assign read      = state_q == StRead && left_q != '0 &&
                     32'(out_count_i) + 32'(open_q) + 32'd3 < 32'(1 << Cfg.LogDepth);
  assign came      = state_q == StRead && host_rvalid_i;
  assign came_last = due_q == (RowBits + 1)'(1);
  always_comb begin
    row = '0;
    for (int unsigned w = 0; w < Cfg.HostWords; w++) row[WordBits*w+:Cfg.Width] = host_rdata_i[w];
  end
  assign out_valid_o = full_q;
  assign out_o       = line_q;

  // ---- descriptors ------------------------------------------------------------------------------
  logic may_start, opened;
  assign may_start = !busy_i && !host_busy_i && !we_q && !re_q;
  assign opened    = opened_i > streamed_q;
  assign answer_valid_o  = state_q == StAnswer;
  assign answer_o        = '{error: error_q, cycles: cycles_i};
  assign command_ready_o = answer_valid_o && answer_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StIdle;
      we_q       <= 1'b0;
      re_q       <= 1'b0;
      start_q    <= 1'b0;
      full_q     <= 1'b0;
      streamed_q <= '0;
    end else begin
      we_q    <= write && !wide;
      re_q    <= read;
      start_q <= 1'b0;
      full_q  <= came && (last_part || came_last);
      case (state_q)
        StIdle: begin
          if (command_valid_i && refused_i) begin
            state_q <= StAnswer;
          end else if (command_valid_i) begin
            case (command_i.op)
              OpWrite: if (!busy_i) state_q <= StWrite;
              OpRead: if (!busy_i) state_q <= StRead;
              OpStream: begin
                if (opened) state_q <= StWrite;
                else if (!busy_i) state_q <= StAnswer;
              end
              OpStart: begin
                if (may_start) begin
                  start_q    <= 1'b1;
                  streamed_q <= '0;
                  state_q    <= StSettle;
                end
              end
              default: ;
            endcase
          end
        end
        StWrite: begin
          if (write && wide) begin
            state_q <= StAnswer;
          end else if (write && left_q == (RowBits + 1)'(1)) begin
            state_q <= StAnswer;
            if (command_i.op == OpStream) streamed_q <= streamed_q + 16'd1;
          end
        end
        StRead: if (came && came_last) state_q <= StAnswer;
        StSettle: if (settle_q == '0) state_q <= StAnswer;
        StAnswer: begin
          if (answer_ready_i) state_q <= (error_q == ErrNone) ? StIdle : StFailed;
        end
        default: ;
      endcase
    end

    if (state_q == StIdle) begin
      error_q  <= refused_i ? ErrPlace
                            : (command_i.op == OpStream && !opened) ? ErrUnopened : ErrNone;
      row_q    <= '0;
      left_q   <= (RowBits + 1)'(command_i.rows);
      due_q    <= (RowBits + 1)'(command_i.rows);
      part_q   <= '0;
      open_q   <= '0;
      settle_q <= SettleBits'(Cfg.StartCycles);
    end else begin
      if (write && wide) error_q <= ErrValue;
      if (write || read) begin
        row_q  <= row_q + 1'b1;
        left_q <= left_q - 1'b1;
      end
      if (came) due_q <= due_q - 1'b1;
      if (LineRows > 1 && (write || came)) part_q <= part_q + 1'b1;
      open_q <= open_q + (RowBits + 1)'(read) - (RowBits + 1)'(came);
      settle_q <= settle_q - 1'b1;
    end
    at_q <= row_q;
    if (write) words_q <= words;
    for (int unsigned r = 0; r < LineRows; r++) begin
      if (came && (LineRows == 1 || part_q == PartBits'(r))) line_q[RowWidth*r+:RowWidth] <= row;
    end
  end

  // Address space, unit and index are those of the descriptor, which stays until its end. The last
  // access is at the port one cycle later.
  logic [SpaceBits-1:0]  space_q;
  logic [UnitBits-1:0]  unit_q;
  logic [IndexBits-1:0] index_q;
  always_ff @(posedge clk_i) begin
    if (write || read) begin
      space_q  <= command_i.space;
      unit_q  <= command_i.unit;
      index_q <= command_i.index;
    end
  end
  assign host_we_o    = we_q;
  assign host_re_o    = re_q;
  assign host_space_o  = space_q;
  assign host_unit_o  = unit_q;
  assign host_index_o = index_q;
  assign host_row_o   = at_q;
  assign host_wdata_o = words_q;
  assign start_o      = start_q;
  assign asked_o      = command_i;
  assign moving_o     = state_q == StWrite || state_q == StRead;

  `RS_ASSERT(SpaceForLines_A, !full_q || out_ready_i || out_count_i == '1,
             "a line of the device finds no space in the FIFO")
  `RS_ASSERT(StartsWhileIdle_A, !start_q || !busy_i, "a program starts while another one runs")
endmodule
