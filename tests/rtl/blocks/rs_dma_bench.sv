// rs_dma with flat vectors as ports, for cocotb: channel 0's part is lowest.
//
// A device's host_busy is high while an access is at its port, as it is by itself, or host_busy_i.
// It refuses its last unit.
`include "rs_axi.svh"

module rs_dma_bench
  import rs_dma_pkg::*;
#(
  parameter  int unsigned Channels = 1,
  parameter  int unsigned DataBits = 128,
  parameter  int unsigned HostWords = 4,
  parameter  int unsigned Width = 30,
  parameter  int unsigned LogDepth = 9,
  parameter  int unsigned StartCycles = 1,
  localparam int unsigned IdBits = (Channels > 1) ? $clog2(Channels) : 1,
  localparam int unsigned ControlBits = $bits(control_t),
  localparam int unsigned StatusBits = $bits(status_t)
) (
  input  logic                                bus_clk_i,
  input  logic                                bus_rst_ni,
  input  logic [Channels*ControlBits-1:0]     control_i,
  output logic [Channels*StatusBits-1:0]      status_o,

  // verilog_lint: waive-start port-name-suffix
  output logic [IdBits-1:0]                   m_axi_awid,
  output logic [AddrBits-1:0]                 m_axi_awaddr,
  output logic [7:0]                          m_axi_awlen,
  output logic [2:0]                          m_axi_awsize,
  output logic [1:0]                          m_axi_awburst,
  output logic [3:0]                          m_axi_awcache,
  output logic [2:0]                          m_axi_awprot,
  output logic                                m_axi_awvalid,
  input  logic                                m_axi_awready,
  output logic [DataBits-1:0]                 m_axi_wdata,
  output logic [DataBits/8-1:0]               m_axi_wstrb,
  output logic                                m_axi_wlast,
  output logic                                m_axi_wvalid,
  input  logic                                m_axi_wready,
  input  logic [IdBits-1:0]                   m_axi_bid,
  input  logic [1:0]                          m_axi_bresp,
  input  logic                                m_axi_bvalid,
  output logic                                m_axi_bready,
  output logic [IdBits-1:0]                   m_axi_arid,
  output logic [AddrBits-1:0]                 m_axi_araddr,
  output logic [7:0]                          m_axi_arlen,
  output logic [2:0]                          m_axi_arsize,
  output logic [1:0]                          m_axi_arburst,
  output logic [3:0]                          m_axi_arcache,
  output logic [2:0]                          m_axi_arprot,
  output logic                                m_axi_arvalid,
  input  logic                                m_axi_arready,
  input  logic [IdBits-1:0]                   m_axi_rid,
  input  logic [DataBits-1:0]                 m_axi_rdata,
  input  logic [1:0]                          m_axi_rresp,
  input  logic                                m_axi_rlast,
  input  logic                                m_axi_rvalid,
  output logic                                m_axi_rready,
  // verilog_lint: waive-stop port-name-suffix

  input  logic                                clk_i,
  input  logic                                rst_ni,
  output logic [Channels-1:0]                 host_we_o,
  output logic [Channels-1:0]                 host_re_o,
  output logic [Channels*SpaceBits-1:0]        host_space_o,
  output logic [Channels*UnitBits-1:0]        host_unit_o,
  output logic [Channels*IndexBits-1:0]       host_index_o,
  output logic [Channels*RowBits-1:0]         host_row_o,
  output logic [Channels*HostWords*Width-1:0] host_wdata_o,
  input  logic [Channels-1:0]                 host_rvalid_i,
  input  logic [Channels*HostWords*Width-1:0] host_rdata_i,
  input  logic [Channels-1:0]                 host_busy_i,
  output logic [Channels-1:0]                 moving_o,
  output logic [Channels-1:0]                 start_o,
  output logic [Channels*RingBits-1:0]        ring_o,
  output logic [Channels*IndexBits-1:0]       streams_o,
  input  logic [Channels-1:0]                 busy_i,
  input  logic [Channels*16-1:0]              opened_i,
  input  logic [Channels*64-1:0]              cycles_i
);
  command_t [Channels-1:0] asked;
  logic     [Channels-1:0] refused;
  for (genvar c = 0; c < Channels; c++) begin : gen_asked
    assign ring_o[RingBits*c+:RingBits] = asked[c].ring;
    assign streams_o[IndexBits*c+:IndexBits] = asked[c].index;
    assign refused[c] = asked[c].unit == '1;
  end
  `RS_AXI_TYPES(axi, IdBits, AddrBits, DataBits)
  axi_request_t  axi_o;
  axi_response_t axi_i;
  `RS_AXI_FLAT_MASTER(m_axi, axi_o, axi_i)
  rs_dma #(
    .Cfg('{
        Channels: Channels,
        DataBits: DataBits,
        HostWords: HostWords,
        Width: Width,
        LogDepth: LogDepth,
        StartCycles: StartCycles,
        OpenReads: 4
    }),
    .RamStyle("block"),
    .axi_request_t(axi_request_t),
    .axi_response_t(axi_response_t)
  ) u_dma (
    .rst_ni({Channels{rst_ni}}),
    .host_busy_i(host_busy_i | host_we_o | host_re_o),
    .asked_o(asked),
    .refused_i(refused),
    .*
  );
endmodule
