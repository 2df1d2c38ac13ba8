// An accelerator of the RPAU architecture on the board ULX3S, behind its serial line.
//
// A PLL makes the accelerator's clock of the board's 25 MHz; the reset lasts until it has locked.
// The host reaches the registers through the board's USB serial chip (rs_rpau_uart).
// docs/guide/pico.md has the pins.
module rs_board_ulx3s #(
  parameter  rs_rpau_pkg::rpau_cfg_t Cfg = rs_rpau_pkg::DefaultCfg,
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
  (* async_reg = "true" *)
  logic [1:0] locked_q;
  always_ff @(posedge clk) locked_q <= {locked_q[0], locked};

  rs_rpau_uart #(
    .Cfg(Cfg),
    .ClockHz(ClockHz),
    .Baud(Baud)
  ) u_accelerator (
    .clk_i(clk),
    .rst_ni(locked_q[1]),
    .rx_i(ftdi_txd_i),
    .tx_o(ftdi_rxd_o)
  );
endmodule
