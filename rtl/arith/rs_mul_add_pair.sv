// A product and a summand, by two DSP48E2 in cascade.
//
//   high_o * 2^LowBits + low_o = x_i * y_i + c_i      0 <= low_o < 2^LowBits, high_o signed
//
// x_i and y_i are signed, and so is c_i. One result a cycle. x_i and y_i enter together, c_i
// Stages cycles after them; low_o comes Stages + 2 cycles after x_i, high_o one cycle after low_o
// (rs_arith_pkg::pair_latency).
//
// Both slices multiply x_i, one with the low LowBits bits of y_i, the other with the rest. All
// registers and adders here are the slices' own (A, B, C, M, P, and PCIN shifted by 17), so that
// no other LUT and no other flip-flop is needed where LowBits is 17, XWidth <= 27 and
// YWidth <= 35; Stages = 2 takes one operand register more than a slice has. Both products and
// both sums fit the slice's 48 bits: |c_i| < 2^46.
module rs_mul_add_pair
  import rs_arith_pkg::*;
#(
  parameter int unsigned XWidth = 27,
  parameter int unsigned YWidth = 35,
  parameter int unsigned LowBits = DspShort,
  parameter int unsigned Stages = 1  // 1 or 2: registers in front of the low slice's multiplier
) (
  input  logic                       clk_i,
  input  logic signed [  XWidth-1:0] x_i,
  input  logic signed [  YWidth-1:0] y_i,
  input  logic signed [DspSum-1:0]   c_i,
  output logic        [ LowBits-1:0] low_o,
  output logic signed [DspSum-1:0]   high_o
);
  localparam int unsigned HighBits = YWidth - LowBits;

  if (XWidth > DspLong + 1 || LowBits > DspShort || YWidth <= LowBits ||
      HighBits > DspShort + 1) begin : gen_bad_width
    $error("rs_mul_add_pair: %0d x %0d bits, cut at %0d, do not fit two DSPs", XWidth, YWidth,
           LowBits);
  end

  logic signed [          XWidth-1:0] x_q[Stages+1];
  logic signed [           LowBits:0] y_low_q[Stages];
  logic signed [        HighBits-1:0] y_high_q[Stages+1];
  logic signed [    XWidth+LowBits:0] m_low_q;
  logic signed [XWidth+HighBits-1:0] m_high_q;
  logic signed [DspSum-1:0] c_q, p_low_q, p_high_q;

  always_ff @(posedge clk_i) begin
    x_q[0]      <= x_i;
    y_low_q[0]  <= {1'b0, y_i[LowBits-1:0]};
    y_high_q[0] <= y_i[YWidth-1:LowBits];
    for (int unsigned i = 1; i < Stages; i++) y_low_q[i] <= y_low_q[i-1];
    for (int unsigned i = 1; i <= Stages; i++) begin
      x_q[i]      <= x_q[i-1];
      y_high_q[i] <= y_high_q[i-1];
    end

    m_low_q  <= x_q[Stages-1] * y_low_q[Stages-1];
    c_q      <= c_i;
    p_low_q  <= DspSum'(m_low_q) + c_q;

    m_high_q <= x_q[Stages] * y_high_q[Stages];
    p_high_q <= (p_low_q >>> LowBits) + DspSum'(m_high_q);
  end
  assign low_o  = p_low_q[LowBits-1:0];
  assign high_o = p_high_q;
endmodule
