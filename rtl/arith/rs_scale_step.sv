// One step of Montgomery's reduction, modulo a prime q that is 1 modulo 2^OneBits, of negated
// numbers.
//
//   n_o = (n_i - digit_i + r * q_i) / 2^StepBits       r = low StepBits bits of digit_i - n_i
//
// StepBits <= OneBits: 1/q is 1 modulo 2^StepBits, so r needs no product. With q = 1 + 2^StepBits h
// the result is r*h - floor((digit_i - n_i) / 2^StepBits). 0 <= n_i < q gives 0 <= n_o < q.
//
// One result a cycle, latency rs_arith_pkg::scale_step_latency(), at most one adder a stage. q_i
// belongs to the operands of the cycle before. Cost: three adders, and rs_scale_product.
module rs_scale_step
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned OneBits = 14,
  parameter int unsigned StepBits = OneBits
) (
  input  logic                clk_i,
  input  logic [Width-1:0]    n_i,
  input  logic [StepBits-1:0] digit_i,
  input  logic [Width-1:0]    q_i,
  output logic [Width-1:0]    n_o
);
  if (StepBits < 1 || StepBits > OneBits || OneBits > DspShort || OneBits >= Width)
  begin : gen_bad_step
    $error("rs_scale_step: StepBits = %0d <= OneBits = %0d <= %0d, and < Width = %0d, is false",
           StepBits, OneBits, DspShort, Width);
  end

  logic signed [Width:0] x_q;
  logic signed [Width:0] upper_q, upper2_q;
  logic [StepBits-1:0]   r;
  assign r = x_q[StepBits-1:0];
  always_ff @(posedge clk_i) begin
    x_q      <= (Width + 1)'(digit_i) - {1'b0, n_i};
    upper_q  <= x_q >>> StepBits;
    upper2_q <= upper_q;
  end

  // r*h, in two summands.
  logic [Width:0] near, far;
  rs_scale_product #(
    .Width(Width),
    .OneBits(OneBits),
    .StepBits(StepBits)
  ) u_product (
    .clk_i,
    .r_i(r),
    .q_i,
    .near_o(near),
    .far_o(far)
  );

  logic [Width:0]   sum_q;
  logic [Width-1:0] n_q;
  always_ff @(posedge clk_i) begin
    sum_q <= near - upper2_q;
    n_q   <= Width'(sum_q + far);
  end
  assign n_o = n_q;
endmodule
