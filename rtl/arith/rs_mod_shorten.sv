// Shortens a word to Width bits without changing its residue modulo a prime q = 2^b - s.
//
//   y_o = x_i mod q, or that and a multiple of q      0 <= x_i < 2^FromWidth, 0 <= y_o < 2^Width
//
// The modulus ports hold still from the cycle in which a word enters until it leaves:
//
//   scaled_i      s * 2^(Width - b), as the words of rs_mod_mul_folded have it: 2^Width modulo q
//   correction_i  a multiple of q, modulo 2^Width: scaled_i where that is positive, for
//                 -(2^Width - scaled_i); 2^(Width-1) - scaled_i / 2 where it is negative
//
//   y = low(x) + high(x) scaled             fold the bits from Width on
//   y + correction, where y is outside 0 to 2^Width - 1
//
// One word a cycle, latency rs_arith_pkg::mod_shorten_latency(). A word that is short enough comes
// out as it is. docs/reference/arithmetic.md has the bounds. Cost: one DSP slice, which adds the
// lowest 46 bits, and an adder of Width bits.
module rs_mod_shorten
  import rs_arith_pkg::*;
#(
  parameter  int unsigned Width = 54,
  parameter  int unsigned FromWidth = 60,
  localparam int unsigned ScaledBits = folded_scaled_bits(Width)
) (
  input  logic                       clk_i,
  input  logic [FromWidth-1:0]       x_i,
  input  logic signed [ScaledBits:0] scaled_i,
  input  logic [Width-1:0]           correction_i,
  output logic [Width-1:0]           y_o
);
  localparam int unsigned HighBits = FromWidth - Width;
  localparam int unsigned Part = (Width - 2 < 46) ? Width - 2 : 46;  // of a sum, in the slice

  if (FromWidth <= Width || !shortens(FromWidth, Width)) begin : gen_bad_width
    $error("rs_mod_shorten: %0d bits from %0d: the product does not fit a DSP, or one correction",
           Width, FromWidth);
  end

  logic [Width-1:0] low_q;
  always_ff @(posedge clk_i) low_q <= x_i[Width-1:0];
  logic signed [DspSum-1:0] sum;
  rs_mul_add #(
    .XWidth(ScaledBits + 1),
    .YWidth(HighBits + 1)
  ) u_fold (
    .clk_i,
    .x_i(scaled_i),
    .y_i({1'b0, x_i[FromWidth-1:Width]}),
    .c_i(DspSum'(low_q[Part-1:0])),
    .p_o(sum)
  );

  // The bits above the slice's. The last of them tells whether y is a word.
  logic [Width-Part-1:0] above;
  logic [Width-Part:0] above_q;
  logic [Part-1:0] part_q;
  rs_delay #(
    .Width(Width - Part),
    .Depth(2)
  ) u_above (
    .clk_i,
    .d_i(low_q[Width-1:Part]),
    .d_o(above)
  );
  logic [Width-1:0] y_q;
  always_ff @(posedge clk_i) begin
    above_q <= {1'b0, above} + (Width - Part + 1)'(sum >>> Part);
    part_q  <= sum[Part-1:0];
    y_q     <= {above_q[Width-Part-1:0], part_q} + (above_q[Width-Part] ? correction_i : '0);
  end
  assign y_o = y_q;
endmodule
