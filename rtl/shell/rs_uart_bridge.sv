// A register block behind a serial line: frames with a check sum, and a master on AXI4-Lite.
//
// docs/guide/uart.md has the frames, byte by byte. A frame reads or writes up to 256 words of 1 to
// 8 bytes at one address; words of a 64-bit register are two accesses each, the lower half first.
// A frame is executed after all of it is received and its check sum is right. Each frame has a
// number. If the last frame comes again because its answer was lost, it is answered again but not
// executed again. After an invalid frame (a broken byte, a wrong header or check sum, bytes while a
// frame is executed or answered) all bytes are ignored until the line has been quiet for
// SilenceCycles; then a negative answer is sent. A pause of that length within a frame also gives a
// negative answer.
//
// The slave must answer every access: there is no time-out on the bus. Cost: a memory of 4,096
// bytes, half of it for the request, half for the answer.
`include "rs_assert.svh"

module rs_uart_bridge
  import rs_shell_pkg::*;
#(
  parameter int unsigned ClockHz = 48_000_000,
  parameter int unsigned Baud = 1_000_000,
  parameter int unsigned SilenceCycles = ClockHz / 50
) (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           rx_i,
  output logic           tx_o,
  output axil_request_t  axil_o,
  input  axil_response_t axil_i
);
  localparam logic [7:0] RequestMark = 8'hA5;
  localparam logic [7:0] AnswerMark = 8'h5A;
  localparam logic [3:0] FormatVersion = 4'd1;
  localparam logic [31:0] CrcPolynomial = 32'hEDB8_8320;  // of CRC-32, reflected
  localparam logic [31:0] CrcStart = 32'hFFFF_FFFF;
  localparam logic [31:0] CrcRight = 32'hDEBB_20E3;  // after a frame with its check sum
  localparam int unsigned PointerBits = 11;  // of half the buffer
  localparam int unsigned SilenceBits = $clog2(SilenceCycles + 1);

  typedef enum logic [1:0] {
    CmdOpen  = 2'd0,
    CmdWrite = 2'd1,
    CmdRead  = 2'd2
  } command_e;

  typedef enum logic [3:0] {
    StatusDone     = 4'd0,
    StatusBroken   = 4'd1,
    StatusSequence = 4'd2,
    StatusBus      = 4'd3,
    StatusWide     = 4'd4
  } status_e;

  typedef enum logic [3:0] {
    StIdle,
    StHead,
    StData,
    StCheck,
    StDecide,
    StFetch,   // a word of the request out of the buffer
    StWrite,   // to the bus
    StRead,    // from the bus
    StStore,   // a word of the answer into the buffer
    StSendHead,
    StSendData,
    StSendCheck,
    StDrain
  } state_e;
  state_e state_q, state_d;

  function automatic logic [31:0] crc_of(input logic [31:0] crc, input logic [7:0] data);
    logic [31:0] next;
    next = crc;
    for (int unsigned i = 0; i < 8; i++) begin
      next = {1'b0, next[31:1]} ^ ((next[0] ^ data[i]) ? CrcPolynomial : '0);
    end
    return next;
  endfunction

  // ---- the line ---------------------------------------------------------------------------------
  logic       rx_valid, rx_error, rx_quiet;
  logic [7:0] rx_data;
  rs_uart_rx #(
    .ClockHz(ClockHz),
    .Baud(Baud)
  ) u_rx (
    .clk_i,
    .rst_ni,
    .rx_i,
    .valid_o(rx_valid),
    .data_o(rx_data),
    .error_o(rx_error),
    .quiet_o(rx_quiet)
  );

  logic       tx_valid, tx_ready, sent;
  logic [7:0] tx_data;
  rs_uart_tx #(
    .ClockHz(ClockHz),
    .Baud(Baud)
  ) u_tx (
    .clk_i,
    .rst_ni,
    .valid_i(tx_valid),
    .data_i(tx_data),
    .ready_o(tx_ready),
    .tx_o
  );
  assign sent = tx_valid && tx_ready;

  logic [SilenceBits-1:0] silence_q;  // cycles in which the line was quiet
  logic                   silent;
  assign silent = silence_q == SilenceBits'(SilenceCycles);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !rx_quiet || rx_valid || rx_error) silence_q <= '0;
    else if (!silent) silence_q <= silence_q + 1'b1;
  end

  // ---- the request ------------------------------------------------------------------------------
  logic [7:0]               number_q;    // of the frame
  command_e                 command_q;
  logic                     known_q;     // the command exists
  logic [3:0]               size_q;      // bytes of a word
  logic                     pair_q;      // the register has 64 bits
  logic                     format_ok_q;
  logic [AxilAddrWidth-1:0] addr_q;
  logic                     addr_ok, head_ok;
  logic [2:0]               index_q;     // of a byte in the head or the check sum
  logic [7:0]               count_q;     // words of the frame, less one
  logic [7:0]               words_q;     // words after the current one
  logic [3:0]               byte_q;      // of the word
  logic                     word_ends, last_word;
  logic [PointerBits-1:0]   pointer_q;
  logic [31:0]              crc_q;
  logic                     receives, takes, half_q, fetched_q;
  logic [63:0]              word_q;

  assign receives  = state_q inside {StIdle, StHead, StData, StCheck};
  assign takes     = receives && rx_valid && !rx_error;
  assign word_ends = byte_q + 1'b1 == size_q;
  assign last_word = words_q == '0;
  assign addr_ok   = addr_q[1:0] == '0 && !(pair_q && addr_q[2]);
  assign head_ok   = known_q && (command_q == CmdOpen || (format_ok_q && addr_ok));

  always_ff @(posedge clk_i) begin
    if (takes && state_q == StHead) begin
      case (index_q)
        3'd0: number_q <= rx_data;
        3'd1: begin
          command_q <= command_e'(rx_data[1:0]);
          known_q   <= rx_data <= 8'(CmdRead);
        end
        3'd2: begin
          size_q      <= rx_data[3:0];
          pair_q      <= rx_data[4];
          format_ok_q <= rx_data[7:5] == '0 && rx_data[3:0] != '0 &&
                         rx_data[3:0] <= (rx_data[4] ? 4'd8 : 4'd4);
        end
        3'd3: addr_q[7:0] <= rx_data;
        3'd4: begin
          addr_q[11:8] <= rx_data[3:0];
          if (rx_data[7:4] != '0) known_q <= command_q == CmdOpen && known_q;
        end
        default: ;
      endcase
    end
  end

  // ---- the session ------------------------------------------------------------------------------
  logic       open_q;      // a frame has opened it
  logic [7:0] expected_q;  // number of the next frame
  logic       overrun_q;   // something came while no frame was awaited
  status_e    status_q;    // of the last frame that was done
  logic [PointerBits:0] length_q;  // bytes of its answer
  logic       repeats, next_frame;
  logic [31:0] sum_q, last_sum_q;  // check sum of the frame, and of the last one that was done
  assign repeats    = open_q && number_q == expected_q - 1'b1 && sum_q == last_sum_q;
  assign next_frame = open_q && number_q == expected_q;

  // The answer: to the last frame that was executed, or that a frame was rejected.
  status_e    reject_q;   // StatusDone: not rejected
  status_e    answer_status;
  logic [7:0] answer_number;
  logic [PointerBits:0] answer_length;
  assign answer_status = (reject_q == StatusDone) ? status_q : reject_q;
  assign answer_number = (reject_q == StatusBroken) ? expected_q : number_q;
  assign answer_length = (reject_q == StatusDone) ? length_q : '0;

  // ---- the bus ----------------------------------------------------------------------------------
  logic aw_valid_q, w_valid_q, ar_valid_q;
  logic written, read, bus_error, bus_done;
  assign written   = state_q == StWrite && axil_i.b_valid;
  assign read      = state_q == StRead && axil_i.r_valid;
  assign bus_error = (written && axil_i.b_resp != '0) || (read && axil_i.r_resp != '0);
  assign bus_done  = (written || read) && !bus_error && (half_q || !pair_q);

  logic starts_access;  // the next cycle begins one
  assign starts_access = (state_d inside {StWrite, StRead}) &&
                         (state_q != state_d || ((written || read) && !bus_done));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      w_valid_q  <= 1'b0;
      ar_valid_q <= 1'b0;
    end else begin
      if (starts_access && state_d == StWrite) aw_valid_q <= 1'b1;
      else if (axil_i.aw_ready) aw_valid_q <= 1'b0;
      if (starts_access && state_d == StWrite) w_valid_q <= 1'b1;
      else if (axil_i.w_ready) w_valid_q <= 1'b0;
      if (starts_access && state_d == StRead) ar_valid_q <= 1'b1;
      else if (axil_i.ar_ready) ar_valid_q <= 1'b0;
    end
    if (state_q == StDecide || state_q == StFetch || state_q == StStore) half_q <= 1'b0;
    else if ((written || read) && !bus_done) half_q <= 1'b1;
  end
  logic [AxilAddrWidth-1:0] bus_addr;
  assign bus_addr = {addr_q[AxilAddrWidth-1:3], addr_q[2] | half_q, 2'b00};
  assign axil_o = '{
          aw_valid: aw_valid_q,
          aw_addr: bus_addr,
          aw_prot: '0,
          w_valid: w_valid_q,
          w_data: half_q ? word_q[63:32] : word_q[31:0],
          w_strb: '1,
          b_ready: 1'b1,
          ar_valid: ar_valid_q,
          ar_addr: bus_addr,
          ar_prot: '0,
          r_ready: 1'b1
      };

  // ---- the buffer -------------------------------------------------------------------------------
  logic       buffer_we, buffer_re;
  logic [7:0] buffer_wdata, buffer_rdata;
  assign buffer_we    = (takes && state_q == StData) || state_q == StStore;
  assign buffer_wdata = (state_q == StStore) ? word_q[7:0] : rx_data;
  assign buffer_re    = (state_q == StFetch && byte_q != size_q) || state_q == StSendHead ||
                        state_q == StSendData;
  rs_ram_1r1w #(
    .Width(8),
    .Depth(2 ** (PointerBits + 1))
  ) u_buffer (
    .clk_i,
    .we_i(buffer_we),
    .waddr_i({state_q == StStore, pointer_q}),
    .wdata_i(buffer_wdata),
    .re_i(buffer_re),
    .raddr_i({state_q != StFetch, pointer_q}),
    .rdata_o(buffer_rdata)
  );

  // ---- words ------------------------------------------------------------------------------------
  always_ff @(posedge clk_i) begin
    fetched_q <= state_q == StFetch && buffer_re;
    case (state_q)
      StFetch: begin
        if (byte_q == '0) word_q <= '0;
        else if (fetched_q) word_q[8*3'(byte_q - 1'b1)+:8] <= buffer_rdata;
      end
      StRead: begin
        if (read && half_q) word_q[63:32] <= axil_i.r_data;
        else if (read) word_q <= 64'(axil_i.r_data);
      end
      StStore: word_q <= word_q >> 8;
      default: ;
    endcase
  end
  logic too_wide;  // bytes of the word would be left out
  assign too_wide = state_q == StStore && word_ends && word_q[63:8] != '0;

  // ---- the answer -------------------------------------------------------------------------------
  always_comb begin
    tx_data = ~crc_q[7:0];
    if (state_q == StSendData) tx_data = buffer_rdata;
    else if (state_q == StSendHead) begin
      case (index_q)
        3'd0: tx_data = AnswerMark;
        3'd1: tx_data = answer_number;
        3'd2: tx_data = {FormatVersion, answer_status};
        3'd3: tx_data = answer_length[7:0];
        default: tx_data = 8'(answer_length[PointerBits:8]);
      endcase
    end
  end
  assign tx_valid = state_q inside {StSendHead, StSendData, StSendCheck};

  // ---- what is next -----------------------------------------------------------------------------
  logic answer_ends;  // with the byte that is sent
  assign answer_ends = sent && state_q == StSendCheck && index_q == 3'd3;
  always_comb begin
    state_d = state_q;
    case (state_q)
      StIdle: begin
        if (rx_error || (rx_valid && rx_data != RequestMark)) state_d = StDrain;
        else if (rx_valid) state_d = StHead;
      end
      StHead: begin
        if (takes && index_q == 3'd5) begin
          if (!head_ok) state_d = StDrain;
          else state_d = (command_q == CmdWrite) ? StData : StCheck;
        end
      end
      StData:  if (takes && word_ends && last_word) state_d = StCheck;
      StCheck: if (takes && index_q == 3'd3) state_d = StDecide;
      StDecide: begin
        if (crc_q != CrcRight) state_d = StDrain;
        else if (command_q != CmdOpen && next_frame) begin
          state_d = (command_q == CmdWrite) ? StFetch : StRead;
        end else state_d = StSendHead;
      end
      StFetch: if (byte_q == size_q && fetched_q) state_d = StWrite;
      StWrite: begin
        if (bus_error || (bus_done && last_word)) state_d = StSendHead;
        else if (bus_done) state_d = StFetch;
      end
      StRead: begin
        if (bus_error) state_d = StSendHead;
        else if (bus_done) state_d = StStore;
      end
      StStore: begin
        if (too_wide || (word_ends && last_word)) state_d = StSendHead;
        else if (word_ends) state_d = StRead;
      end
      StSendHead: begin
        if (sent && index_q == 3'd4) state_d = (answer_length == '0) ? StSendCheck : StSendData;
      end
      StSendData: begin
        if (sent && {1'b0, pointer_q} + 1'b1 == answer_length) state_d = StSendCheck;
      end
      StSendCheck: if (answer_ends) state_d = overrun_q || rx_valid || rx_error ? StDrain : StIdle;
      default:     if (silent) state_d = StSendHead;
    endcase
    if (state_q inside {StHead, StData, StCheck}) begin
      if (rx_error) state_d = StDrain;
      else if (silent) state_d = StSendHead;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      open_q    <= 1'b0;
      overrun_q <= 1'b0;
    end else begin
      state_q <= state_d;
      if (state_q == StDecide && crc_q == CrcRight && command_q == CmdOpen) open_q <= 1'b1;
      if (answer_ends) overrun_q <= 1'b0;
      else if (!receives && state_q != StDrain && (rx_valid || rx_error)) overrun_q <= 1'b1;
    end

    // The check sum, and the numbers of bytes and words.
    if (takes) crc_q <= crc_of((state_q == StIdle) ? CrcStart : crc_q, rx_data);
    else if (state_d == StSendHead && state_q != StSendHead) crc_q <= CrcStart;
    else if (sent) crc_q <= (state_q == StSendCheck) ? crc_q >> 8 : crc_of(crc_q, tx_data);

    if (state_q == StCheck && index_q == '0) sum_q <= crc_q;

    if (state_d != state_q) index_q <= '0;
    else if (takes || sent) index_q <= index_q + 1'b1;

    if (takes && state_q == StHead && index_q == 3'd5) words_q <= rx_data;
    case (state_q)
      StData: begin
        if (takes) begin
          pointer_q <= pointer_q + 1'b1;
          byte_q    <= word_ends ? '0 : byte_q + 1'b1;
          if (word_ends) words_q <= words_q - 1'b1;
        end
      end
      StFetch: begin
        if (byte_q != size_q) begin
          pointer_q <= pointer_q + 1'b1;
          byte_q    <= byte_q + 1'b1;
        end
      end
      StStore: begin
        pointer_q <= pointer_q + 1'b1;
        byte_q    <= byte_q + 1'b1;
        if (word_ends) words_q <= words_q - 1'b1;
      end
      StSendData: if (sent) pointer_q <= pointer_q + 1'b1;
      default: ;
    endcase
    if (state_q == StWrite) begin
      byte_q <= '0;
      if (bus_done) words_q <= words_q - 1'b1;
    end
    if (state_q == StRead) byte_q <= '0;
    if (state_q == StHead || state_q == StDecide) begin
      pointer_q <= '0;
      byte_q    <= '0;
    end
    if (state_d == StSendHead) pointer_q <= '0;
    if (state_q == StDecide) words_q <= count_q;
    if (takes && state_q == StHead && index_q == 3'd5) count_q <= rx_data;

    // The result of the frame, and the answer.
    if (state_q == StDecide && crc_q == CrcRight) begin
      reject_q <= (command_q == CmdOpen || repeats || next_frame) ? StatusDone : StatusSequence;
      if (command_q == CmdOpen || next_frame) begin
        expected_q <= number_q + 1'b1;
        last_sum_q <= sum_q;
        status_q   <= StatusDone;
        length_q   <= '0;
      end
    end
    if (bus_error) status_q <= StatusBus;
    if (too_wide) status_q <= StatusWide;
    if (state_q == StStore && word_ends && last_word && !too_wide) begin
      length_q <= {1'b0, pointer_q} + 1'b1;
    end
    if (silent && (state_q inside {StHead, StData, StCheck, StDrain})) reject_q <= StatusBroken;
  end

  `RS_ASSERT(NothingUnchecked_A,
             !(aw_valid_q || w_valid_q || ar_valid_q) || (state_q inside {StWrite, StRead}),
             "the bus is used outside of a frame that was checked")
endmodule
