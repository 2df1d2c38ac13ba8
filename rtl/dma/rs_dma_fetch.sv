// Reads descriptors of one channel, and the words that they send to the device, from host memory.
//
// From start_i on, descriptors are read one after another from list_i on, checked, and handed on:
//
//   command_*   to the device, where they wait until those before them have ended
//   entry_*     to the engine, which ends them in their order
//   job_*       to rs_dma_store: where the words of an OpRead go, and how many bytes
//   line_*      the words of an OpWrite or OpStream, in lines of the FIFO to the device. There is
//               always space for a line that comes: a burst is asked for when line_count_i, the
//               lines in the FIFO, leave space for all that are still to come.
//
// The next descriptor is asked for before the words of this one, so that it is there when their
// last burst is on its way, and bursts of one descriptor follow those of the one before. A
// channel's bursts have one ID: their answers come in order, and rready is always high.
//
//   ar_turn_o   The channel's turn on the bus ends: a list begins; or an OpRead that follows
//            other descriptors has been handed on; or MaxTurn descriptors without an OpRead have.
//   fail_o   The first descriptor, in their order, that cannot be handed on (not fail_o.pushed), or
//            whose words cannot be read (pushed). fail_o.number counts descriptors from start_i on.
//   all_o    The last descriptor has been handed on.
//   halt_i   No more bursts are requested, and words that come are dropped. idle_o: all requested
//            words have come. rst_ni, synchronous, needs idle_o.
//
// Bursts are INCR, of whole beats, of at most rs_dma_pkg::burst_bytes, and within 4 KiB. Reads are
// rounded up to whole beats, which stay within DataAlign bytes.
`include "rs_assert.svh"

module rs_dma_fetch
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  localparam int unsigned BeatBytes = Cfg.DataBits / 8,
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    start_i,
  input  logic [AddrBits-1:0]     list_i,
  input  logic                    halt_i,
  output logic                    idle_o,
  output logic                    all_o,
  output logic [NumberBits-1:0]   pushed_o,
  output fail_t                   fail_o,

  output logic                    ar_valid_o,
  input  logic                    ar_ready_i,
  output logic [AddrBits-1:0]     ar_addr_o,
  output logic [7:0]              ar_len_o,
  output logic                    ar_turn_o,
  input  logic                    r_valid_i,
  input  logic                    r_last_i,
  input  logic                    r_error_i,
  input  logic [Cfg.DataBits-1:0] r_data_i,

  output logic                    command_valid_o,
  input  logic                    command_ready_i,
  output command_t                command_o,
  output logic                    entry_valid_o,
  input  logic                    entry_ready_i,
  output entry_t                  entry_o,
  output logic                    job_valid_o,
  input  logic                    job_ready_i,
  output job_t                    job_o,
  output logic                    line_valid_o,
  output logic [8*LineBytes-1:0]  line_o,
  input  logic [Cfg.LogDepth:0]   line_count_i
);
  localparam int unsigned WordBytes = word_bytes(Cfg.Width);
  localparam int unsigned LineBeats = LineBytes / BeatBytes;
  localparam int unsigned Burst = burst_bytes(BeatBytes, LineBytes << Cfg.LogDepth);
  localparam int unsigned DescriptorBeats =
      (DescriptorBytes > BeatBytes) ? DescriptorBytes / BeatBytes : 1;
  localparam int unsigned LogLine = $clog2(LineBytes);
  localparam int unsigned LogBeat = $clog2(BeatBytes);
  localparam int unsigned LogBits = $clog2(Cfg.DataBits);
  if (Cfg.DataBits < 32 || Cfg.DataBits > 512 || Cfg.DataBits != 1 << LogBits) begin : gen_bad_bus
    $error("rs_dma: Cfg.DataBits = %0d is not 32, 64, 128, 256 or 512", Cfg.DataBits);
  end

  // ---- what has been asked for ------------------------------------------------------------------
  typedef struct packed {
    logic                  descriptor;  // and no words
    logic [NumberBits-1:0] number;      // of the descriptor whose words they are
  } kind_t;
  kind_t kind_in, kind;
  logic  kind_valid, kind_ready, ask;  // a burst is asked for
  rs_dma_fifo #(
    .Width($bits(kind_t)),
    .LogDepth(4)
  ) u_kinds (
    .clk_i,
    .rst_ni,
    .valid_i(ask),
    .ready_o(kind_ready),
    .data_i(kind_in),
    .valid_o(kind_valid),
    .ready_i(r_valid_i && r_last_i),
    .data_o(kind)
  );

  typedef enum logic [2:0] {
    StWait,   // for a descriptor
    StCheck,
    StPush,
    StSize,   // of the next burst
    StAsk,
    StBad
  } state_e;
  state_e                    state_q;
  logic                      want_q;  // the next descriptor is to be asked for
  logic [AddrBits-1:0]       want_addr_q;
  logic                      slot_valid_q, slot_error_q;  // the next descriptor is here
  logic [DescriptorBits-1:0] slot_q, slot_d;
  logic [AddrBits-1:0]       slot_addr_q;
  logic [NumberBits-1:0]     pushed_q;
  logic                      all_q;
  fail_t                     fail_q;
  error_e                    error_q, error;
  logic                      ar_valid_q;
  logic [AddrBits-1:0]       ar_addr_q;
  logic [7:0]                ar_len_q;
  logic [4:0]                open_q;  // bursts asked for and not complete
  logic                      halt;
  assign halt = halt_i || (fail_q.valid && fail_q.pushed);

  // ---- a descriptor -----------------------------------------------------------------------------
  descriptor_t          slot;
  logic [CountBytes-1:0] slot_bytes;   // of its words
  logic [23:0]           rows;
  logic                  moves, whole_rows;
  assign slot       = slot_q;
  assign slot_bytes = CountBytes'(slot.count) * CountBytes'(WordBytes);
  assign moves      = slot.op == OpWrite || slot.op == OpStream || slot.op == OpRead;
  assign rows       = slot.count / 24'(Cfg.HostWords);
  assign whole_rows = rows != '0 && (rows - 24'd1) >> RowBits == '0 &&
                      slot.count % 24'(Cfg.HostWords) == '0;
  always_comb begin
    error = ErrNone;
    if (slot_error_q) error = ErrFetch;
    else if (!(moves || slot.op == OpStart) || slot.reserved != '0) error = ErrFormat;
    else if (moves && !whole_rows) error = ErrFormat;
    else if (slot.op == OpStart && slot.count >> RingBits != '0) error = ErrFormat;
    else if (moves && slot.data % AddrBits'(DataAlign) != '0) error = ErrAlign;
    else if (slot.next % AddrBits'(DescriptorBytes) != '0) error = ErrAlign;
    else if (slot.keep && slot.record % AddrBits'(DescriptorBytes) != '0) error = ErrAlign;
  end

  logic put;
  assign put = state_q == StPush && error_q == ErrNone && !halt && command_ready_i &&
               entry_ready_i && job_ready_i;
  assign command_valid_o = put;
  assign entry_valid_o   = put;
  assign job_valid_o     = put && slot.op == OpRead;
  assign command_o = '{
          op: op_e'(slot.op),
          space: slot.space,
          unit: slot.unit,
          index: slot.index,
          rows: rows,
          ring: slot.count[RingBits-1:0]
      };
  assign entry_o = '{
          address: slot_addr_q,
          record: slot.record,
          keep: slot.keep,
          tell: slot.tell,
          read: slot.op == OpRead
      };
  assign job_o = '{address: slot.data, bytes: slot_bytes};

  // ---- turns ------------------------------------------------------------------------------------
  localparam int unsigned MaxTurn = 256;
  logic [$clog2(MaxTurn)-1:0] turn_q;  // descriptors of this one that are no OpRead
  logic                       turn;
  assign turn      = put && (slot.op == OpRead ? turn_q != '0 : turn_q == '1);
  assign ar_turn_o = start_i || turn;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i || turn) turn_q <= '0;
    else if (put && slot.op != OpRead) turn_q <= turn_q + 1'b1;
  end

  // ---- bursts -----------------------------------------------------------------------------------
  localparam int unsigned BeatCount = CountBytes - LogBeat;
  logic [AddrBits-1:0]     addr_q;
  logic [BeatCount-1:0]    left_q;   // beats of the descriptor that are not asked for
  logic [8:0]              beats_q, beats;
  logic [12:0]             page;     // bytes to the next page
  logic [Cfg.LogDepth:0]   owed_q;   // lines asked for and not there yet
  logic [Cfg.LogDepth+1:0] after;    // lines in the FIFO when this burst is there, too
  logic [NumberBits-1:0]   number_q;
  logic                    fits, free, ask_words, ask_descriptor;
  assign page = 13'(PageBytes) - {1'b0, addr_q[11:0]};
  always_comb begin
    beats = 9'(Burst / BeatBytes);
    if (BeatCount'(page >> LogBeat) < BeatCount'(beats)) beats = 9'(page >> LogBeat);
    if (left_q < BeatCount'(beats)) beats = 9'(left_q);
  end
  assign after = (Cfg.LogDepth + 2)'(line_count_i) + (Cfg.LogDepth + 2)'(owed_q) +
                 (Cfg.LogDepth + 2)'(beats_q >> (LogLine - LogBeat));
  assign fits  = after <= (Cfg.LogDepth + 2)'(1 << Cfg.LogDepth);
  assign free  = rst_ni && !halt && kind_ready && (!ar_valid_q || ar_ready_i) && open_q != '1;
  assign ask_descriptor = free && want_q;
  assign ask_words      = free && !want_q && state_q == StAsk && fits;
  assign ask            = ask_descriptor || ask_words;
  assign kind_in        = '{descriptor: ask_descriptor, number: number_q};

  // ---- answers ----------------------------------------------------------------------------------
  logic words_come, line_last;
  assign words_come = r_valid_i && kind_valid && !kind.descriptor;
  if (LineBeats == 1) begin : gen_direct
    assign line_last = 1'b1;
    assign line_o    = r_data_i;
  end else begin : gen_gather
    localparam int unsigned CountBits = $clog2(LineBeats);
    logic [CountBits-1:0]                  count_q;
    logic [(LineBeats-1)*Cfg.DataBits-1:0] held_q;  // a line's earlier beats, the first one lowest
    always_ff @(posedge clk_i) begin
      if (!rst_ni) count_q <= '0;
      else if (words_come) count_q <= count_q + 1'b1;
      if (words_come && !line_last) held_q[Cfg.DataBits*count_q+:Cfg.DataBits] <= r_data_i;
    end
    assign line_last = count_q == CountBits'(LineBeats - 1);
    assign line_o    = {r_data_i, held_q};
  end
  assign line_valid_o = words_come && line_last && !halt && !r_error_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= StWait;
      want_q       <= 1'b0;
      slot_valid_q <= 1'b0;
      pushed_q     <= '0;
      all_q        <= 1'b0;
      fail_q       <= '0;
      ar_valid_q   <= 1'b0;
      open_q       <= '0;
      owed_q       <= '0;
    end else begin
      if (start_i) begin
        want_q <= list_i % AddrBits'(DescriptorBytes) == '0;
      end else if (put) begin
        want_q <= slot.next != '0;
        all_q  <= slot.next == '0;
      end else if (ask_descriptor) begin
        want_q <= 1'b0;
      end

      case (state_q)
        StWait: if (slot_valid_q) state_q <= StCheck;
        StCheck: state_q <= StPush;
        StPush: begin
          if (error_q != ErrNone) state_q <= StBad;
          else if (put) begin
            state_q  <= (slot.op == OpWrite || slot.op == OpStream) ? StSize : StWait;
            pushed_q <= pushed_q + 1'b1;
          end
        end
        StSize: state_q <= StAsk;
        StAsk: if (ask_words) state_q <= (left_q == BeatCount'(beats_q)) ? StWait : StSize;
        default: ;
      endcase

      if (r_valid_i && r_last_i && kind.descriptor) slot_valid_q <= 1'b1;
      else if (put) slot_valid_q <= 1'b0;

      if (words_come && r_error_i && !(fail_q.valid && fail_q.pushed)) begin
        fail_q <= '{valid: 1'b1, pushed: 1'b1, error: ErrRead, number: kind.number, address: '0};
      end else if (!fail_q.valid && state_q == StPush && error_q != ErrNone) begin
        fail_q <= '{
            valid: 1'b1,
            pushed: 1'b0,
            error: error_q,
            number: pushed_q,
            address: slot_addr_q
        };
      end else if (start_i && list_i % AddrBits'(DescriptorBytes) != '0) begin
        fail_q <= '{valid: 1'b1, pushed: 1'b0, error: ErrAlign, number: '0, address: list_i};
      end

      if (ask) ar_valid_q <= 1'b1;
      else if (ar_ready_i) ar_valid_q <= 1'b0;
      open_q <= open_q + 5'(ask) - 5'(r_valid_i && r_last_i);
      owed_q <= owed_q + (ask_words ? (Cfg.LogDepth + 1)'(beats_q >> (LogLine - LogBeat)) : '0) -
                (Cfg.LogDepth + 1)'(words_come && line_last);
    end

    if (start_i) want_addr_q <= list_i;
    else if (put) want_addr_q <= slot.next;
    error_q <= error;
    if (put) begin
      addr_q   <= slot.data;
      left_q   <= BeatCount'((slot_bytes + CountBytes'(BeatBytes - 1)) >> LogBeat);
      number_q <= pushed_q;
    end else if (ask_words) begin
      addr_q <= addr_q + (AddrBits'(beats_q) << LogBeat);
      left_q <= left_q - BeatCount'(beats_q);
    end
    beats_q <= beats;
    if (ask) begin
      ar_addr_q <= ask_descriptor ? (want_addr_q >> LogBeat << LogBeat) : addr_q;
      ar_len_q  <= ask_descriptor ? 8'(DescriptorBeats - 1) : 8'(beats_q - 9'd1);
    end
    if (ask_descriptor) slot_addr_q <= want_addr_q;
    if (ask_descriptor) slot_error_q <= 1'b0;
    else if (r_valid_i && kind.descriptor && r_error_i) slot_error_q <= 1'b1;
    if (r_valid_i && kind.descriptor) slot_q <= slot_d;
  end
  if (BeatBytes > DescriptorBytes) begin : gen_part
    assign slot_d = slot_addr_q[$clog2(DescriptorBytes)] ? r_data_i[DescriptorBits+:DescriptorBits]
                                                         : r_data_i[0+:DescriptorBits];
  end else if (BeatBytes == DescriptorBytes) begin : gen_beat
    assign slot_d = r_data_i;
  end else begin : gen_beats
    assign slot_d = {r_data_i, slot_q[DescriptorBits-1:Cfg.DataBits]};
  end

  // ---- what the engine sees ---------------------------------------------------------------------
  assign idle_o    = !ar_valid_q && open_q == '0;
  assign all_o     = all_q;
  assign pushed_o  = pushed_q;
  assign fail_o    = fail_q;
  assign ar_valid_o = ar_valid_q;
  assign ar_addr_o  = ar_addr_q;
  assign ar_len_o   = ar_len_q;

  `RS_ASSERT(AsksBeforeAnswer_A, !r_valid_i || kind_valid, "the bus answers what was not asked for")
  `RS_ASSERT(KeepsToItsRoom_A,
             !line_valid_o || line_count_i != (Cfg.LogDepth + 1)'(1 << Cfg.LogDepth),
             "words come for which there is no space")
endmodule
