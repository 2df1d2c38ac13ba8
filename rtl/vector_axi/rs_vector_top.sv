// An accelerator of architecture vector: Clusters clusters with ports of their own, behind one
// AXI4-Lite bus (docs/reference/vector-registers.md).
//
// Port p of cluster c is number Ports*c + p of the ports for rows. Its memory is 2^SpanBits bytes
// from address 2^SpanBits times its number on; a cluster reads what another one has written at the
// addresses of that one's ports. All bursts are INCR bursts of whole beats with id 0. Each cluster
// has a port that reads its lists.
//
// rst_ni, synchronous, is that of memory's ports, too; one cycle is enough (rs_vector_control
// prolongs it for the clusters). control.reset resets the clusters alone, when memory owes them
// nothing any more.
//
// load_begun_o, issued_o and store_begun_o stand in the cycles in which a cluster's next load,
// instruction and store begins, ended_o counts its instructions; start_o, run_o and done_o are
// those of rs_vector_control.
module rs_vector_top
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned SpanBits = Cfg.SpanBits,
  localparam int unsigned BurstBeats = Cfg.BurstBeats,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned AllPorts = Clusters * Ports,
  localparam int unsigned StrobeWidth = PortBits / 8
) (
  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  // verilog_lint: waive-start port-name-suffix
  input  logic                [AxilAddrWidth-1:0] s_axil_awaddr,
  input  logic                [              2:0] s_axil_awprot,
  input  logic                                    s_axil_awvalid,
  output logic                                    s_axil_awready,
  input  logic                [AxilDataWidth-1:0] s_axil_wdata,
  input  logic                [              3:0] s_axil_wstrb,
  input  logic                                    s_axil_wvalid,
  output logic                                    s_axil_wready,
  output logic                [              1:0] s_axil_bresp,
  output logic                                    s_axil_bvalid,
  input  logic                                    s_axil_bready,
  input  logic                [AxilAddrWidth-1:0] s_axil_araddr,
  input  logic                [              2:0] s_axil_arprot,
  input  logic                                    s_axil_arvalid,
  output logic                                    s_axil_arready,
  output logic                [AxilDataWidth-1:0] s_axil_rdata,
  output logic                [              1:0] s_axil_rresp,
  output logic                                    s_axil_rvalid,
  input  logic                                    s_axil_rready,
  // ports for rows
  output logic [AllPorts-1:0]                     m_axi_arvalid,
  output logic [AllPorts-1:0] [    AddrWidth-1:0] m_axi_araddr,
  output logic [AllPorts-1:0] [              7:0] m_axi_arlen,
  output logic                [              2:0] m_axi_arsize,
  output logic                [              1:0] m_axi_arburst,
  input  logic [AllPorts-1:0]                     m_axi_arready,
  input  logic [AllPorts-1:0]                     m_axi_rvalid,
  input  logic [AllPorts-1:0]                     m_axi_rlast,
  input  logic [AllPorts-1:0] [              1:0] m_axi_rresp,
  input  logic                [     PortBits-1:0] m_axi_rdata     [AllPorts],
  output logic [AllPorts-1:0]                     m_axi_rready,
  output logic [AllPorts-1:0]                     m_axi_awvalid,
  output logic [AllPorts-1:0] [    AddrWidth-1:0] m_axi_awaddr,
  output logic [AllPorts-1:0] [              7:0] m_axi_awlen,
  output logic                [              2:0] m_axi_awsize,
  output logic                [              1:0] m_axi_awburst,
  input  logic [AllPorts-1:0]                     m_axi_awready,
  output logic [AllPorts-1:0]                     m_axi_wvalid,
  output logic [AllPorts-1:0]                     m_axi_wlast,
  output logic                [  StrobeWidth-1:0] m_axi_wstrb,
  output logic                [     PortBits-1:0] m_axi_wdata     [AllPorts],
  input  logic [AllPorts-1:0]                     m_axi_wready,
  input  logic [AllPorts-1:0]                     m_axi_bvalid,
  input  logic [AllPorts-1:0] [              1:0] m_axi_bresp,
  output logic [AllPorts-1:0]                     m_axi_bready,
  // ports for lists
  output logic [Clusters-1:0]                     m_list_arvalid,
  output logic [Clusters-1:0] [    AddrWidth-1:0] m_list_araddr,
  output logic [Clusters-1:0] [              7:0] m_list_arlen,
  output logic                [              2:0] m_list_arsize,
  output logic                [              1:0] m_list_arburst,
  input  logic [Clusters-1:0]                     m_list_arready,
  input  logic [Clusters-1:0]                     m_list_rvalid,
  input  logic [Clusters-1:0]                     m_list_rlast,
  input  logic [Clusters-1:0] [              1:0] m_list_rresp,
  input  logic [Clusters-1:0] [     ListBits-1:0] m_list_rdata,
  output logic [Clusters-1:0]                     m_list_rready,
  // verilog_lint: waive-stop port-name-suffix
  output logic                                    start_o,
  output logic                                    run_o,
  output logic                                    done_o,
  output logic [Clusters-1:0]                     load_begun_o,
  output logic [Clusters-1:0]                     issued_o,
  output logic [Clusters-1:0]                     store_begun_o,
  output logic [Clusters-1:0] [             31:0] ended_o
);
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses);
  localparam int unsigned ShiftWidth = $clog2(Width + 1);
  localparam int unsigned RowCycles = row_cycles(Cfg);
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles);
  localparam int unsigned ByteBits = $clog2(PortBits / 8);
  localparam logic [1:0] BurstIncr = 2'b01;
  if (RowCycles == 0 || RowCycles * Ports * PortBits != stored_bits(
          Width
      ) << LogLanes) begin : gen_bad
    $error("rs_vector_top: a row is no whole number of beats of %0d ports", Ports);
  end
  if (BurstBeats % RowCycles != 0 || 4096 % (BurstBeats * PortBits / 8) != 0) begin : gen_bad_burst
    $error("rs_vector_top: BurstBeats = %0d is no number of rows that divides 4 KiB", BurstBeats);
  end

  // ---- registers --------------------------------------------------------------------------------
  axil_request_t  request;
  axil_response_t response;
  assign request = '{
          aw_valid: s_axil_awvalid,
          aw_addr: s_axil_awaddr,
          aw_prot: s_axil_awprot,
          w_valid: s_axil_wvalid,
          w_data: s_axil_wdata,
          w_strb: s_axil_wstrb,
          b_ready: s_axil_bready,
          ar_valid: s_axil_arvalid,
          ar_addr: s_axil_araddr,
          ar_prot: s_axil_arprot,
          r_ready: s_axil_rready
      };
  assign s_axil_awready = response.aw_ready;
  assign s_axil_wready  = response.w_ready;
  assign s_axil_bresp   = response.b_resp;
  assign s_axil_bvalid  = response.b_valid;
  assign s_axil_arready = response.ar_ready;
  assign s_axil_rdata   = response.r_data;
  assign s_axil_rresp   = response.r_resp;
  assign s_axil_rvalid  = response.r_valid;

  logic                                            prime_we, pass_we, halt, cluster_rst_n;
  logic   [  PrimeWidth-1:0]                       prime_addr;
  logic   [       Width-1:0]                       prime_q, prime_mu;
  logic   [  ShiftWidth-1:0]                       prime_shift;
  logic   [   PassWidth-1:0]                       pass_addr;
  pass_t                                           pass;
  logic   [             4:0]                       row_bits;
  logic   [             3:0]                       passes;
  logic   [            31:0]                       watchdog;
  logic   [    Clusters-1:0][Lists-1:0][AddrWidth-1:0] list_address;
  logic   [    Clusters-1:0][Lists-1:0][     31:0] list_count;
  logic   [    Clusters-1:0]                       filled, done, failed, idle;
  fault_t [    Clusters-1:0]                       fault;
  logic   [    Clusters-1:0][31:0]                 fault_item;
  rs_vector_control #(
    .Cfg(Cfg)
  ) u_control (
    .clk_i,
    .rst_ni,
    .axil_i(request),
    .axil_o(response),
    .prime_we_o(prime_we),
    .prime_addr_o(prime_addr),
    .prime_q_o(prime_q),
    .prime_mu_o(prime_mu),
    .prime_shift_o(prime_shift),
    .pass_we_o(pass_we),
    .pass_addr_o(pass_addr),
    .pass_o(pass),
    .row_bits_o(row_bits),
    .passes_o(passes),
    .watchdog_o(watchdog),
    .list_address_o(list_address),
    .list_count_o(list_count),
    .start_o,
    .filled_i(filled),
    .run_o,
    .done_i(done),
    .failed_i(failed),
    .fault_i(fault),
    .fault_item_i(fault_item),
    .idle_i(idle),
    .halt_o(halt),
    .cluster_rst_no(cluster_rst_n),
    .done_o
  );

  // ---- clusters ---------------------------------------------------------------------------------
  // Counts of stores cross between clusters in a register.
  logic [   Clusters-1:0][31:0] stores_ended;
  logic [MaxClusters-1:0][31:0] stores_ended_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < MaxClusters; c++) begin
      stores_ended_q[c] <= (!cluster_rst_n || start_o || c >= Clusters) ? '0 :
          stores_ended[c%Clusters];
    end
  end
  assign m_axi_arsize   = 3'(ByteBits);
  assign m_axi_arburst  = BurstIncr;
  assign m_axi_awsize   = 3'(ByteBits);
  assign m_axi_awburst  = BurstIncr;
  assign m_axi_wstrb    = '1;
  assign m_list_arsize  = 3'($clog2(ListBits / 8));
  assign m_list_arburst = BurstIncr;
  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    logic [ HomeBits-1:0] ar_home, aw_home;
    logic [BeatWidth-1:0] ar_beat, aw_beat;
    logic [          7:0] ar_len, aw_len;
    logic [          1:0] r_resp [Ports];
    logic [          1:0] b_resp [Ports];
    logic [ PortBits-1:0] r_data [Ports];
    logic [ PortBits-1:0] w_data [Ports];
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      localparam int unsigned Port = Ports * c + p;
      function automatic logic [AddrWidth-1:0] address(logic [HomeBits-1:0] home,
                                                       logic [BeatWidth-1:0] beat);
        return ((AddrWidth'(home) * AddrWidth'(Ports) + AddrWidth'(p)) << SpanBits) |
            AddrWidth'(AddrWidth'(beat) << ByteBits);
      endfunction
      assign m_axi_araddr[Port] = address(ar_home, ar_beat);
      assign m_axi_arlen[Port]  = ar_len;
      assign m_axi_awaddr[Port] = address(aw_home, aw_beat);
      assign m_axi_awlen[Port]  = aw_len;
      assign m_axi_wdata[Port]  = w_data[p];
      assign r_resp[p]          = m_axi_rresp[Port];
      assign b_resp[p]          = m_axi_bresp[Port];
      assign r_data[p]          = m_axi_rdata[Port];
    end
    rs_vector_cluster #(
      .Cfg(Cfg)
    ) u_cluster (
      .clk_i,
      .rst_ni(cluster_rst_n),
      .halt_i(halt),
      .prime_we_i(prime_we),
      .prime_addr_i(prime_addr),
      .prime_q_i(prime_q),
      .prime_mu_i(prime_mu),
      .prime_shift_i(prime_shift),
      .pass_we_i(pass_we),
      .pass_addr_i(pass_addr),
      .pass_i(pass),
      .row_bits_i(row_bits),
      .passes_i(passes),
      .watchdog_i(watchdog),
      .list_address_i(list_address[c]),
      .list_count_i(list_count[c]),
      .start_i(start_o),
      .filled_o(filled[c]),
      .run_i(run_o),
      .done_o(done[c]),
      .failed_o(failed[c]),
      .fault_o(fault[c]),
      .fault_item_o(fault_item[c]),
      .idle_o(idle[c]),
      .stores_ended_o(stores_ended[c]),
      .stores_ended_i(stores_ended_q),
      .load_begun_o(load_begun_o[c]),
      .issued_o(issued_o[c]),
      .store_begun_o(store_begun_o[c]),
      .ended_o(ended_o[c]),
      .ar_valid_o(m_axi_arvalid[Ports*c+:Ports]),
      .ar_home_o(ar_home),
      .ar_beat_o(ar_beat),
      .ar_len_o(ar_len),
      .ar_ready_i(m_axi_arready[Ports*c+:Ports]),
      .r_valid_i(m_axi_rvalid[Ports*c+:Ports]),
      .r_last_i(m_axi_rlast[Ports*c+:Ports]),
      .r_resp_i(r_resp),
      .r_data_i(r_data),
      .r_ready_o(m_axi_rready[Ports*c+:Ports]),
      .aw_valid_o(m_axi_awvalid[Ports*c+:Ports]),
      .aw_home_o(aw_home),
      .aw_beat_o(aw_beat),
      .aw_len_o(aw_len),
      .aw_ready_i(m_axi_awready[Ports*c+:Ports]),
      .w_valid_o(m_axi_wvalid[Ports*c+:Ports]),
      .w_last_o(m_axi_wlast[Ports*c+:Ports]),
      .w_data_o(w_data),
      .w_ready_i(m_axi_wready[Ports*c+:Ports]),
      .b_valid_i(m_axi_bvalid[Ports*c+:Ports]),
      .b_resp_i(b_resp),
      .b_ready_o(m_axi_bready[Ports*c+:Ports]),
      .list_ar_valid_o(m_list_arvalid[c]),
      .list_ar_addr_o(m_list_araddr[c]),
      .list_ar_len_o(m_list_arlen[c]),
      .list_ar_ready_i(m_list_arready[c]),
      .list_r_valid_i(m_list_rvalid[c]),
      .list_r_last_i(m_list_rlast[c]),
      .list_r_resp_i(m_list_rresp[c]),
      .list_r_data_i(m_list_rdata[c]),
      .list_r_ready_o(m_list_rready[c])
    );
  end
endmodule
