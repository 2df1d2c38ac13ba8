// What test_proofs.py proves of rs_vector_stores, an AXI master that writes, for any list and for
// ports that take bursts and beats and answer at any time; the proof watches any one port.
//
// A burst lies within 4 KiB, is at most BurstBeats long, and stays at the port until it is taken;
// so does a beat. WLAST comes with each BurstBeats-th beat of a limb and with its last one, as the
// lengths of the bursts say: a limb is the rows that its instruction names. No beat is lost, and at
// most Outstanding bursts have been taken and not ended. No store begins after halt_i.
//
// A reset lasts at least three cycles here: the rows behind a stream's memory have none.

// Words in the memory of an rs_dma_fifo. The braces keep the difference as wide as the pointers,
// which wrap around: slang would widen them to 32 bits before it subtracts.
`define RS_QUEUED(Fifo) 32'({Fifo.wptr_q - Fifo.rptr_q})

module rs_vector_stores_proof
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_vector_proof_pkg::*;
#(
  parameter  int unsigned Ports = 2,
  parameter  int unsigned BurstBeats = 4,
  parameter  int unsigned Outstanding = 2,
  parameter  int unsigned LogFifo = 2,
  localparam vector_cfg_t Cfg = small_cfg(Ports, BurstBeats, Outstanding),
  localparam int unsigned Lanes = 2 ** Cfg.LogLanes,
  localparam int unsigned RowCycles = row_cycles(Cfg),
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles),
  localparam int unsigned ByteBits = $clog2(Cfg.PortBits / 8),
  localparam int unsigned PortWidth = (Ports > 1) ? $clog2(Ports) : 1
) (
  input logic                             clk_i,
  input logic                             rst_ni,
  input logic                             halt_i,
  input logic                             run_i,
  input logic [4:0]                       row_bits_i,
  input logic                             valid_i,
  input store_t                           store_i,
  input logic                             limb_i,
  input logic [Lanes-1:0][Cfg.Width-1:0]  row_i,
  input logic [Ports-1:0]                 aw_ready_i,
  input logic [Ports-1:0]                 w_ready_i,
  input logic [Ports-1:0]                 b_valid_i,
  input logic [Ports-1:0][1:0]            b_resp_i,
  input logic [PortWidth-1:0]             port_i  // the watched one
);
  logic                    ready;
  logic [Ports-1:0]        aw_valid, w_valid, w_last;
  logic [HomeBits-1:0]     home;
  logic [BeatWidth-1:0]    beat;
  logic [7:0]              len;
  logic [1:0]              resp [Ports];
  logic [Cfg.PortBits-1:0] data [Ports];
  logic [Cfg.Width-1:0]    row [Lanes];
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign resp[p] = b_resp_i[p];
  end
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign row[l] = row_i[l];
  end
  rs_vector_stores #(.Cfg(Cfg), .LogFifo(LogFifo)) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .idle_o(),
    .run_i,
    .watchdog_i('0),
    .row_bits_i,
    .valid_i,
    .store_i,
    .ready_o(ready),
    .ended_o(),
    .limb_i,
    .begin_o(),
    .pop_o(),
    .row_i(row),
    .done_o(),
    .aw_valid_o(aw_valid),
    .aw_home_o(home),
    .aw_beat_o(beat),
    .aw_len_o(len),
    .aw_ready_i,
    .w_valid_o(w_valid),
    .w_last_o(w_last),
    .w_data_o(data),
    .w_ready_i,
    .b_valid_i,
    .b_resp_i(resp),
    .b_ready_o(),
    .failed_o(),
    .fault_o()
  );

  // ---- what the block may assume ----------------------------------------------------------------
  logic                 known_q, waits_q;  // waits_q: an item was there, and did not begin
  store_t               store_q;
  logic [4:0]           row_bits_q;
  logic [1:0]           low_q;  // cycles of the reset so far, up to 3
  logic [PortWidth-1:0] port_q;
  int unsigned          open;  // bursts that the port has taken and that have not ended
  always_comb begin
    assume (32'(port_i) < Ports);
    if (known_q) assume (port_i == port_q && row_bits_i == row_bits_q);
    if (waits_q) assume (valid_i && store_i == store_q);
    assume (!rst_ni || known_q || low_q == 2'd3);
    assume (!u_dut.burst_done || u_dut.finals_valid);
    assume (!u_dut.limb_taken || u_dut.streams_valid);  // simulated
  end

  // Rows between the stream and the FIFOs: whether there is one, and whether it is its limb's last.
  logic [1:0] popped, final_row;
  for (genvar i = 0; i < 2; i++) begin : gen_popped
    assign popped[i]    = u_dut.u_popped.gen_shift.shift_q[i][2];
    assign final_row[i] = u_dut.u_popped.gen_shift.shift_q[i][0];
  end

  // ---- the model --------------------------------------------------------------------------------
  rs_axi_burst_rules #(
    .AddrWidth(HomeBits + BeatWidth + ByteBits),
    .BeatBytes(Cfg.PortBits / 8),
    .MostBeats(BurstBeats),
    .Outstanding(Outstanding)
  ) u_rules (
    .clk_i,
    .rst_ni,
    .valid_i(aw_valid[port_i]),
    .ready_i(aw_ready_i[port_i]),
    .addr_i({home, beat, ByteBits'(0)}),
    .len_i(len),
    .ends_i(u_dut.burst_done),
    .open_o(open)
  );
  localparam int unsigned LimbWidth = 16 + $clog2(RowCycles);
  logic                    held_w_q, held_last_q;
  logic [Cfg.PortBits-1:0] held_data_q;
  logic [LimbWidth-1:0]    limb_q;  // beats of the limb so far
  logic [15:0]             rows_q [3];  // a row that was popped, in its limb; the last one is beats
  always_ff @(posedge clk_i) begin
    known_q     <= rst_ni;
    waits_q     <= rst_ni && valid_i && !ready;
    store_q     <= store_i;
    row_bits_q  <= row_bits_i;
    port_q      <= port_i;
    low_q       <= (rst_ni || low_q == 2'd3 && !known_q) ? 2'd3 : known_q ? 2'd1 : low_q + 2'd1;
    held_w_q    <= rst_ni && w_valid[port_i] && !w_ready_i[port_i];
    held_last_q <= w_last[port_i];
    held_data_q <= data[port_i];
    if (!rst_ni) limb_q <= '0;
    else if (u_dut.beats) limb_q <= u_dut.final_beat ? '0 : limb_q + 1'b1;
    rows_q[0] <= u_dut.row_q;
    rows_q[1] <= rows_q[0];
    if (popped[1]) rows_q[2] <= rows_q[1];
  end

  logic [15:0]         next;     // the row that is popped next, by those before it
  logic [RowCycles-1:0] part;
  int unsigned         pending;  // beats that have not reached the FIFOs
  assign part = u_dut.part_q;
  always_comb begin
    next    = 16'(limb_q >> $clog2(RowCycles));
    pending = RowCycles * (32'(popped[0]) + 32'(popped[1]));
    for (int unsigned c = 0; c < RowCycles; c++) begin
      if (part[c]) begin
        next    = u_dut.row_now_q.final_row ? '0 : rows_q[2] + 16'd1;
        pending = pending + RowCycles - c;
      end
    end
    for (int unsigned i = 0; i < 2; i++) begin
      if (popped[1-i]) next = final_row[1-i] ? '0 : rows_q[1-i] + 16'd1;
    end
  end

  always_comb begin
    if (rst_ni) begin
      assert (!halt_i || !ready);
      if (held_w_q) begin
        assert (w_valid[port_i] && w_last[port_i] == held_last_q && data[port_i] == held_data_q);
      end
      if (u_dut.beats) begin
        assert (u_dut.burst_last ==
                (u_dut.final_beat || (limb_q + 1'b1) % LimbWidth'(BurstBeats) == '0));
        assert (!u_dut.final_beat || limb_q == LimbWidth'((32'(rows_q[2]) + 1) * RowCycles - 1));
      end

      // What the induction needs to know.
      assert (u_dut.checked_q == waits_q && (!waits_q || u_dut.error_q == u_dut.error));
      assert (32'(u_dut.u_bursts.flight_q) == open + 32'(aw_valid[port_i]));
      assert (u_dut.u_bursts.flight_q <= Outstanding);
      assert (`RS_QUEUED(u_dut.u_finals) + 32'(u_dut.u_finals.valid_q) ==
              32'(u_dut.u_bursts.flight_q));
      if (aw_valid[port_i]) assert (beat % BeatWidth'(BurstBeats) == '0);
      if (u_dut.busy) begin
        assert (u_dut.u_bursts.left_q != '0);
        assert (u_dut.u_bursts.beat_q % BeatWidth'(BurstBeats) == '0);
      end
      assert (u_dut.beat_q == 8'(limb_q % LimbWidth'(BurstBeats)));
      assert ($onehot0(part) && next == u_dut.row_q);
      if (part == '0) assert (limb_q % LimbWidth'(RowCycles) == '0);
      for (int unsigned c = 0; c < RowCycles; c++) begin
        if (part[c]) assert (limb_q == LimbWidth'(32'(rows_q[2]) * RowCycles + c));
      end
      if (popped[1]) begin
        if (part != '0) assert (rows_q[1] == (u_dut.row_now_q.final_row ? '0 : rows_q[2] + 16'd1));
        else assert (rows_q[1] == 16'(limb_q >> $clog2(RowCycles)));
        if (popped[0]) assert (rows_q[0] == (final_row[1] ? '0 : rows_q[1] + 16'd1));
      end else if (popped[0]) begin
        if (part != '0) assert (rows_q[0] == (u_dut.row_now_q.final_row ? '0 : rows_q[2] + 16'd1));
        else assert (rows_q[0] == 16'(limb_q >> $clog2(RowCycles)));
      end
      if (RowCycles > 1) assert (popped != '1 && !(popped[1] && part[0]));
    end
    if (!known_q) begin
      assert (low_q == '0 || !popped[0]);
      assert (low_q < 2'd2 || !popped[1]);
    end
  end
  if (RowCycles == 2) begin : gen_paced
    always_comb if (rst_ni) assert (u_dut.gen_parts.since_q == popped[0]);
  end
  for (genvar p = 0; p < Ports; p++) begin : gen_ahead
    always_comb begin
      if (rst_ni) begin
        assert (u_dut.ahead_q[p] <= 2 ** LogFifo);
        assert (32'(u_dut.ahead_q[p]) == pending + `RS_QUEUED(u_dut.gen_port[p].u_fifo) +
                32'(u_dut.gen_port[p].u_fifo.valid_q));
      end
    end
  end
endmodule

`undef RS_QUEUED
