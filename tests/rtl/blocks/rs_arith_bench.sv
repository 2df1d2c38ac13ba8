// All arithmetic blocks of one width in parallel, so that a test builds them once. Latencies come
// out as the package states them.
module rs_arith_bench
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48
) (
  input  logic                       clk_i,
  input  logic                       sub_i,
  input  logic [Width-1:0]           a_i,
  input  logic [Width-1:0]           b_i,
  input  logic [Width-1:0]           q_i,
  input  logic [Width-1:0]           mu_i,
  input  logic [$clog2(Width+1)-1:0] shift_i,
  output logic [Width-1:0]           mul_lo_o,
  output logic [Width-1:0]           mul_hi_o,
  output logic [Width-1:0]           mul_high_only_o,
  output logic [Width+1:0]           mul_low_o,
  output logic [Width-1:0]           mod_mul_o,
  output logic [Width-1:0]           mod_addsub_o,
  output logic [Width-1:0]           mod_halve_o,
  output logic [7:0]                 mul_latency_o,
  output logic [7:0]                 mul_low_latency_o,
  output logic [7:0]                 mod_mul_latency_o,
  output logic [7:0]                 mod_addsub_latency_o,
  output logic [7:0]                 mod_halve_latency_o
);
  logic [Width-1:0] unused_lo;

  rs_mul #(.Width(Width)) u_mul (.clk_i, .a_i, .b_i, .lo_o(mul_lo_o), .hi_o(mul_hi_o));
  rs_mul #(.Width(Width), .HighOnly(1'b1)) u_mul_high_only (
    .clk_i, .a_i, .b_i, .lo_o(unused_lo), .hi_o(mul_high_only_o)
  );
  rs_mul_low #(.Width(Width)) u_mul_low (.clk_i, .a_i, .b_i, .p_o(mul_low_o));
  rs_mod_mul #(.Width(Width)) u_mod_mul (
    .clk_i, .a_i, .b_i, .q_i, .mu_i, .shift_i, .index_i('0), .p_o(mod_mul_o)
  );
  rs_mod_addsub #(.Width(Width)) u_mod_addsub (
    .clk_i, .sub_i, .a_i, .b_i, .q_i, .s_o(mod_addsub_o)
  );
  rs_mod_halve #(.Width(Width)) u_mod_halve (.clk_i, .x_i(a_i), .q_i, .h_o(mod_halve_o));

  assign mul_latency_o        = 8'(mul_latency());
  assign mul_low_latency_o    = 8'(mul_low_latency());
  assign mod_mul_latency_o    = 8'(mod_mul_latency(ReductionBarrett));
  assign mod_addsub_latency_o = 8'(mod_addsub_latency());
  assign mod_halve_latency_o  = 8'(mod_halve_latency());
endmodule
