// Integer product of two words of 18 to 34 bits, by four DSP48E2 in cascade.
//
//   high_o * 2^34 + middle_o * 2^17 + low_o = a_i * b_i
//
// low_o comes rs_arith_pkg::mul_cascade_low() cycles after the operands, middle_o two cycles after
// low_o, and high_o three. One product a cycle. Cost: no LUT, since the slices do all additions.
// Delays that do not fit the slices' operand registers take 5 * 17 flip-flops.
module rs_mul_cascade
  import rs_arith_pkg::*;
#(
  parameter  int unsigned Width = 32,
  localparam int unsigned HighWidth = 2 * (Width - DspShort)
) (
  input  logic                 clk_i,
  input  logic [    Width-1:0] a_i,
  input  logic [    Width-1:0] b_i,
  output logic [ DspShort-1:0] low_o,
  output logic [ DspShort-1:0] middle_o,
  output logic [HighWidth-1:0] high_o
);
  localparam int unsigned Upper = Width - DspShort;
  if (Width <= DspShort || Width > 2 * DspShort) begin : gen_bad_width
    $error("rs_mul_cascade: Width = %0d is outside 18 to 34", Width);
  end

  // Slices 2 and 3 take their operands one and two cycles later than their own registers delay.
  logic [Width-1:0] a_q, b_q, a2_q, b2_q;
  always_ff @(posedge clk_i) begin
    a_q  <= a_i;
    b_q  <= b_i;
    a2_q <= a_q;
    b2_q <= b_q;
  end

  logic [DspSum-1:0] p [4];
  rs_mul_cascade_slice u_low (
    .clk_i,
    .a_i(a_i[DspShort-1:0]),
    .b_i(b_i[DspShort-1:0]),
    .cascade_i('0),
    .p_o(p[0])
  );
  rs_mul_cascade_slice #(
    .WidthA(Upper),
    .Stages(2),
    .Shift(DspShort)
  ) u_a (
    .clk_i,
    .a_i(a_i[Width-1:DspShort]),
    .b_i(b_i[DspShort-1:0]),
    .cascade_i(p[0]),
    .p_o(p[1])
  );
  rs_mul_cascade_slice #(
    .WidthB(Upper),
    .Stages(2)
  ) u_b (
    .clk_i,
    .a_i(a_q[DspShort-1:0]),
    .b_i(b_q[Width-1:DspShort]),
    .cascade_i(p[1]),
    .p_o(p[2])
  );
  rs_mul_cascade_slice #(
    .WidthA(Upper),
    .WidthB(Upper),
    .Stages(2),
    .Shift(DspShort)
  ) u_high (
    .clk_i,
    .a_i(a2_q[Width-1:DspShort]),
    .b_i(b2_q[Width-1:DspShort]),
    .cascade_i(p[2]),
    .p_o(p[3])
  );
  assign low_o    = p[0][DspShort-1:0];
  assign middle_o = p[2][DspShort-1:0];
  assign high_o   = p[3][HighWidth-1:0];
endmodule
