// What test_proofs.py proves of rs_vector_loads, an AXI master that reads, for any list and for
// ports that take their bursts and answer at any time; the proof watches any one port.
//
// A burst lies within 4 KiB, is at most BurstBeats long, and stays at the port until it is taken.
// At most Outstanding bursts have been taken and not ended. No load begins after halt_i.
module rs_vector_loads_proof
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_vector_proof_pkg::*;
#(
  parameter  int unsigned Ports = 2,
  parameter  int unsigned BurstBeats = 4,
  parameter  int unsigned Outstanding = 2,
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
  input load_t                            load_i,
  input logic [MaxClusters-1:0][31:0]     stores_ended_i,
  input logic [31:0]                      computing_ended_i,
  input logic [LoadStreams-1:0]           free_i,
  input logic [Ports-1:0]                 ar_ready_i,
  input logic [Ports-1:0]                 r_valid_i,
  input logic [Ports-1:0]                 r_last_i,
  input logic [Ports-1:0][1:0]            r_resp_i,
  input logic [Ports-1:0][Cfg.PortBits-1:0] r_data_i,
  input logic [PortWidth-1:0]             port_i  // the watched one
);
  logic                    ready;
  logic [Ports-1:0]        ar_valid;
  logic [HomeBits-1:0]     home;
  logic [BeatWidth-1:0]    beat;
  logic [7:0]              len;
  logic [1:0]              resp [Ports];
  logic [Cfg.PortBits-1:0] data [Ports];
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    assign resp[p] = r_resp_i[p];
    assign data[p] = r_data_i[p];
  end
  rs_vector_loads #(.Cfg(Cfg), .LogFifo(1)) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .idle_o(),
    .run_i,
    .watchdog_i('0),
    .row_bits_i,
    .valid_i,
    .load_i,
    .ready_o(ready),
    .ended_o(),
    .stores_ended_i,
    .computing_ended_i,
    .free_i,
    .row_o(),
    .begin_o(),
    .push_o(),
    .table_we_o(),
    .table_addr_o(),
    .table_loaded_o(),
    .ar_valid_o(ar_valid),
    .ar_home_o(home),
    .ar_beat_o(beat),
    .ar_len_o(len),
    .ar_ready_i,
    .r_valid_i,
    .r_last_i,
    .r_resp_i(resp),
    .r_data_i(data),
    .r_ready_o(),
    .failed_o(),
    .fault_o()
  );

  // ---- what the block may assume ----------------------------------------------------------------
  logic                 known_q, waits_q;  // waits_q: an item was there, and did not begin
  load_t               load_q;
  logic [4:0]           row_bits_q;
  logic [PortWidth-1:0] port_q;
  int unsigned          open;  // bursts that the port has taken and that have not ended
  logic                 ends;
  assign ends = u_dut.pop && u_dut.last[0];
  always_comb begin
    assume (32'(port_i) < Ports);
    if (known_q) assume (port_i == port_q && row_bits_i == row_bits_q);
    if (waits_q) assume (valid_i && load_i == load_q);
    // Memory answers all ports alike.
    assume (!u_dut.pop || (u_dut.moved_valid && (u_dut.last == '0 || u_dut.last == '1)));
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
    .valid_i(ar_valid[port_i]),
    .ready_i(ar_ready_i[port_i]),
    .addr_i({home, beat, ByteBits'(0)}),
    .len_i(len),
    .ends_i(ends),
    .open_o(open)
  );
  always_ff @(posedge clk_i) begin
    known_q     <= rst_ni;
    waits_q     <= rst_ni && valid_i && !ready;
    load_q      <= load_i;
    row_bits_q  <= row_bits_i;
    port_q      <= port_i;
  end

  always_comb begin
    if (rst_ni) begin
      assert (!halt_i || !ready);

      // What the induction needs to know.
      assert (u_dut.checked_q == waits_q && (!waits_q || u_dut.error_q == u_dut.error));
      assert (32'(u_dut.u_bursts.flight_q) == open + 32'(ar_valid[port_i]));
      assert (u_dut.u_bursts.flight_q <= Outstanding);
      if (ar_valid[port_i]) assert (beat % BeatWidth'(BurstBeats) == '0);
      if (u_dut.busy) begin
        assert (u_dut.u_bursts.left_q != '0);
        assert (u_dut.u_bursts.beat_q % BeatWidth'(BurstBeats) == '0);
      end
    end
  end
endmodule
