// Divides a number's low bits away, modulo a prime q that is 1 modulo 2^StepBits: a chain of
// rs_scale_step.
//
//   n_o = -low_i * 2^-LowBits mod q_i      0 <= n_o < q_i (bounds: docs/reference/arithmetic.md)
//
// One result a cycle, latency rs_arith_pkg::scale_steps(LowBits, StepBits) * scale_step_latency().
// q_i is the modulus of the low_i of the cycle before, and q_o that of the n_o of the cycle before.
// Cost: the steps, and delays of the digits and the modulus.
module rs_scale_steps
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned StepBits = 14,
  parameter int unsigned LowBits = Width
) (
  input  logic               clk_i,
  input  logic [LowBits-1:0] low_i,
  input  logic [  Width-1:0] q_i,
  output logic [  Width-1:0] n_o,
  output logic [  Width-1:0] q_o
);
  localparam int unsigned Steps = scale_steps(LowBits, StepBits);
  localparam int unsigned LastBits = LowBits - (Steps - 1) * StepBits;

  logic [Width-1:0] n [Steps+1];
  logic [Width-1:0] q [Steps+1];
  assign n[0] = '0;
  assign q[0] = q_i;
  for (genvar i = 0; i < Steps; i++) begin : gen_step
    // The last digit may be shorter: the step then divides by less.
    localparam int unsigned DigitBits = (i == Steps - 1) ? LastBits : StepBits;
    logic [DigitBits-1:0] digit;
    rs_delay #(
      .Width(DigitBits),
      .Depth(i * scale_step_latency())
    ) u_digit (
      .clk_i,
      .d_i(low_i[i*StepBits+:DigitBits]),
      .d_o(digit)
    );
    rs_scale_step #(
      .Width(Width),
      .OneBits(StepBits),
      .StepBits(DigitBits)
    ) u_step (
      .clk_i,
      .n_i(n[i]),
      .digit_i(digit),
      .q_i(q[i]),
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
  assign n_o = n[Steps];
  assign q_o = q[Steps];
endmodule
