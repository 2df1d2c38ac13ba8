// rs_mod_mul_barrett with a modulus that travels, and the latency that the package states.
module rs_travelling_bench
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 30
) (
  input  logic                       clk_i,
  input  logic [Width-1:0]           a_i,
  input  logic [Width-1:0]           b_i,
  input  logic [Width-1:0]           q_i,
  input  logic [Width-1:0]           mu_i,
  input  logic [$clog2(Width+1)-1:0] shift_i,
  output logic [Width-1:0]           p_o,
  output logic [7:0]                 latency_o
);
  rs_mod_mul_barrett #(.Width(Width), .Travels(1'b1)) u_mul (
    .clk_i, .a_i, .b_i, .q_i, .mu_i, .shift_i, .p_o
  );
  assign latency_o = 8'(mod_mul_barrett_latency());
endmodule
