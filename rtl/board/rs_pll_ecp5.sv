// Clock of another frequency, by an EHXPLLL of Lattice's ECP5.
//
//   clk_o has FeedbackDivider / InputDivider times the frequency of clk_i, once locked_o is high
//
// The PLL's own oscillator runs at OutputDivider times the frequency of clk_o, 400 to 800 MHz. The
// flow replaces this module by the PLL (python/ringsmith/hdl/ecp5/cells.v); a simulator sees clk_i
// itself.
module rs_pll_ecp5 #(
  parameter int unsigned InputDivider = 1,
  parameter int unsigned FeedbackDivider = 4,
  parameter int unsigned OutputDivider = 6
) (
  input  logic clk_i,
  output logic clk_o,
  output logic locked_o
);
  if (InputDivider < 1 || InputDivider > 128 || FeedbackDivider < 1 || FeedbackDivider > 128 ||
      OutputDivider < 1 || OutputDivider > 128) begin : gen_bad_divider
    $error("rs_pll_ecp5: dividers %0d, %0d and %0d are not all 1 to 128", InputDivider,
           FeedbackDivider, OutputDivider);
  end
  assign clk_o    = clk_i;
  assign locked_o = 1'b1;
endmodule
