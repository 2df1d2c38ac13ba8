// Modular multiplication by Barrett reduction; the modulus is loaded at run time.
//
//   p_o = a_i * b_i mod q_i      0 <= p_o < q_i
//
// The modulus: odd, of k = shift_i bits (2^(k-1) < q_i < 2^k), MinBits <= k <= Width, with mu_i =
// floor(2^(Width+k) / q_i) - 2^Width. These three hold still from the cycle in which operands enter
// until their result leaves; with Travels they may be others in each cycle. Or q_i = 2^k, k <
// Width, with shift_i = k and mu_i = 0.
//
// The operands: both below 2^Width, and at least one of them below q_i. So b_i = 1 reduces any
// word, and a constant below q_i multiplies a residue of any other modulus; a_i, b_i < q_i is the
// usual case.
//
//   t = floor(a*b / 2^k)
//   e = t + floor(t * mu / 2^Width)      (less than the quotient by at most 3)
//   r = a*b - e*q                        0 <= r < 4q, so its low Width + 2 bits are all there is
//   p = r - {0, 1, 2 or 3} q
//
// One result a cycle, latency rs_arith_pkg::mod_mul_barrett_latency(), at most one adder a stage.
// docs/reference/arithmetic.md proves the bounds. Cost: the DSPs of rs_mul, of its HighOnly form
// and of rs_mul_low; with 27 to 30 bits two each, and adders.
module rs_mod_mul_barrett
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned MinBits = Width / 2,
  parameter bit          Travels = 1'b0
) (
  input  logic                       clk_i,
  input  logic [Width-1:0]           a_i,
  input  logic [Width-1:0]           b_i,
  input  logic [Width-1:0]           q_i,
  input  logic [Width-1:0]           mu_i,
  input  logic [$clog2(Width+1)-1:0] shift_i,
  output logic [Width-1:0]           p_o
);
  localparam int unsigned ShiftWidth = $clog2(Width + 1);
  localparam int unsigned RestWidth = Width + 2;  // of r < 4q
  localparam int unsigned Rows =
      (Width > DspLong && Width <= DspLong + MulRowsMost) ? MulRowsMost : MulRows;

  if (MinBits < Width / 2 || MinBits > Width) begin : gen_bad_min_bits
    $error("rs_mod_mul_barrett: MinBits = %0d is outside Width / 2 to Width = %0d", MinBits, Width);
  end

  // The modulus where it is used: at the shift, the quotient, the remainder, and its correction.
  localparam int unsigned ToShift = Travels ? mul_latency() - 1 : 0;
  localparam int unsigned ToQuotient = Travels ? mul_latency() + 2 : 0;
  localparam int unsigned ToRemainder = Travels ? 2 * mul_latency() + 3 : 0;
  localparam int unsigned FromRemainder = Travels ? mul_low_latency() : 0;
  localparam int unsigned Once = Travels ? 1 : 0;
  logic [ShiftWidth-1:0] shift;
  logic [Width-1:0]      mu, q_remainder, q_threefold, q_correction;
  rs_delay #(.Width(ShiftWidth), .Depth(ToShift)) u_shift (.clk_i, .d_i(shift_i), .d_o(shift));
  rs_delay #(.Width(Width), .Depth(ToQuotient)) u_mu (.clk_i, .d_i(mu_i), .d_o(mu));
  rs_delay #(.Width(Width), .Depth(ToRemainder)) u_q_remainder (
    .clk_i, .d_i(q_i), .d_o(q_remainder)
  );
  rs_delay #(.Width(Width), .Depth(FromRemainder)) u_q_threefold (
    .clk_i, .d_i(q_remainder), .d_o(q_threefold)
  );
  rs_delay #(.Width(Width), .Depth(Once)) u_q_correction (
    .clk_i, .d_i(q_threefold), .d_o(q_correction)
  );

  // Values that depend on the modulus only.
  logic [ShiftWidth-1:0] left_q;  // shifting a*b left by Width - k instead of right by k
  logic [RestWidth-1:0]  q3_q;
  always_ff @(posedge clk_i) begin
    left_q <= ShiftWidth'(Width) - shift;
    q3_q   <= RestWidth'(q_threefold) + {1'b0, q_threefold, 1'b0};
  end

  // a*b
  logic [Width-1:0] x_lo, x_hi;
  rs_mul #(
    .Width(Width),
    .Rows(Rows)
  ) u_mul_x (
    .clk_i,
    .a_i,
    .b_i,
    .lo_o(x_lo),
    .hi_o(x_hi)
  );

  // t, the upper word of a*b << (Width - k): first in steps of four, then by the rest.
  logic [ShiftWidth-1:0] coarse;
  logic [1:0]            fine;
  logic [Width-1:0]      coarse_q, t_q;
  logic [2:0]            next_q;  // the three bits that the fine shift can still bring up
  assign coarse = {left_q[ShiftWidth-1:2], 2'b00};
  rs_delay #(.Width(2), .Depth(Once)) u_fine (.clk_i, .d_i(left_q[1:0]), .d_o(fine));
  always_ff @(posedge clk_i) begin
    coarse_q <= (x_hi << coarse) | (x_lo >> (ShiftWidth'(Width) - coarse));
    next_q   <= 3'((x_lo << coarse) >> (Width - 3));
    t_q      <= (coarse_q << fine) | Width'(next_q >> (2'd3 - fine));
  end

  // e
  logic [Width-1:0] h, t_delayed, e_q;
  rs_mul #(
    .Width(Width),
    .HighOnly(1'b1),
    .Rows(Rows)
  ) u_mul_h (
    .clk_i,
    .a_i(t_q),
    .b_i(mu),
    .lo_o(),
    .hi_o(h)
  );
  rs_delay #(
    .Width(Width),
    .Depth(mul_latency())
  ) u_delay_t (
    .clk_i,
    .d_i(t_q),
    .d_o(t_delayed)
  );
  always_ff @(posedge clk_i) e_q <= t_delayed + h;

  // r
  logic [RestWidth-1:0] eq, x_delayed, r_q;
  rs_mul_low #(
    .Width(Width),
    .OutWidth(RestWidth),
    .Rows(Rows)
  ) u_mul_eq (
    .clk_i,
    .a_i(e_q),
    .b_i(q_remainder),
    .p_o(eq)
  );
  rs_delay #(
    .Width(RestWidth),
    .Depth(2 + mul_latency() + 1 + mul_low_latency())
  ) u_delay_x (
    .clk_i,
    .d_i({x_hi[1:0], x_lo}),
    .d_o(x_delayed)
  );
  always_ff @(posedge clk_i) r_q <= x_delayed - eq;

  // p: subtract q, 2q and 3q in parallel (the top bit says "went below zero"), take the last that
  // fits.
  logic [RestWidth:0] less1_q, less2_q, less3_q;
  logic [Width-1:0]   less0_q, p_q;
  always_ff @(posedge clk_i) begin
    less0_q <= r_q[Width-1:0];
    less1_q <= {1'b0, r_q} - {3'b000, q_correction};
    less2_q <= {1'b0, r_q} - {2'b00, q_correction, 1'b0};
    less3_q <= {1'b0, r_q} - {1'b0, q3_q};
    if (!less3_q[RestWidth]) p_q <= less3_q[Width-1:0];
    else if (!less2_q[RestWidth]) p_q <= less2_q[Width-1:0];
    else if (!less1_q[RestWidth]) p_q <= less1_q[Width-1:0];
    else p_q <= less0_q;
  end
  assign p_o = p_q;
endmodule
