// The registers of an accelerator (rs_vector_registers), and the execution of a program.
//
// A start reads the beginnings of all clusters' lists (start_o, filled_i). When all have them,
// run_o of one cycle begins the program in all clusters at once. The counter of cycles begins with
// the start, and stops when all clusters have ended (done_i), or one has failed.
//
// A start takes the ring: row_bits_o and passes_o are those of the program that runs. Clusters take
// their lists' addresses and lengths with start_o. Primes and passes are handed on with prime_we_o
// and pass_we_o, a cycle after their registers are written; while a program runs or stops, and after
// a failure, they are refused.
//
// After a failure, and with control.reset, halt_o stops all clusters. control.reset then waits until
// memory owes them nothing (idle_i), and resets them: cluster_rst_no is low until all that travels
// with rows has left. So it is behind rst_ni, which may be one cycle long.
module rs_vector_control
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                                            clk_i,
  input  logic                                            rst_ni,
  input  axil_request_t                                   axil_i,
  output axil_response_t                                  axil_o,
  // settings
  output logic                                            prime_we_o,
  output logic           [PrimeWidth-1:0]                 prime_addr_o,
  output logic           [     Width-1:0]                 prime_q_o,
  output logic           [     Width-1:0]                 prime_mu_o,
  output logic           [ShiftWidth-1:0]                 prime_shift_o,
  output logic                                            pass_we_o,
  output logic           [ PassWidth-1:0]                 pass_addr_o,
  output pass_t                                           pass_o,
  output logic           [           4:0]                 row_bits_o,
  output logic           [           3:0]                 passes_o,
  output logic           [          31:0]                 watchdog_o,
  output logic           [  Clusters-1:0][Lists-1:0][AddrWidth-1:0] list_address_o,
  output logic           [  Clusters-1:0][Lists-1:0][31:0] list_count_o,
  // the run
  output logic                                            start_o,
  input  logic           [  Clusters-1:0]                 filled_i,
  output logic                                            run_o,
  input  logic           [  Clusters-1:0]                 done_i,
  input  logic           [  Clusters-1:0]                 failed_i,
  input  fault_t         [  Clusters-1:0]                 fault_i,
  input  logic           [  Clusters-1:0][31:0]           fault_item_i,
  input  logic           [  Clusters-1:0]                 idle_i,
  output logic                                            halt_o,
  output logic                                            cluster_rst_no,
  output logic                                            done_o
);
  rs_vector_registers_pkg::rs_vector_registers__in_t  hwif_in;
  rs_vector_registers_pkg::rs_vector_registers__out_t hwif_out;
  rs_vector_registers u_registers (
    .clk(clk_i),
    .rst_n(rst_ni),
    .s_axil_awready(axil_o.aw_ready),
    .s_axil_awvalid(axil_i.aw_valid),
    .s_axil_awaddr(axil_i.aw_addr),
    .s_axil_awprot(axil_i.aw_prot),
    .s_axil_wready(axil_o.w_ready),
    .s_axil_wvalid(axil_i.w_valid),
    .s_axil_wdata(axil_i.w_data),
    .s_axil_wstrb(axil_i.w_strb),
    .s_axil_bready(axil_i.b_ready),
    .s_axil_bvalid(axil_o.b_valid),
    .s_axil_bresp(axil_o.b_resp),
    .s_axil_arready(axil_o.ar_ready),
    .s_axil_arvalid(axil_i.ar_valid),
    .s_axil_araddr(axil_i.ar_addr),
    .s_axil_arprot(axil_i.ar_prot),
    .s_axil_rready(axil_i.r_ready),
    .s_axil_rvalid(axil_o.r_valid),
    .s_axil_rdata(axil_o.r_data),
    .s_axil_rresp(axil_o.r_resp),
    .hwif_in,
    .hwif_out
  );

  // ---- the run ----------------------------------------------------------------------------------
  typedef enum logic [1:0] {
    StIdle,
    StFill,  // the beginnings of lists are read
    StRun
  } state_e;
  localparam int unsigned ResetCycles = core_transform_latency(Cfg) + 8;
  localparam int unsigned ResetBits = $clog2(ResetCycles + 1);
  state_e      state_q;
  logic        start, run, reset, free, ready, ended_q, failed_q, done_q;
  logic        legal_place_q, legal_value_q;
  logic        stopping_q;            // a reset waits for memory
  logic        resets, resetting;     // resets: it waits no longer
  logic        rst_nq;                // of the clusters
  logic [ResetBits-1:0] reset_q;      // cycles that they stay in reset
  logic [ 4:0] row_bits_q;
  logic [ 3:0] passes_q;
  logic [63:0] cycles_q;
  assign reset     = hwif_out.control.reset.value;
  assign resets    = stopping_q && idle_i == '1;
  assign resetting = stopping_q || reset_q != '0 || !rst_nq;
  assign free      = state_q == StIdle && !failed_q && !stopping_q;  // no program has the settings
  assign ready     = free && !resetting;
  assign start = hwif_out.control.start.value && !reset && ready && legal_place_q && legal_value_q;
  assign run   = state_q == StFill && filled_i == '1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || reset) state_q <= StIdle;
    else if (start) state_q <= StFill;
    else if (run) state_q <= StRun;
    else if (ended_q || failed_q) state_q <= StIdle;
    ended_q  <= rst_ni && !reset && state_q == StRun && !ended_q && !failed_q && done_i == '1;
    failed_q <= rst_nq && (failed_q || failed_i != '0);
    done_q   <= rst_ni && !reset && !start && (done_q || ended_q);
    if (!rst_ni || start) cycles_q <= '0;
    else if (state_q != StIdle && !ended_q && !failed_q) cycles_q <= cycles_q + 1'b1;
    stopping_q <= rst_ni && !resets && (stopping_q || reset);
    if (!rst_ni || resets) reset_q <= ResetBits'(ResetCycles);
    else if (reset_q != '0) reset_q <= reset_q - 1'b1;
    rst_nq <= rst_ni && reset_q == '0;
    if (start) begin
      row_bits_q <= hwif_out.ring.row_bits.value;
      passes_q   <= hwif_out.ring.passes.value;
    end
  end
  assign start_o        = start;
  assign run_o          = run;
  assign halt_o         = failed_q || resetting;  // until the clusters are in reset
  assign cluster_rst_no = rst_ni && rst_nq;  // also before the first edge
  assign done_o         = ended_q;

  // ---- refused accesses -------------------------------------------------------------------------
  logic asks_start, settings_refused;
  logic [MaxClusters-1:0] places, counts;  // of a cluster's lists, that are legal
  assign asks_start       = hwif_out.control.start.value;
  assign settings_refused = !free && (hwif_out.prime.index.swmod || hwif_out.pass.value.swmod);
  // Of the settings a cycle ago: control.start is written later than they are.
  always_ff @(posedge clk_i) begin
    legal_place_q <= places == '1;
    legal_value_q <= counts == '1 && 32'(hwif_out.ring.row_bits.value) >= MinRowBits &&
      32'd1 << hwif_out.ring.row_bits.value <= Cfg.StreamRows &&
      hwif_out.ring.passes.value != '0 && 32'(hwif_out.ring.passes.value) <= MaxPasses;
  end
  assign hwif_in.refused.busy.hwset  = (asks_start && (!ready || reset)) || settings_refused;
  assign hwif_in.refused.place.hwset = asks_start && !legal_place_q;
  assign hwif_in.refused.value.hwset = asks_start && !legal_value_q;
  assign hwif_in.refused.busy.hwclr  = reset;
  assign hwif_in.refused.place.hwclr = reset;
  assign hwif_in.refused.value.hwclr = reset;

  // ---- registers --------------------------------------------------------------------------------
  assign hwif_in.shape.clusters.next  = 4'(Clusters);
  assign hwif_in.shape.log_lanes.next = 4'(LogLanes);
  assign hwif_in.shape.log_radix.next = 4'(LogRadix);
  assign hwif_in.shape.word_bits.next = 8'(Width);
  assign hwif_in.shape.ports.next     = 8'(Ports);
  assign hwif_in.status.running.next   = state_q != StIdle;
  assign hwif_in.status.done.next      = done_q;
  assign hwif_in.status.failed.next    = failed_q;
  assign hwif_in.status.resetting.next = resetting;
  assign hwif_in.cycles.value.next     = cycles_q;
  assign row_bits_o                    = row_bits_q;
  assign passes_o                      = passes_q;
  assign watchdog_o                    = hwif_out.watchdog.value.value;

  logic        prime_we_q, pass_we_q;
  logic [63:0] prime_q, prime_mu, pass_bits;
  always_ff @(posedge clk_i) begin
    prime_we_q <= rst_ni && free && hwif_out.prime.index.swmod;
    pass_we_q  <= rst_ni && free && hwif_out.pass.value.swmod;
  end
  assign prime_q       = {hwif_out.prime_q.upper.value, hwif_out.prime_q.lower.value};
  assign prime_mu      = {hwif_out.prime_mu.upper.value, hwif_out.prime_mu.lower.value};
  assign pass_bits     = {hwif_out.pass_bits.upper.value, hwif_out.pass_bits.lower.value};
  assign prime_we_o    = prime_we_q;
  assign prime_addr_o  = hwif_out.prime.index.value;
  assign prime_q_o     = prime_q[Width-1:0];
  assign prime_mu_o    = prime_mu[Width-1:0];
  assign prime_shift_o = hwif_out.prime.shift.value[ShiftWidth-1:0];
  assign pass_we_o     = pass_we_q;
  assign pass_addr_o   = hwif_out.pass.value.value[PassWidth-1:0];
  assign pass_o        = pass_bits[$bits(pass_t)-1:0];

  for (genvar c = 0; c < MaxClusters; c++) begin : gen_cluster
    logic [63:0] loads_at, computing_at, stores_at;
    logic [63:0] at;        // what the three addresses have, all together
    logic [31:0] count;     // the same of the lengths
    assign loads_at = {
      hwif_out.cluster[c].loads_at.upper.value, hwif_out.cluster[c].loads_at.lower.value
    };
    assign computing_at = {
      hwif_out.cluster[c].computing_at.upper.value, hwif_out.cluster[c].computing_at.lower.value
    };
    assign stores_at = {
      hwif_out.cluster[c].stores_at.upper.value, hwif_out.cluster[c].stores_at.lower.value
    };
    assign at           = loads_at | computing_at | stores_at;
    assign count        = hwif_out.cluster[c].loads.value.value |
        hwif_out.cluster[c].computing.value.value | hwif_out.cluster[c].stores.value.value;
    fault_t fault;
    assign hwif_in.cluster[c].fault.item_error.next = fault.item_error;
    assign hwif_in.cluster[c].fault.kind.next     = fault.fault;
    assign hwif_in.cluster[c].fault.list.next     = fault.list;
    assign hwif_in.cluster[c].fault.fetching.next = fault.fetching;
    assign hwif_in.cluster[c].fault.port.next     = fault.port;
    if (c < Clusters) begin : gen_there
      assign fault     = failed_i[c] ? fault_i[c] : '0;
      assign places[c] = at >> AddrWidth == '0 && at[$clog2(SlotBytes)-1:0] == '0;
      assign counts[c] = count >> CountBits == '0;
      assign hwif_in.cluster[c].fault_item.value.next =
          (fault.fault == FaultMalformed) ? fault_item_i[c] : '0;
      assign list_address_o[c][ListLoads]     = loads_at[AddrWidth-1:0];
      assign list_address_o[c][ListComputing] = computing_at[AddrWidth-1:0];
      assign list_address_o[c][ListStores]    = stores_at[AddrWidth-1:0];
      assign list_count_o[c][ListLoads]       = hwif_out.cluster[c].loads.value.value;
      assign list_count_o[c][ListComputing]   = hwif_out.cluster[c].computing.value.value;
      assign list_count_o[c][ListStores]      = hwif_out.cluster[c].stores.value.value;
    end else begin : gen_not_there
      assign fault     = '0;
      assign places[c] = 1'b1;
      assign counts[c] = 1'b1;
      assign hwif_in.cluster[c].fault_item.value.next = '0;
    end
  end
endmodule
