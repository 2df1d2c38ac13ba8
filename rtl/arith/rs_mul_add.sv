// A product and a summand, by one DSP48E2.
//
//   p_o = x_i * y_i + c_i
//
// All are signed. One result a cycle. x_i and y_i enter together, c_i one cycle after them; p_o
// comes three cycles after x_i. All registers and the adder are the slice's own (A, B, C, M and P),
// so that it needs no LUT and no flip-flop outside it where XWidth <= 27 and YWidth <= 18.
module rs_mul_add
  import rs_arith_pkg::*;
#(
  parameter int unsigned XWidth = 27,
  parameter int unsigned YWidth = 18
) (
  input  logic                     clk_i,
  input  logic signed [XWidth-1:0] x_i,
  input  logic signed [YWidth-1:0] y_i,
  input  logic signed [DspSum-1:0] c_i,
  output logic signed [DspSum-1:0] p_o
);
  if (XWidth > DspLong + 1 || YWidth > DspShort + 1) begin : gen_bad_width
    $error("rs_mul_add: %0d x %0d bits do not fit a DSP", XWidth, YWidth);
  end

  logic signed [XWidth-1:0] x_q;
  logic signed [YWidth-1:0] y_q;
  logic signed [XWidth+YWidth-1:0] m_q;
  logic signed [DspSum-1:0] c_q, p_q;
  always_ff @(posedge clk_i) begin
    x_q <= x_i;
    y_q <= y_i;
    m_q <= x_q * y_q;
    c_q <= c_i;
    p_q <= DspSum'(m_q) + c_q;
  end
  assign p_o = p_q;
endmodule
