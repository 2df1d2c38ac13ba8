// One block of rs_mul_low: a product at bit Offset of the result, cut off above.
//
//   p_o = a_i * b_i * 2^Offset mod 2^OutWidth      Offset < OutWidth
//
// One result a cycle, latency rs_arith_pkg::mul_block_latency(). Operand bits that cannot reach the
// result are left out before the multiplication.
module rs_mul_low_block #(
  parameter int unsigned WidthA = 34,
  parameter int unsigned WidthB = 26,
  parameter int unsigned Offset = 0,
  parameter int unsigned OutWidth = 62,
  parameter int unsigned Rows = rs_arith_pkg::MulRows
) (
  input  logic                clk_i,
  input  logic [WidthA-1:0]   a_i,
  input  logic [WidthB-1:0]   b_i,
  output logic [OutWidth-1:0] p_o
);
  localparam int unsigned Available = OutWidth - Offset;
  localparam int unsigned UsedA = (WidthA < Available) ? WidthA : Available;
  localparam int unsigned UsedB = (WidthB < Available) ? WidthB : Available;
  localparam int unsigned UsedOut = (UsedA + UsedB < Available) ? UsedA + UsedB : Available;

  logic [UsedOut-1:0] product;
  rs_mul_block #(
    .WidthA(UsedA),
    .WidthB(UsedB),
    .OutWidth(UsedOut),
    .Rows(Rows)
  ) u_block (
    .clk_i,
    .a_i(a_i[UsedA-1:0]),
    .b_i(b_i[UsedB-1:0]),
    .p_o(product)
  );


  assign p_o = OutWidth'(product) << Offset;
endmodule
