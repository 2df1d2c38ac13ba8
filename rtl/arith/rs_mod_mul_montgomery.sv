// Montgomery's modular product for NTT primes, whose modulus travels with the operands.
//
//   p_o = a_i * b_i * 2^-Width mod q_i      0 <= p_o < q_i
//
// q_i is a prime that is 1 modulo 2^StepBits, below 2^Width, and may be another one in each cycle.
// Both operands are below 2^Width and at least one of them below q_i. With b_i = b * 2^Width mod
// q_i the result is a_i * b mod q_i.
//
// The product's low word is divided by 2^Width in steps of StepBits bits, each a product of that
// many bits of the number with the upper bits of q_i (rs_scale_steps): as q_i is 1
// modulo 2^StepBits, the constant 1/q_i is not needed. The result is the product's high word,
// which is below q_i, minus that quotient.
//
// One result a cycle, latency rs_arith_pkg::mod_mul_montgomery_latency(Width, StepBits), at most
// one adder a stage. Cost: the DSPs of rs_mul, and one for each step and each 26 bits or fewer of
// q_i above StepBits: 7 with 30 bits in steps of 13.
module rs_mod_mul_montgomery
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 30,
  parameter int unsigned StepBits = 13
) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] p_o
);
  logic [Width-1:0] low, high;
  rs_mul #(
    .Width(Width)
  ) u_mul (
    .clk_i,
    .a_i,
    .b_i,
    .lo_o(low),
    .hi_o(high)
  );

  // The modulus, a cycle later: steps and the last addition use it then.
  logic [Width-1:0] q_low, q_n, n;
  rs_delay #(
    .Width(Width),
    .Depth(mul_latency() + 1)
  ) u_delay_q (
    .clk_i,
    .d_i(q_i),
    .d_o(q_low)
  );
  rs_scale_steps #(
    .Width(Width),
    .StepBits(StepBits)
  ) u_steps (
    .clk_i,
    .low_i(low),
    .q_i(q_low),
    .n_o(n),
    .q_o(q_n)
  );

  logic [Width-1:0] high_late;
  rs_delay #(
    .Width(Width),
    .Depth(scale_steps(Width, StepBits) * scale_step_latency())
  ) u_high (
    .clk_i,
    .d_i(high),
    .d_o(high_late)
  );
  rs_mod_addsub #(
    .Width(Width)
  ) u_subtract (
    .clk_i,
    .sub_i(1'b1),
    .a_i(high_late),
    .b_i(n),
    .q_i(q_n),
    .s_o(p_o)
  );
endmodule
