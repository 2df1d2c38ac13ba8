// An accelerator of the RPAU architecture behind its register block, on an AXI4-Lite bus, and its
// data path, on AXI4: rs_rpau_shell with the ports that tools look for.
//
// The registers' bus has 32-bit data and byte addresses in a page of 4 KiB; signals have AXI's
// names, by which tools find them.
`include "rs_axi.svh"

module rs_rpau_axil
  import rs_rpau_pkg::host_words;
  import rs_shell_pkg::*;
#(
  parameter  rs_rpau_pkg::rpau_cfg_t Cfg = rs_rpau_pkg::DefaultCfg,
  localparam int unsigned AxilStrobeWidth = AxilDataWidth / 8
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // verilog_lint: waive-start port-name-suffix
  input  logic [AxilAddrWidth-1:0]   s_axil_awaddr,
  input  logic [2:0]                 s_axil_awprot,
  input  logic                       s_axil_awvalid,
  output logic                       s_axil_awready,
  input  logic [AxilDataWidth-1:0]   s_axil_wdata,
  input  logic [AxilStrobeWidth-1:0] s_axil_wstrb,
  input  logic                       s_axil_wvalid,
  output logic                       s_axil_wready,
  output logic [1:0]                 s_axil_bresp,
  output logic                       s_axil_bvalid,
  input  logic                       s_axil_bready,
  input  logic [AxilAddrWidth-1:0]   s_axil_araddr,
  input  logic [2:0]                 s_axil_arprot,
  input  logic                       s_axil_arvalid,
  output logic                       s_axil_arready,
  output logic [AxilDataWidth-1:0]   s_axil_rdata,
  output logic [1:0]                 s_axil_rresp,
  output logic                       s_axil_rvalid,
  input  logic                       s_axil_rready,

  input  logic [DataIdWidth-1:0]     s_axi_awid,
  input  logic [DataAddrWidth-1:0]   s_axi_awaddr,
  input  logic [7:0]                 s_axi_awlen,
  input  logic [2:0]                 s_axi_awsize,
  input  logic [1:0]                 s_axi_awburst,
  input  logic                       s_axi_awvalid,
  output logic                       s_axi_awready,
  input  logic [BeatBits-1:0]        s_axi_wdata,
  input  logic [BeatBits/8-1:0]      s_axi_wstrb,
  input  logic                       s_axi_wlast,
  input  logic                       s_axi_wvalid,
  output logic                       s_axi_wready,
  output logic [DataIdWidth-1:0]     s_axi_bid,
  output logic [1:0]                 s_axi_bresp,
  output logic                       s_axi_bvalid,
  input  logic                       s_axi_bready,
  input  logic [DataIdWidth-1:0]     s_axi_arid,
  input  logic [DataAddrWidth-1:0]   s_axi_araddr,
  input  logic [7:0]                 s_axi_arlen,
  input  logic [2:0]                 s_axi_arsize,
  input  logic [1:0]                 s_axi_arburst,
  input  logic                       s_axi_arvalid,
  output logic                       s_axi_arready,
  output logic [DataIdWidth-1:0]     s_axi_rid,
  output logic [BeatBits-1:0]        s_axi_rdata,
  output logic [1:0]                 s_axi_rresp,
  output logic                       s_axi_rlast,
  output logic                       s_axi_rvalid,
  input  logic                       s_axi_rready
  // verilog_lint: waive-stop port-name-suffix
);
  axil_request_t  axil_request;
  axil_response_t axil_response;
  `RS_AXIL_FLAT_SLAVE(s_axil, axil_request, axil_response)

  axi_request_t  axi_request;
  axi_response_t axi_response;
  assign axi_request = '{
          aw: '{
              valid: s_axi_awvalid,
              id: s_axi_awid,
              addr: s_axi_awaddr,
              len: s_axi_awlen,
              size: s_axi_awsize,
              burst: s_axi_awburst
          },
          w: '{
              valid: s_axi_wvalid,
              last: s_axi_wlast,
              strb: s_axi_wstrb,
              data: s_axi_wdata
          },
          b_ready: s_axi_bready,
          ar: '{
              valid: s_axi_arvalid,
              id: s_axi_arid,
              addr: s_axi_araddr,
              len: s_axi_arlen,
              size: s_axi_arsize,
              burst: s_axi_arburst
          },
          r_ready: s_axi_rready
      };
  assign s_axi_awready = axi_response.aw_ready;
  assign s_axi_wready  = axi_response.w_ready;
  assign s_axi_bid     = axi_response.b_id;
  assign s_axi_bresp   = axi_response.b_resp;
  assign s_axi_bvalid  = axi_response.b_valid;
  assign s_axi_arready = axi_response.ar_ready;
  assign s_axi_rid     = axi_response.r_id;
  assign s_axi_rdata   = axi_response.r_data;
  assign s_axi_rresp   = axi_response.r_resp;
  assign s_axi_rlast   = axi_response.r_last;
  assign s_axi_rvalid  = axi_response.r_valid;

  localparam int unsigned HostWords = host_words(2 * Cfg.Cores);
  logic [Cfg.Width-1:0] no_words [HostWords];
  assign no_words = '{default: '0};
  rs_rpau_shell #(
    .Cfg(Cfg)
  ) u_shell (
    .clk_i,
    .rst_ni,
    .axil_i(axil_request),
    .axil_o(axil_response),
    .axi_i(axi_request),
    .axi_o(axi_response),
    .dma_i('0),
    .dma_wdata_i(no_words),
    .dma_o(),
    .dma_rdata_o()
  );
endmodule
