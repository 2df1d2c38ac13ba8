// An accelerator of the RPAU architecture behind its register block, on a serial line.
//
// For boards whose only link to the host is a UART: rs_rpau_axil, whose registers rs_uart_bridge
// reaches by frames (docs/uart.md), and whose data path is left unused. rst_ni is synchronous
// and active low; rx_i may come straight from its pin.
module rs_rpau_uart
  import rs_shell_pkg::*;
#(
  // generated from rtl/shell/rs_registers.rdl: parameters
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Rpaus = 5,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned DyadicCores = 2,
  parameter  int unsigned WorkPolys = 16,
  parameter  int unsigned KeyPolys = 48,
  parameter  int unsigned Constants = 64,
  parameter  int unsigned ProgramWords = 1024,
  parameter  int unsigned Reduction = 0,
  parameter  int unsigned PrimeSets = 1,
  parameter  int unsigned Interconnect = 0,
  parameter  int unsigned Twiddles = 0,
  parameter  int unsigned WorkUramPolys = 0,
  parameter  int unsigned KeyRam = 1,
  parameter  int unsigned Family = 0,
  parameter  int unsigned Prng = 0,
  parameter  int unsigned Seeds = 0,
  parameter  int unsigned Link = 0,
  parameter  int unsigned LargerRings = 0,
  parameter  int unsigned SmallerRings = 0,
  parameter  int unsigned WorkBlockBanks = 0,
  parameter  int unsigned NarrowRpaus = 0,
  parameter  int unsigned NarrowWidth = 0,
  parameter  int unsigned HopCycles = 1,
  // end of generated
  parameter  int unsigned ClockHz = 48_000_000,
  parameter  int unsigned Baud = 1_000_000,
  parameter  int unsigned SilenceCycles = ClockHz / 50,
  localparam int unsigned AxilAddrWidth = 12,
  localparam int unsigned AxilDataWidth = 32
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o
);
  logic [AxilAddrWidth-1:0]   awaddr, araddr;
  logic [AxilDataWidth-1:0]   wdata, rdata;
  logic [AxilDataWidth/8-1:0] wstrb;
  logic [2:0]                 awprot, arprot;
  logic [1:0]                 bresp, rresp;
  logic                       awvalid, awready, wvalid, wready, bvalid, bready;
  logic                       arvalid, arready, rvalid, rready;
  rs_uart_bridge #(
    .ClockHz(ClockHz),
    .Baud(Baud),
    .SilenceCycles(SilenceCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .m_axil_awaddr(awaddr),
    .m_axil_awprot(awprot),
    .m_axil_awvalid(awvalid),
    .m_axil_awready(awready),
    .m_axil_wdata(wdata),
    .m_axil_wstrb(wstrb),
    .m_axil_wvalid(wvalid),
    .m_axil_wready(wready),
    .m_axil_bresp(bresp),
    .m_axil_bvalid(bvalid),
    .m_axil_bready(bready),
    .m_axil_araddr(araddr),
    .m_axil_arprot(arprot),
    .m_axil_arvalid(arvalid),
    .m_axil_arready(arready),
    .m_axil_rdata(rdata),
    .m_axil_rresp(rresp),
    .m_axil_rvalid(rvalid),
    .m_axil_rready(rready)
  );

  logic                   unused_awready, unused_wready, unused_bvalid, unused_arready;
  logic                   unused_rvalid, unused_rlast;
  logic [DataIdWidth-1:0] unused_bid, unused_rid;
  logic [1:0]             unused_bresp, unused_rresp;
  logic [BeatBits-1:0]    unused_rdata;
  rs_rpau_axil #(
    // generated from rtl/shell/rs_registers.rdl: handed
    .LogN(LogN),
    .Width(Width),
    .Rpaus(Rpaus),
    .Cores(Cores),
    .DyadicCores(DyadicCores),
    .WorkPolys(WorkPolys),
    .KeyPolys(KeyPolys),
    .Constants(Constants),
    .ProgramWords(ProgramWords),
    .Reduction(Reduction),
    .PrimeSets(PrimeSets),
    .Interconnect(Interconnect),
    .Twiddles(Twiddles),
    .WorkUramPolys(WorkUramPolys),
    .KeyRam(KeyRam),
    .Family(Family),
    .Prng(Prng),
    .Seeds(Seeds),
    .Link(Link),
    .LargerRings(LargerRings),
    .SmallerRings(SmallerRings),
    .WorkBlockBanks(WorkBlockBanks),
    .NarrowRpaus(NarrowRpaus),
    .NarrowWidth(NarrowWidth),
    .HopCycles(HopCycles)
    // end of generated
  ) u_device (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(awaddr),
    .s_axil_awprot(awprot),
    .s_axil_awvalid(awvalid),
    .s_axil_awready(awready),
    .s_axil_wdata(wdata),
    .s_axil_wstrb(wstrb),
    .s_axil_wvalid(wvalid),
    .s_axil_wready(wready),
    .s_axil_bresp(bresp),
    .s_axil_bvalid(bvalid),
    .s_axil_bready(bready),
    .s_axil_araddr(araddr),
    .s_axil_arprot(arprot),
    .s_axil_arvalid(arvalid),
    .s_axil_arready(arready),
    .s_axil_rdata(rdata),
    .s_axil_rresp(rresp),
    .s_axil_rvalid(rvalid),
    .s_axil_rready(rready),
    .s_axi_awid('0),
    .s_axi_awaddr('0),
    .s_axi_awlen('0),
    .s_axi_awsize('0),
    .s_axi_awburst('0),
    .s_axi_awvalid(1'b0),
    .s_axi_awready(unused_awready),
    .s_axi_wdata('0),
    .s_axi_wstrb('0),
    .s_axi_wlast(1'b0),
    .s_axi_wvalid(1'b0),
    .s_axi_wready(unused_wready),
    .s_axi_bid(unused_bid),
    .s_axi_bresp(unused_bresp),
    .s_axi_bvalid(unused_bvalid),
    .s_axi_bready(1'b1),
    .s_axi_arid('0),
    .s_axi_araddr('0),
    .s_axi_arlen('0),
    .s_axi_arsize('0),
    .s_axi_arburst('0),
    .s_axi_arvalid(1'b0),
    .s_axi_arready(unused_arready),
    .s_axi_rid(unused_rid),
    .s_axi_rdata(unused_rdata),
    .s_axi_rresp(unused_rresp),
    .s_axi_rlast(unused_rlast),
    .s_axi_rvalid(unused_rvalid),
    .s_axi_rready(1'b1)
  );
endmodule
