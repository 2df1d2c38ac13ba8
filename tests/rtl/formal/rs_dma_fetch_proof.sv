// What test_proofs.py proves of rs_dma_fetch, for any descriptors, of a bus that answers in order,
// at any time, as many beats as were asked for.
//
// A burst has whole beats, no more than the longest, and stays within a page. Its address stands
// until it is taken. Descriptors are aligned, of bursts of their own. No burst begins while halt_i
// is high, and idle_o says that all have come. Bursts on their way are bounded. The FIFO to the
// device has space for every line that comes.
module rs_dma_fetch_proof
  import rs_dma_pkg::*;
#(
  parameter  int unsigned DataBits = 64,
  parameter  int unsigned HostWords = 4,
  parameter  int unsigned Width = 30,
  parameter  int unsigned LogDepth = 3,
  parameter  bit          Few = 1'b0,  // of the descriptors only some: to find a mistake quickly
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
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                start_i,
  input logic [AddrBits-1:0] list_i,
  input logic                halt_i,
  input logic                ar_ready_i,
  input logic                r_valid_i,
  input logic                r_last_i,
  input logic                r_error_i,
  input logic [DataBits-1:0] r_data_i,
  input logic                command_ready_i,
  input logic                entry_ready_i,
  input logic                job_ready_i,
  input logic                line_taken_i   // a line leaves the FIFO to the device
);
  localparam int unsigned Burst = burst_bytes(BeatBytes, LineBytes << LogDepth) / BeatBytes;
  localparam int unsigned DescriptorBeats =
      (DescriptorBytes > BeatBytes) ? DescriptorBytes / BeatBytes : 1;
  localparam int unsigned MostOpen = 17;  // what the FIFO of kinds holds

  logic                   idle, all, ar_valid, ar_turn, command_valid, entry_valid, job_valid;
  logic                   line_valid;
  logic [NumberBits-1:0]  pushed;
  logic [AddrBits-1:0]    ar_addr;
  logic [7:0]             ar_len;
  logic [8*LineBytes-1:0] line;
  logic [LogDepth:0]      count_q;
  fail_t                  failure;
  command_t               command;
  entry_t                 entry;
  job_t                   job;
  rs_dma_fetch #(
    .Cfg(Cfg)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .list_i,
    .halt_i,
    .idle_o(idle),
    .all_o(all),
    .pushed_o(pushed),
    .fail_o(failure),
    .ar_valid_o(ar_valid),
    .ar_ready_i,
    .ar_addr_o(ar_addr),
    .ar_len_o(ar_len),
    .ar_turn_o(ar_turn),
    .r_valid_i,
    .r_last_i,
    .r_error_i,
    .r_data_i,
    .command_valid_o(command_valid),
    .command_ready_i,
    .command_o(command),
    .entry_valid_o(entry_valid),
    .entry_ready_i,
    .entry_o(entry),
    .job_valid_o(job_valid),
    .job_ready_i,
    .job_o(job),
    .line_valid_o(line_valid),
    .line_o(line),
    .line_count_i(count_q)
  );

  // ---- what the block may assume ----------------------------------------------------------------
  logic       started_q;  // a list a reset
  logic [5:0] open_q;     // bursts asked for, whose last beat has not come
  localparam descriptor_t Free = '{  // bits of those
      record: '0, next: 64'h30, reserved: '0, keep: 1'b0, tell: 1'b0, count: 24'h3f, index: '0,
      unit: '0, space: '0, op: 4'h1, data: 64'h1fe0
  };
  always_comb begin
    if (Few) assume (list_i >> 7 == '0 && r_data_i >> DescriptorBits == '0);
    if (Few) assume ((r_data_i & ~DataBits'(Free)) == '0);
    assume (!(start_i && started_q));
    if (r_valid_i) assume (u_dut.kind_valid);
    if (u_dut.words_come && u_dut.line_last) assume (u_dut.owed_q != '0);
    if (line_taken_i) assume (count_q != '0);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      started_q <= 1'b0;
      open_q    <= '0;
      count_q   <= '0;
    end else begin
      started_q <= started_q || start_i;
      open_q    <= open_q + 6'(u_dut.ask) - 6'(r_valid_i && r_last_i);
      count_q   <= count_q + (LogDepth + 1)'(line_valid) - (LogDepth + 1)'(line_taken_i);
    end
  end

  // ---- what is promised -------------------------------------------------------------------------
  logic                held_q, halted_q, waits_q;
  logic [AddrBits-1:0] held_addr_q;
  logic [7:0]          held_len_q;
  always_ff @(posedge clk_i) begin
    waits_q     <= rst_ni && ar_valid;
    held_q      <= rst_ni && ar_valid && !ar_ready_i;
    halted_q    <= rst_ni && halt_i;
    held_addr_q <= ar_addr;
    held_len_q  <= ar_len;
  end
  always_comb begin
    if (rst_ni) begin
      if (ar_valid) begin
        assert (ar_addr % AddrBits'(BeatBytes) == '0);
        assert ({1'b0, ar_addr[11:0]} + 13'((32'(ar_len) + 1) * BeatBytes) <= 13'(PageBytes));
        assert (32'(ar_len) < Burst || 32'(ar_len) == DescriptorBeats - 1);
      end
      if (held_q) assert (ar_valid && ar_addr == held_addr_q && ar_len == held_len_q);
      if (halted_q && !held_q) assert (!ar_valid);
      if (idle) assert (!ar_valid && open_q == '0);
      assert (32'(open_q) <= MostOpen);
      assert ({1'b0, count_q} + {1'b0, u_dut.owed_q} <= (LogDepth + 2)'(1 << LogDepth));
    end
  end

  // ---- what the induction needs to know ---------------------------------------------------------
  localparam logic [2:0] StWait = 3'd0, StCheck = 3'd1, StPush = 3'd2, StSize = 3'd3, StAsk = 3'd4;
  // One descriptor at most is wanted, on its way, or here: so it stays while it is looked at.
  localparam int unsigned LogKinds = 4;
  typedef logic [LogKinds:0] pointer_t;
  pointer_t    kinds;
  int unsigned descriptors;
  assign kinds = u_dut.u_kinds.wptr_q - u_dut.u_kinds.rptr_q;
  always_comb begin
    descriptors = 0;
    for (int unsigned i = 0; i < 2 ** LogKinds; i++) begin
      pointer_t at;
      at = u_dut.u_kinds.rptr_q + pointer_t'(i);
      if (i < 32'(kinds)) begin
        descriptors +=
            32'(u_dut.u_kinds.u_ram.gen_read_undefined.mem[at[LogKinds-1:0]] >> NumberBits);
      end
    end
    if (u_dut.u_kinds.valid_q) descriptors += 32'(u_dut.u_kinds.u_ram.read_q[NumberBits]);
  end
  always_comb begin
    if (rst_ni) begin
      assert (u_dut.open_q == 5'(open_q) && 32'(kinds) <= 2 ** LogKinds);
      assert (32'(open_q) == 32'(kinds) + 32'(u_dut.u_kinds.valid_q));
      assert (descriptors + 32'(u_dut.want_q) + 32'(u_dut.slot_valid_q) <= 1);
      if (!started_q) begin
        assert (descriptors == 0 && !u_dut.want_q && !u_dut.slot_valid_q && kinds == '0);
        assert (u_dut.state_q == StWait);
      end
      if (u_dut.want_q) assert (u_dut.want_addr_q % AddrBits'(DescriptorBytes) == '0);
      if (u_dut.state_q == StCheck || u_dut.state_q == StPush) begin
        assert (u_dut.slot_valid_q);
      end
      if (u_dut.state_q == StPush) assert (u_dut.error_q == u_dut.error);
      if (u_dut.state_q == StSize || u_dut.state_q == StAsk) begin
        assert (u_dut.addr_q % AddrBits'(LineBytes) == '0 && u_dut.left_q != '0);
        assert (u_dut.left_q % (CountBytes - $clog2(BeatBytes))'(LineBytes / BeatBytes) == '0);
      end
      if (u_dut.state_q == StAsk) assert (u_dut.beats_q == u_dut.beats);
    end
  end
endmodule
