// Products added up, by one DSP48E2.
//
//   p_o = 2^RoundBit + the sum of x_i * y_i from the last first_i on
//
// Operands are without sign; a RoundBit of -1 adds nothing. One product a cycle; first_i enters one
// cycle after the operands that begin a sum. p_o comes three cycles after the last operands of its
// sum, and the next ones replace it. Sums stay below 2^47. All registers and the adder are the
// slice's own (A, B, M, P, and its operation mode's), so that it needs no LUT and no flip-flop
// outside it where XWidth <= 26 and YWidth <= 17.
module rs_mul_accumulate
  import rs_arith_pkg::*;
#(
  parameter int unsigned XWidth = 26,
  parameter int unsigned YWidth = 17,
  parameter int          RoundBit = -1
) (
  input  logic              clk_i,
  input  logic              first_i,
  input  logic [XWidth-1:0] x_i,
  input  logic [YWidth-1:0] y_i,
  output logic [DspSum-1:0] p_o
);
  if (XWidth > DspLong || YWidth > DspShort) begin : gen_bad_width
    $error("rs_mul_accumulate: %0d x %0d bits do not fit a DSP", XWidth, YWidth);
  end

  localparam logic [DspSum-1:0] Initial = (RoundBit < 0) ? '0 : DspSum'(1) << RoundBit;

  logic [XWidth-1:0] x_q;
  logic [YWidth-1:0] y_q;
  logic [XWidth+YWidth-1:0] m_q;
  logic [DspSum-1:0] p_q;
  logic first_q;
  always_ff @(posedge clk_i) begin
    x_q     <= x_i;
    y_q     <= y_i;
    m_q     <= (XWidth + YWidth)'(x_q) * (XWidth + YWidth)'(y_q);
    first_q <= first_i;
    p_q     <= DspSum'(m_q) + (first_q ? Initial : p_q);
  end
  assign p_o = p_q;
endmodule
