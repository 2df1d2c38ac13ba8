// An accelerator of architecture vector with complete AXI4 buses: rs_vector_top, its ports' wires
// concatenated.
//
// Port p of cluster c is number Ports*c + p of m_axi; cluster c is number c of m_list, which only
// reads. A bus's wires are bits of vectors, the lowest ones those of port 0. Transfers are
// bufferable and modifiable, unprivileged and secure. No wires for ids: every burst has id 0.
//
// rst_ni, synchronous, may be one cycle long: it is prolonged for the accelerator. Until that is
// over no access to a register is taken.
//
// start_o, run_o, done_o: a program was started; its schedule begins in the next cycle; it has
// ended. Each stands for one cycle.
module rs_vector_shell
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned AllPorts = Clusters * Ports,
  localparam int unsigned StrobeWidth = PortBits / 8
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  // verilog_lint: waive-start port-name-suffix
  input  logic [AxilAddrWidth-1:0]             s_axil_awaddr,
  input  logic [2:0]                           s_axil_awprot,
  input  logic                                 s_axil_awvalid,
  output logic                                 s_axil_awready,
  input  logic [AxilDataWidth-1:0]             s_axil_wdata,
  input  logic [3:0]                           s_axil_wstrb,
  input  logic                                 s_axil_wvalid,
  output logic                                 s_axil_wready,
  output logic [1:0]                           s_axil_bresp,
  output logic                                 s_axil_bvalid,
  input  logic                                 s_axil_bready,
  input  logic [AxilAddrWidth-1:0]             s_axil_araddr,
  input  logic [2:0]                           s_axil_arprot,
  input  logic                                 s_axil_arvalid,
  output logic                                 s_axil_arready,
  output logic [AxilDataWidth-1:0]             s_axil_rdata,
  output logic [1:0]                           s_axil_rresp,
  output logic                                 s_axil_rvalid,
  input  logic                                 s_axil_rready,
  output logic [AllPorts-1:0][AddrWidth-1:0]   m_axi_awaddr,
  output logic [AllPorts-1:0][7:0]             m_axi_awlen,
  output logic [AllPorts-1:0][2:0]             m_axi_awsize,
  output logic [AllPorts-1:0][1:0]             m_axi_awburst,
  output logic [AllPorts-1:0][3:0]             m_axi_awcache,
  output logic [AllPorts-1:0][2:0]             m_axi_awprot,
  output logic [AllPorts-1:0]                  m_axi_awvalid,
  input  logic [AllPorts-1:0]                  m_axi_awready,
  output logic [AllPorts-1:0][PortBits-1:0]    m_axi_wdata,
  output logic [AllPorts-1:0][StrobeWidth-1:0] m_axi_wstrb,
  output logic [AllPorts-1:0]                  m_axi_wlast,
  output logic [AllPorts-1:0]                  m_axi_wvalid,
  input  logic [AllPorts-1:0]                  m_axi_wready,
  input  logic [AllPorts-1:0][1:0]             m_axi_bresp,
  input  logic [AllPorts-1:0]                  m_axi_bvalid,
  output logic [AllPorts-1:0]                  m_axi_bready,
  output logic [AllPorts-1:0][AddrWidth-1:0]   m_axi_araddr,
  output logic [AllPorts-1:0][7:0]             m_axi_arlen,
  output logic [AllPorts-1:0][2:0]             m_axi_arsize,
  output logic [AllPorts-1:0][1:0]             m_axi_arburst,
  output logic [AllPorts-1:0][3:0]             m_axi_arcache,
  output logic [AllPorts-1:0][2:0]             m_axi_arprot,
  output logic [AllPorts-1:0]                  m_axi_arvalid,
  input  logic [AllPorts-1:0]                  m_axi_arready,
  input  logic [AllPorts-1:0][PortBits-1:0]    m_axi_rdata,
  input  logic [AllPorts-1:0][1:0]             m_axi_rresp,
  input  logic [AllPorts-1:0]                  m_axi_rlast,
  input  logic [AllPorts-1:0]                  m_axi_rvalid,
  output logic [AllPorts-1:0]                  m_axi_rready,
  output logic [Clusters-1:0][AddrWidth-1:0]   m_list_araddr,
  output logic [Clusters-1:0][7:0]             m_list_arlen,
  output logic [Clusters-1:0][2:0]             m_list_arsize,
  output logic [Clusters-1:0][1:0]             m_list_arburst,
  output logic [Clusters-1:0][3:0]             m_list_arcache,
  output logic [Clusters-1:0][2:0]             m_list_arprot,
  output logic [Clusters-1:0]                  m_list_arvalid,
  input  logic [Clusters-1:0]                  m_list_arready,
  input  logic [Clusters-1:0][ListBits-1:0]    m_list_rdata,
  input  logic [Clusters-1:0][1:0]             m_list_rresp,
  input  logic [Clusters-1:0]                  m_list_rlast,
  input  logic [Clusters-1:0]                  m_list_rvalid,
  output logic [Clusters-1:0]                  m_list_rready,
  // verilog_lint: waive-stop port-name-suffix
  output logic                                 start_o,
  output logic                                 run_o,
  output logic                                 done_o
);
  localparam int unsigned ResetCycles = core_transform_latency(Cfg) + 8;
  localparam int unsigned ResetBits = $clog2(ResetCycles + 1);
  localparam logic [3:0] CacheModifiable = 4'b0011;
  localparam logic [2:0] ProtData = 3'b000;

  // ---- reset ------------------------------------------------------------------------------------
  logic [ResetBits-1:0] reset_q;  // cycles that the accelerator stays in reset
  logic                 top_rst_nq, awready, wready, arready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_q <= ResetBits'(ResetCycles);
    else if (reset_q != '0) reset_q <= reset_q - 1'b1;
    top_rst_nq <= rst_ni && reset_q == '0;
  end
  assign s_axil_awready = awready && top_rst_nq;
  assign s_axil_wready  = wready && top_rst_nq;
  assign s_axil_arready = arready && top_rst_nq;

  // ---- what all bursts have in common -----------------------------------------------------------
  logic [2:0]             ar_size, aw_size, list_ar_size;
  logic [1:0]             ar_burst, aw_burst, list_ar_burst;
  logic [StrobeWidth-1:0] w_strb;
  logic [PortBits-1:0]    r_data [AllPorts];
  logic [PortBits-1:0]    w_data [AllPorts];
  always_comb begin
    for (int unsigned i = 0; i < AllPorts; i++) begin
      m_axi_awsize[i]  = aw_size;
      m_axi_awburst[i] = aw_burst;
      m_axi_awcache[i] = CacheModifiable;
      m_axi_awprot[i]  = ProtData;
      m_axi_wdata[i]   = w_data[i];
      m_axi_wstrb[i]   = w_strb;
      m_axi_arsize[i]  = ar_size;
      m_axi_arburst[i] = ar_burst;
      m_axi_arcache[i] = CacheModifiable;
      m_axi_arprot[i]  = ProtData;
      r_data[i]        = m_axi_rdata[i];
    end
    for (int unsigned i = 0; i < Clusters; i++) begin
      m_list_arsize[i]  = list_ar_size;
      m_list_arburst[i] = list_ar_burst;
      m_list_arcache[i] = CacheModifiable;
      m_list_arprot[i]  = ProtData;
    end
  end

  // ---- the accelerator --------------------------------------------------------------------------
  rs_vector_top #(
    .Cfg(Cfg)
  ) u_top (
    .clk_i,
    .rst_ni(top_rst_nq),
    .s_axil_awaddr,
    .s_axil_awprot,
    .s_axil_awvalid(s_axil_awvalid && top_rst_nq),
    .s_axil_awready(awready),
    .s_axil_wdata,
    .s_axil_wstrb,
    .s_axil_wvalid(s_axil_wvalid && top_rst_nq),
    .s_axil_wready(wready),
    .s_axil_bresp,
    .s_axil_bvalid,
    .s_axil_bready,
    .s_axil_araddr,
    .s_axil_arprot,
    .s_axil_arvalid(s_axil_arvalid && top_rst_nq),
    .s_axil_arready(arready),
    .s_axil_rdata,
    .s_axil_rresp,
    .s_axil_rvalid,
    .s_axil_rready,
    .m_axi_awaddr,
    .m_axi_awlen,
    .m_axi_awsize(aw_size),
    .m_axi_awburst(aw_burst),
    .m_axi_awvalid,
    .m_axi_awready,
    .m_axi_wdata(w_data),
    .m_axi_wstrb(w_strb),
    .m_axi_wlast,
    .m_axi_wvalid,
    .m_axi_wready,
    .m_axi_bresp,
    .m_axi_bvalid,
    .m_axi_bready,
    .m_axi_araddr,
    .m_axi_arlen,
    .m_axi_arsize(ar_size),
    .m_axi_arburst(ar_burst),
    .m_axi_arvalid,
    .m_axi_arready,
    .m_axi_rdata(r_data),
    .m_axi_rresp,
    .m_axi_rlast,
    .m_axi_rvalid,
    .m_axi_rready,
    .m_list_araddr,
    .m_list_arlen,
    .m_list_arsize(list_ar_size),
    .m_list_arburst(list_ar_burst),
    .m_list_arvalid,
    .m_list_arready,
    .m_list_rdata,
    .m_list_rresp,
    .m_list_rlast,
    .m_list_rvalid,
    .m_list_rready,
    .start_o,
    .run_o,
    .done_o,
    .load_begun_o(),
    .issued_o(),
    .store_begun_o(),
    .ended_o()
  );
endmodule
