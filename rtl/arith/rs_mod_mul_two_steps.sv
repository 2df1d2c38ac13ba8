// Montgomery's modular product of words of 18 to 34 bits in two steps, for NTT primes.
//
//   p_o = a_i * b_i * 2^-Width mod q      0 <= p_o < q
//
// q is a prime that is 1 modulo 2^StepBits, Width / 2 <= StepBits <= 17, and may be another one in
// each cycle; its user delays it, once for all multipliers that share it. Both operands are below
// 2^Width and at least one of them below q. With q = 1 + 2^StepBits * h, the product z = (high,
// second, first) of words, Second = Width - StepBits bits and StepBits bits:
//
//   n = first * h                            = -first / 2^StepBits
//   x = n - second,  -r = the number above -2^Second and at most 0 that is x mod 2^Second
//   p = high - (x + r * q) / 2^Second        in (-q, q), corrected
//
// (x + r) / 2^Second is x >>> Second, plus 1 unless r is 0. The remaining term r * (q - 1) /
// 2^Second is a product; its DSP also adds high.
//
// One result a cycle, latency rs_arith_pkg::mod_mul_two_steps_latency(). q_i[0] comes
// two_steps_modulus_time(0) cycles after the operands, and so on. Cost: six DSP48E2, and three
// adders.
module rs_mod_mul_two_steps
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 32,
  parameter int unsigned StepBits = 17
) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  input  logic [Width-1:0] q_i [TwoStepsModuli],
  output logic [Width-1:0] p_o
);
  localparam int unsigned Second = Width - StepBits;
  if (!fits_two_steps(Width, StepBits)) begin : gen_bad_step
    $error("rs_mod_mul_two_steps: Width = %0d is no word of two steps of StepBits = %0d", Width,
           StepBits);
  end

  // ---- z ----------------------------------------------------------------------------------------
  localparam int unsigned HighWidth = 2 * (Width - DspShort);
  logic [ DspShort-1:0] low, low_late, middle, middle_q;
  logic [HighWidth-1:0] upper;
  rs_mul_cascade #(
    .Width(Width)
  ) u_mul (
    .clk_i,
    .a_i,
    .b_i,
    .low_o(low),
    .middle_o(middle),
    .high_o(upper)
  );
  rs_delay #(.Width(DspShort), .Depth(2)) u_low (.clk_i, .d_i(low), .d_o(low_late));
  always_ff @(posedge clk_i) middle_q <= middle;
  logic [Width-1:0] word, high;
  assign word = Width'({middle, low_late});
  assign high = Width'({upper, middle_q} >> (Width - DspShort));

  // ---- first step -------------------------------------------------------------------------------
  logic [Width-1:0] n;
  rs_mul_block #(
    .WidthA(StepBits),
    .WidthB(Second)
  ) u_first (
    .clk_i,
    .a_i(low[StepBits-1:0]),
    .b_i(q_i[0][Width-1:StepBits]),
    .p_o(n)
  );

  // ---- second step, and high --------------------------------------------------------------------
  logic signed [Width:0] x_q, sum_q;
  logic                  some;  // r is not 0
  assign some = x_q[Second-1:0] != '0;
  always_ff @(posedge clk_i) begin
    x_q   <= {1'b0, n} - (Width + 1)'(word[Width-1:StepBits]);
    sum_q <= (Width + 1)'(
        ({1'b0, high, 1'b1} + {~(Width + 1)'(x_q >>> Second), !some}) >> 1);
  end
  logic signed [DspSum-1:0] difference;
  rs_mul_add #(
    .XWidth(Second + 1),
    .YWidth(StepBits + 1)
  ) u_second (
    .clk_i,
    .x_i({some, x_q[Second-1:0]}),
    .y_i({1'b0, q_i[1][Width-1:Second]}),
    .c_i(DspSum'(sum_q)),
    .p_o(difference)
  );

  // ---- correction: q added where the difference is negative -------------------------------------
  //
  // Written as a subtraction with an extra low bit for the carry-in: synthesis then puts the mask
  // into the adder's LUTs, not in front of them.
  logic [Width-1:0] p_q;
  always_ff @(posedge clk_i) begin
    p_q <= Width'(({difference[Width-1:0], 1'b0} -
                   {~({Width{difference[Width]}} & q_i[2]), 1'b1}) >> 1);
  end
  assign p_o = p_q;
endmodule
