// rs_mod_mul_montgomery with the latency that the package states.
module rs_montgomery_bench
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 30,
  parameter int unsigned StepBits = 13
) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] p_o,
  output logic [7:0]       latency_o
);
  rs_mod_mul_montgomery #(.Width(Width), .StepBits(StepBits)) u_mul (
    .clk_i, .a_i, .b_i, .q_i, .p_o
  );
  assign latency_o = 8'(mod_mul_montgomery_latency(Width, StepBits));
endmodule
