// An accelerator of the RPAU architecture on the board ULX3S, behind its serial line.
//
// A PLL makes the accelerator's clock of the board's 25 MHz; the reset lasts until it has locked.
// The host reaches the registers through the board's USB serial chip (rs_rpau_uart).
// docs/guide/pico.md has the pins.
module rs_board_ulx3s #(
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
  parameter  int unsigned ClockHz = 75_000_000,  // what the PLL makes of 25 MHz
  parameter  int unsigned InputDivider = 1,      // of the PLL, and the next two
  parameter  int unsigned FeedbackDivider = 3,
  parameter  int unsigned OutputDivider = 8,
  parameter  int unsigned Baud = 1_000_000
) (
  input  logic clk_25mhz_i,
  input  logic ftdi_txd_i,    // what the host sends
  output logic ftdi_rxd_o,    // what it receives
  output logic wifi_gpio0_o,  // high: the radio module leaves the FPGA alone
  output logic led_o          // the clock runs
);
  logic clk, locked;
  rs_pll_ecp5 #(
    .InputDivider(InputDivider),
    .FeedbackDivider(FeedbackDivider),
    .OutputDivider(OutputDivider)
  ) u_pll (
    .clk_i(clk_25mhz_i),
    .clk_o(clk),
    .locked_o(locked)
  );
  assign wifi_gpio0_o = 1'b1;
  assign led_o        = locked;

  // The lock signal is asynchronous: two registers synchronise it.
  logic [1:0] locked_q;
  always_ff @(posedge clk) locked_q <= {locked_q[0], locked};

  rs_rpau_uart #(
    .ClockHz(ClockHz),
    .Baud(Baud),
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
  ) u_accelerator (
    .clk_i(clk),
    .rst_ni(locked_q[1]),
    .rx_i(ftdi_txd_i),
    .tx_o(ftdi_rxd_o)
  );
endmodule
