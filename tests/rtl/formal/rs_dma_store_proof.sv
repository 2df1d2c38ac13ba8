// What test_proofs.py proves of rs_dma_store, for any jobs and records, of a bus that takes the data
// of a burst before the next address, and answers bursts in order, each once.
//
// A burst has whole beats, no more than the longest, and stays within a page. Its address, and each
// beat, stand until they are taken. Its last beat, and no other, has w_last_o, and no beat comes
// that belongs to none. No burst begins while halt_i is high, idle_o says that all are answered,
// and those that are not are bounded. The FIFO from the device may lose its words (void_i) in any
// cycle; the word at its output stays there until it is taken (rs_async_fifo).
module rs_dma_store_proof
  import rs_dma_pkg::*;
#(
  parameter  int unsigned DataBits = 64,
  parameter  int unsigned HostWords = 4,
  parameter  int unsigned Width = 30,
  parameter  int unsigned LogDepth = 3,
  localparam dma_cfg_t    Cfg = '{
      Channels: 1,
      DataBits: DataBits,
      HostWords: HostWords,
      Width: Width,
      LogDepth: LogDepth,
      StartCycles: 1,
      OpenReads: 4
  },
  localparam int unsigned BeatBytes = DataBits / 8,
  localparam int unsigned RowBytes = row_bytes(HostWords, Width),
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input logic                      clk_i,
  input logic                      rst_ni,
  input logic                      halt_i,
  input logic                      void_i,
  input logic                      job_valid_i,
  input job_t                      job_i,
  input logic                      done_ready_i,
  input logic                      record_valid_i,
  input logic [AddrBits-1:0]       record_addr_i,
  input logic [DescriptorBits-1:0] record_i,
  input logic                      line_comes_i,
  input logic [8*LineBytes-1:0]    line_i,
  input logic                      aw_ready_i,
  input logic                      w_ready_i,
  input logic                      b_valid_i,
  input logic                      b_error_i
);
  localparam int unsigned Burst = burst_bytes(BeatBytes, LineBytes << LogDepth) / BeatBytes;
  localparam int unsigned RecordBeats =
      (DescriptorBytes > BeatBytes) ? DescriptorBytes / BeatBytes : 1;
  localparam int unsigned MaxOpen = 32;

  logic                 idle, job_ready, done_valid, done_error, record_done, record_error;
  logic                 line_valid, line_ready, aw_valid, aw_turn, w_valid, w_last;
  logic [AddrBits-1:0]  aw_addr;
  logic [7:0]           aw_len;
  logic [BeatBytes-1:0] w_strb;
  logic [DataBits-1:0]  w_data;
  logic [LogDepth:0]    count_q;  // lines in the FIFO
  assign line_valid = count_q != '0 && !void_i;
  rs_dma_store #(
    .Cfg(Cfg)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .void_i,
    .idle_o(idle),
    .job_valid_i,
    .job_ready_o(job_ready),
    .job_i,
    .done_valid_o(done_valid),
    .done_ready_i,
    .done_error_o(done_error),
    .record_valid_i,
    .record_addr_i,
    .record_i,
    .record_done_o(record_done),
    .record_error_o(record_error),
    .line_valid_i(line_valid),
    .line_ready_o(line_ready),
    .line_i,
    .line_count_i(void_i ? '0 : count_q),
    .aw_valid_o(aw_valid),
    .aw_ready_i,
    .aw_addr_o(aw_addr),
    .aw_len_o(aw_len),
    .aw_turn_o(aw_turn),
    .w_valid_o(w_valid),
    .w_ready_i,
    .w_last_o(w_last),
    .w_strb_o(w_strb),
    .w_data_o(w_data),
    .b_valid_i,
    .b_error_i
  );

  // ---- what the block may assume ----------------------------------------------------------------
  logic                      void_q, held_w_q, held_aw_q, known_q, recording_q, halted_q;
  logic [8*LineBytes-1:0]    line_q;
  logic [AddrBits-1:0]       record_addr_q, held_addr_q;
  logic [DescriptorBits-1:0] record_q;
  logic [7:0]                held_len_q, beats_q;  // beats_q: that follow in the burst
  logic [BeatBytes-1:0]      held_strb_q;
  logic [DataBits-1:0]       held_data_q;
  logic                      held_last_q, busy_q;
  int unsigned               open_q;  // bursts asked for and not answered
  int unsigned               unanswered_q;  // bursts whose data have been taken, not answered
  always_comb begin
    assume (job_i.address % AddrBits'(DataAlign) == '0 && job_i.bytes != '0);
    assume (job_i.bytes % CountBytes'(RowBytes) == '0);
    assume (record_addr_i % AddrBits'(DescriptorBytes) == '0);
    if (recording_q) begin
      assume (record_valid_i && record_addr_i == record_addr_q && record_i == record_q);
    end
    if (known_q && void_q) assume (void_i);
    if (held_w_q) assume (line_i == line_q);
    if (line_comes_i) assume (count_q != (LogDepth + 1)'(1 << LogDepth) && !void_i);
    if (aw_ready_i) assume (!busy_q || (w_valid && w_ready_i && beats_q == '0));
    if (b_valid_i) assume (unanswered_q != 0);
  end

  // ---- the model --------------------------------------------------------------------------------
  logic aw_take, w_take;
  assign aw_take = aw_valid && aw_ready_i;
  assign w_take  = w_valid && w_ready_i;
  always_ff @(posedge clk_i) begin
    known_q       <= rst_ni;
    void_q        <= void_i;
    line_q        <= line_i;
    recording_q   <= rst_ni && record_valid_i && !record_done;
    record_addr_q <= record_addr_i;
    record_q      <= record_i;
    halted_q      <= rst_ni && halt_i;
    held_aw_q     <= rst_ni && aw_valid && !aw_ready_i;
    held_addr_q   <= aw_addr;
    held_len_q    <= aw_len;
    held_w_q      <= rst_ni && w_valid && !w_ready_i;
    held_strb_q   <= w_strb;
    held_data_q   <= w_data;
    held_last_q   <= w_last;
    if (!rst_ni) begin
      count_q      <= '0;
      busy_q       <= 1'b0;
      open_q       <= 0;
      unanswered_q <= 0;
    end else begin
      count_q <= count_q + (LogDepth + 1)'(line_comes_i) -
                 (LogDepth + 1)'(line_ready && line_valid);
      if (aw_take) begin
        busy_q  <= 1'b1;
        beats_q <= aw_len;
      end else if (w_take) begin
        busy_q  <= beats_q != '0;
        beats_q <= beats_q - 8'd1;
      end
      open_q       <= open_q + 32'(u_dut.ask) - 32'(b_valid_i);
      unanswered_q <= unanswered_q + 32'(w_take && beats_q == '0) - 32'(b_valid_i);
    end
  end

  // ---- what is promised -------------------------------------------------------------------------
  always_comb begin
    if (rst_ni) begin
      if (aw_valid) begin
        assert (aw_addr % AddrBits'(BeatBytes) == '0);
        assert ({1'b0, aw_addr[11:0]} + 13'((32'(aw_len) + 1) * BeatBytes) <= 13'(PageBytes));
        assert (32'(aw_len) < Burst || 32'(aw_len) == RecordBeats - 1);
      end
      if (held_aw_q) assert (aw_valid && aw_addr == held_addr_q && aw_len == held_len_q);
      if (halted_q && !held_aw_q) assert (!aw_valid);
      if (held_w_q) begin
        assert (w_valid && w_data == held_data_q && w_strb == held_strb_q);
        assert (w_last == held_last_q);
      end
      if (w_valid) assert (busy_q && w_last == (beats_q == '0));
      if (idle) assert (!aw_valid && !busy_q && open_q == 0);
      assert (open_q <= MaxOpen);
    end
  end

  // ---- what the induction needs to know ---------------------------------------------------------
  localparam logic [1:0] StWait = 2'd0, StSize = 2'd1, StAsk = 2'd2;
  localparam int unsigned BeatCount = CountBytes - $clog2(BeatBytes);
  localparam int unsigned LineBeats = LineBytes / BeatBytes;
  int unsigned part;  // beats of the line that have been written
  if (LineBeats > 1) begin : gen_part
    assign part = 32'(u_dut.gen_split.part_q);
  end else begin : gen_whole
    assign part = 0;
  end
  int unsigned writing, waiting;  // lines of the burst that is written, and of the next one
  assign writing = (busy_q && !u_dut.record_q) ? (32'(beats_q) + 1 + part) / LineBeats : 0;
  assign waiting = (aw_valid && !u_dut.aw_record_q) ? (32'(aw_len) + 1) / LineBeats : 0;
  always_comb begin
    if (rst_ni) begin
      assert (count_q <= (LogDepth + 1)'(1 << LogDepth));
      assert (u_dut.busy_q == busy_q && (!busy_q || u_dut.beat_q == beats_q));
      assert (32'(u_dut.open) == open_q);
      assert (unanswered_q <= MaxOpen && 32'(u_dut.need_q) == writing + waiting);
      assert (u_dut.need_q <= (LogDepth + 1)'(1 << LogDepth));
      if (!void_i) assert (u_dut.need_q <= count_q);
      if (busy_q && !u_dut.record_q) assert ((32'(beats_q) + 1 + part) % LineBeats == 0);
      if (aw_valid && !u_dut.aw_record_q) assert ((32'(aw_len) + 1) % LineBeats == 0);
      if (aw_valid && u_dut.aw_record_q) assert (32'(aw_len) == RecordBeats - 1);
      assert (open_q == unanswered_q + 32'(aw_valid) + 32'(busy_q));
      if (u_dut.record_asked_q) assert (record_valid_i);
      if (u_dut.record_asked_q) begin
        assert (NumberBits'(u_dut.record_at_q - u_dut.answered_q) < u_dut.open);
      end
      if (aw_valid && u_dut.aw_record_q) begin
        assert (u_dut.record_asked_q && u_dut.record_at_q == u_dut.issued_q - 8'd1);
      end
      if (busy_q && u_dut.record_q) begin
        assert (u_dut.record_asked_q);
        assert (u_dut.record_at_q == u_dut.issued_q - 8'd1 - 8'(aw_valid));
      end
      assert (u_dut.state_q == StWait || u_dut.state_q == StSize || u_dut.state_q == StAsk);
      if (u_dut.state_q != StWait) begin
        assert (u_dut.addr_q % AddrBits'(LineBytes) == '0 && u_dut.left_q != '0);
        assert (u_dut.left_q % BeatCount'(LineBytes / BeatBytes) == '0);
      end
      if (u_dut.state_q == StAsk) assert (u_dut.beats_q == u_dut.beats);
    end
  end
endmodule
