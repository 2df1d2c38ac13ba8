// Behaviour of ECP5's multiplier of 18 by 18 bits with its registers.
//
// After Lattice's sysDSP usage guide for ECP5 (TN1267, FPGA-TN-02205). Each operand may go
// through a register, the product through a pipeline register and an output register; each of
// these has its own clock, enable and reset, chosen among four. An operand is signed where its
// input says so, and that goes through the registers next to it. source_?_i takes the operand
// from the shift chain; sro_?_o is its next link. What is not modelled: the chain's
// C_SHIFT and dynamic sources, the bypass of the multiplier, clocks of double rate.
module rs_ecp5_mult18 #(
  parameter bit UsesA = 1'b0,         // the register is there
  parameter bit UsesB = 1'b0,
  parameter bit UsesPipeline = 1'b0,
  parameter bit UsesOutput = 1'b0,
  parameter bit AsyncReset = 1'b0
) (
  input  logic [17:0] a_i,
  input  logic [17:0] b_i,
  input  logic        signed_a_i,
  input  logic        signed_b_i,
  input  logic        source_a_i,
  input  logic        source_b_i,
  input  logic [17:0] sri_a_i,
  input  logic [17:0] sri_b_i,
  input  logic        clk_a_i,
  input  logic        clk_b_i,
  input  logic        clk_pipeline_i,
  input  logic        clk_output_i,
  input  logic [ 3:0] ce_i,           // of a, b, the pipeline and the output
  input  logic [ 3:0] rst_i,
  output logic [17:0] ro_a_o,
  output logic [17:0] ro_b_o,
  output logic [35:0] p_o,
  output logic        signed_p_o
);
  logic [18:0] a, b;        // with their signs' flags
  logic [36:0] product, piped, out;
  rs_ecp5_register #(
    .Width(19),
    .Uses(UsesA),
    .AsyncReset(AsyncReset)
  ) u_a (
    .clk_i(clk_a_i),
    .ce_i(ce_i[0]),
    .rst_i(rst_i[0]),
    .d_i({signed_a_i, source_a_i ? sri_a_i : a_i}),
    .q_o(a)
  );
  rs_ecp5_register #(
    .Width(19),
    .Uses(UsesB),
    .AsyncReset(AsyncReset)
  ) u_b (
    .clk_i(clk_b_i),
    .ce_i(ce_i[1]),
    .rst_i(rst_i[1]),
    .d_i({signed_b_i, source_b_i ? sri_b_i : b_i}),
    .q_o(b)
  );
  logic signed [36:0] a_whole, b_whole;
  assign a_whole = {{19{a[18] & a[17]}}, a[17:0]};
  assign b_whole = {{19{b[18] & b[17]}}, b[17:0]};
  assign product = {a[18] | b[18], 36'(a_whole * b_whole)};
  rs_ecp5_register #(
    .Width(37),
    .Uses(UsesPipeline),
    .AsyncReset(AsyncReset)
  ) u_pipeline (
    .clk_i(clk_pipeline_i),
    .ce_i(ce_i[2]),
    .rst_i(rst_i[2]),
    .d_i(product),
    .q_o(piped)
  );
  rs_ecp5_register #(
    .Width(37),
    .Uses(UsesOutput),
    .AsyncReset(AsyncReset)
  ) u_output (
    .clk_i(clk_output_i),
    .ce_i(ce_i[3]),
    .rst_i(rst_i[3]),
    .d_i(piped),
    .q_o(out)
  );
  assign ro_a_o     = a[17:0];
  assign ro_b_o     = b[17:0];
  assign p_o        = out[35:0];
  assign signed_p_o = out[36];
endmodule
