// An accelerator of architecture vector with complete AXI4 buses as flat ports: rs_vector_top, whose
// parameters and clocks these are.
//
// Port p of cluster c is number Ports*c + p of m_axi; cluster c is number c of m_list, which only
// reads. A bus's wires are bits of vectors, the lowest ones those of port 0. No wires for ids: every
// burst has id 0.
//
// start_o, run_o, done_o: a program was started; its schedule begins in the next cycle; it has
// ended. Each stands for one cycle.
`include "rs_axi.svh"

module rs_vector_shell
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  parameter  bit Crossed = 1'b0,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned AllPorts = Clusters * Ports,
  localparam int unsigned StrobeWidth = PortBits / 8
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 mem_clk_i,
  input  logic                                 mem_rst_ni,
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
  `RS_AXI_TYPES(m_axi, 1, AddrWidth, PortBits)
  `RS_AXI_READ_TYPES(m_list, 1, AddrWidth, ListBits)
  axil_request_t    axil_request;
  axil_response_t   axil_response;
  m_axi_request_t   rows_request   [AllPorts];
  m_axi_response_t  rows_response  [AllPorts];
  m_list_request_t  lists_request  [Clusters];
  m_list_response_t lists_response [Clusters];
  `RS_AXIL_FLAT_SLAVE(s_axil, axil_request, axil_response)
  for (genvar i = 0; i < AllPorts; i++) begin : gen_rows
    `RS_AXI_FLAT_WRITES(m_axi, [i], rows_request[i], rows_response[i])
    `RS_AXI_FLAT_READS(m_axi, [i], rows_request[i], rows_response[i])
    assign rows_response[i].b.id = '0;
    assign rows_response[i].r.id = '0;
  end
  for (genvar i = 0; i < Clusters; i++) begin : gen_lists
    `RS_AXI_FLAT_READS(m_list, [i], lists_request[i], lists_response[i])
    assign lists_response[i].r.id = '0;
  end

  rs_vector_top #(
    .Cfg(Cfg),
    .Crossed(Crossed),
    .rows_request_t(m_axi_request_t),
    .rows_response_t(m_axi_response_t),
    .lists_request_t(m_list_request_t),
    .lists_response_t(m_list_response_t)
  ) u_top (
    .clk_i,
    .rst_ni,
    .mem_clk_i,
    .mem_rst_ni,
    .axil_i(axil_request),
    .axil_o(axil_response),
    .rows_o(rows_request),
    .rows_i(rows_response),
    .lists_o(lists_request),
    .lists_i(lists_response),
    .start_o,
    .run_o,
    .done_o,
    .load_begun_o(),
    .issued_o(),
    .store_begun_o(),
    .ended_o()
  );
endmodule
