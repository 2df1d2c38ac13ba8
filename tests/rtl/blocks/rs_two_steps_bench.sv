// rs_mod_mul_two_steps, its modulus in one cycle, and the latency that the package states.
module rs_two_steps_bench
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 32,
  parameter int unsigned StepBits = 17
) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] p_o,
  output logic [7:0]       latency_o
);
  logic [Width-1:0] q [TwoStepsModuli];
  for (genvar i = 0; i < TwoStepsModuli; i++) begin : gen_q
    rs_delay #(
      .Width(Width),
      .Depth(two_steps_modulus_time(i))
    ) u_q (
      .clk_i,
      .d_i(q_i),
      .d_o(q[i])
    );
  end
  rs_mod_mul_two_steps #(.Width(Width), .StepBits(StepBits)) u_mul (
    .clk_i, .a_i, .b_i, .q_i(q), .p_o
  );
  assign latency_o = 8'(mod_mul_two_steps_latency());
endmodule
