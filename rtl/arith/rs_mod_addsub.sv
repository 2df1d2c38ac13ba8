// Modular addition or subtraction, chosen each cycle.
//
//   s_o = sub_i ? a_i - b_i mod q_i : a_i + b_i mod q_i      0 <= a_i, b_i, s_o < q_i < 2^Width
//
// One result a cycle, latency rs_arith_pkg::mod_addsub_latency(): one adder a stage. q_i belongs to
// the operands of the cycle before. Cost: two adders of Width + 1 bits.
module rs_mod_addsub #(
  parameter int unsigned Width = 48
) (
  input  logic             clk_i,
  input  logic             sub_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] s_o
);
  // The raw sum is in [0, 2q - 1) after an addition and in (-q, q) after a subtraction. Then q is
  // subtracted if the sum is at least q, or added if the difference is negative.
  //
  // Each step is one adder. To subtract: invert the operand, carry-in 1.
  logic [Width:0]   raw_d, raw_q, corrected;
  logic             sub_q, keep;
  logic [Width-1:0] s_q;

  assign raw_d = (Width + 1)'(
      ({1'b0, a_i, 1'b1} + {{(Width + 1){sub_i}} ^ {1'b0, b_i}, sub_i}) >> 1);
  assign corrected = (Width + 1)'(
      ({raw_q, 1'b1} + {{(Width + 1){!sub_q}} ^ {1'b0, q_i}, !sub_q}) >> 1);
  assign keep = sub_q ? !raw_q[Width] : corrected[Width];

  always_ff @(posedge clk_i) begin
    raw_q <= raw_d;
    sub_q <= sub_i;
    s_q   <= keep ? raw_q[Width-1:0] : corrected[Width-1:0];
  end
  assign s_o = s_q;
endmodule
