// Montgomery's modular product for NTT primes, whose modulus travels with the operands.
//
//   p_o = a_i * b_i * 2^-Width mod q_i      0 <= p_o < q_i
//
// q_i is a prime that is 1 modulo 2^StepBits, below 2^Width, and may be another one in each cycle.
// Both operands are below 2^Width and at least one of them below q_i. With b_i = b * 2^Width mod
// q_i the result is a_i * b mod q_i.
//
// The product's low word is divided by 2^Width in steps of StepBits bits, each a product of that
// many bits of the number with the upper bits of q_i (rs_scale_step, with its bounds): as q_i is 1
// modulo 2^StepBits, no constant 1/q_i is multiplied, and none is needed. The result is the
// product's high word, which is below q_i, less that.
//
// One result a cycle, latency rs_arith_pkg::mod_mul_montgomery_latency(Width, StepBits), at most
// one adder a stage. Cost: the DSPs of rs_mul, and one for each step and begun 26 bits of q_i above
// StepBits: 7 with 30 bits in steps of 13.
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
  localparam int unsigned Steps = montgomery_steps(Width, StepBits);
  localparam int unsigned LastBits = Width - (Steps - 1) * StepBits;

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

  // q[i] is the modulus of the operands that stand at step i, a cycle late: that is when a step,
  // and the last addition, take it.
  logic [Width-1:0] q [Steps+1];
  rs_delay #(
    .Width(Width),
    .Depth(mul_latency() + 1)
  ) u_delay_q (
    .clk_i,
    .d_i(q_i),
    .d_o(q[0])
  );

  logic [Width-1:0] n [Steps+1];
  assign n[0] = '0;
  for (genvar i = 0; i < Steps; i++) begin : gen_step
    localparam int unsigned Bits = (i == Steps - 1) ? LastBits : StepBits;
    logic [Bits-1:0] digit;
    rs_delay #(
      .Width(Bits),
      .Depth(i * scale_step_latency())
    ) u_digit (
      .clk_i,
      .d_i(low[i*StepBits+:Bits]),
      .d_o(digit)
    );
    rs_scale_step #(
      .Width(Width),
      .OneBits(StepBits),
      .StepBits(Bits)
    ) u_step (
      .clk_i,
      .n_i(n[i]),
      .digit_i(digit),
      .q_i(q[i]),
      .index_i('0),
      .n_o(n[i+1])
    );
    rs_delay #(
      .Width(Width),
      .Depth(scale_step_latency())
    ) u_q (
      .clk_i,
      .d_i(q[i]),
      .d_o(q[i+1])
    );
  end

  logic [Width-1:0] high_late;
  rs_delay #(
    .Width(Width),
    .Depth(Steps * scale_step_latency())
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
    .b_i(n[Steps]),
    .q_i(q[Steps]),
    .s_o(p_o)
  );
endmodule
