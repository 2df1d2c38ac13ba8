// r * h, where q = 1 + 2^StepBits * h is a prime that is 1 modulo 2^OneBits, loaded at run time.
//
//   near_o + far_o = r_i * (q_i - 1) / 2^StepBits       1 <= StepBits <= OneBits <= 17
//
// near_o comes two cycles after r_i, far_o three. One result a cycle; q_i belongs to r_i. Cost: a
// DSP for each 26 bits or fewer of q_i above OneBits.
module rs_scale_product
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned OneBits = 14,
  parameter int unsigned StepBits = OneBits
) (
  input  logic                clk_i,
  input  logic [StepBits-1:0] r_i,
  input  logic [Width-1:0]    q_i,
  output logic [Width:0]      near_o,
  output logic [Width:0]      far_o
);
  localparam int unsigned Factor = Width - OneBits;  // bits of q that the products take
  localparam int unsigned Low = (Factor < DspLong) ? Factor : DspLong;
  localparam int unsigned Shift = OneBits - StepBits;  // what else (q - 1) / 2^StepBits is even by

  logic [StepBits+Low-1:0] low;
  rs_mul_block #(
    .WidthA(StepBits),
    .WidthB(Low)
  ) u_low (
    .clk_i,
    .a_i(r_i),
    .b_i(q_i[OneBits+:Low]),
    .p_o(low)
  );
  assign near_o = (Width + 1)'(low) << Shift;

  if (Factor > Low) begin : gen_high
    localparam int unsigned High = Factor - Low;
    logic [StepBits+High-1:0] high, high_q;
    rs_mul_block #(
      .WidthA(StepBits),
      .WidthB(High)
    ) u_high (
      .clk_i,
      .a_i(r_i),
      .b_i(q_i[OneBits+Low+:High]),
      .p_o(high)
    );
    always_ff @(posedge clk_i) high_q <= high;
    assign far_o = (Width + 1)'(high_q) << (Low + Shift);
  end else begin : gen_no_high
    assign far_o = '0;
  end
endmodule
