// One DSP48E2 of a cascade: a product plus the output of the slice before.
//
//   p_o = a_i * b_i + (cascade_i >>> Shift)      a_i and b_i unsigned
//
// a_i and b_i enter Stages + 2 cycles before p_o, cascade_i one cycle before it. One result a
// cycle. All registers and the adder are the slice's own (A, B, M, P, and PCIN): no other LUT and
// no other flip-flop is needed. Stages is 1 or 2, widths are at most 17 bits, and Shift is 0 or 17.
module rs_mul_cascade_slice
  import rs_arith_pkg::*;
#(
  parameter int unsigned WidthA = DspShort,
  parameter int unsigned WidthB = DspShort,
  parameter int unsigned Stages = 1,
  parameter int unsigned Shift = 0
) (
  input  logic              clk_i,
  input  logic [WidthA-1:0] a_i,
  input  logic [WidthB-1:0] b_i,
  input  logic [DspSum-1:0] cascade_i,
  output logic [DspSum-1:0] p_o
);
  if (WidthA > DspShort || WidthB > DspShort || Stages < 1 || Stages > 2 ||
      (Shift != 0 && Shift != DspShort)) begin : gen_bad_slice
    $error("rs_mul_cascade_slice: %0d x %0d bits, Stages = %0d, Shift = %0d is no slice", WidthA,
           WidthB, Stages, Shift);
  end

  logic [WidthA-1:0] a_q [Stages];
  logic [WidthB-1:0] b_q [Stages];
  logic [WidthA+WidthB-1:0] m_q;
  logic [DspSum-1:0] p_q;
  always_ff @(posedge clk_i) begin
    a_q[0] <= a_i;
    b_q[0] <= b_i;
    for (int unsigned i = 1; i < Stages; i++) begin
      a_q[i] <= a_q[i-1];
      b_q[i] <= b_q[i-1];
    end
    m_q <= a_q[Stages-1] * b_q[Stages-1];
    p_q <= DspSum'(m_q) + (cascade_i >> Shift);
  end
  assign p_o = p_q;
endmodule
