// An accelerator of the RPAU architecture behind its register block, on a serial line.
//
// For boards whose only link to the host is a UART: rs_rpau_shell, whose registers rs_uart_bridge
// reaches by frames (docs/guide/uart.md), and whose data path is left unused. rst_ni is synchronous
// and active low; rx_i may come straight from its pin.
module rs_rpau_uart
  import rs_rpau_pkg::host_words;
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
  parameter  int unsigned ModulusBanks = 1,
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
  parameter  int unsigned Converters = 0,
  parameter  int unsigned Conversions = 0,
  parameter  int unsigned CoreMultipliers = 2,
  parameter  int unsigned KeyStream = 0,
  // end of generated
  parameter  int unsigned ClockHz = 48_000_000,
  parameter  int unsigned Baud = 1_000_000,
  parameter  int unsigned SilenceCycles = ClockHz / 50
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o
);
  axil_request_t  axil_request;
  axil_response_t axil_response;
  rs_uart_bridge #(
    .ClockHz(ClockHz),
    .Baud(Baud),
    .SilenceCycles(SilenceCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .axil_o(axil_request),
    .axil_i(axil_response)
  );

  axi_request_t  no_request;
  axi_response_t unused_response;
  assign no_request = '{b_ready: 1'b1, r_ready: 1'b1, default: '0};
  localparam int unsigned HostWords = host_words(2 * Cores);
  logic [Width-1:0] no_words [HostWords];
  logic [Width-1:0] unused_words [HostWords];
  dma_response_t    unused_dma;
  assign no_words = '{default: '0};
  rs_rpau_shell #(
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
    .ModulusBanks(ModulusBanks),
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
    .HopCycles(HopCycles),
    .Converters(Converters),
    .Conversions(Conversions),
    .CoreMultipliers(CoreMultipliers),
    .KeyStream(KeyStream)
    // end of generated
  ) u_device (
    .clk_i,
    .rst_ni,
    .axil_i(axil_request),
    .axil_o(axil_response),
    .axi_i(no_request),
    .axi_o(unused_response),
    .dma_i('0),
    .dma_wdata_i(no_words),
    .dma_o(unused_dma),
    .dma_rdata_o(unused_words)
  );
endmodule
