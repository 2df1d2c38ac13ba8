// Low bits of the integer product of two words, for about two thirds of the full product's DSPs.
//
//   p_o = a_i * b_i mod 2^OutWidth      0 <= a_i, b_i < 2^Width,  Width <= OutWidth <= Width + 2
//
// One result a cycle, latency rs_arith_pkg::mul_low_latency(). The cut is rs_mul's, and each block
// keeps only the bits below OutWidth.
module rs_mul_low
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 60,
  parameter int unsigned OutWidth = Width + 2,
  parameter int unsigned Rows = MulRows  // see rs_mul
) (
  input  logic                clk_i,
  input  logic [Width-1:0]    a_i,
  input  logic [Width-1:0]    b_i,
  output logic [OutWidth-1:0] p_o
);
  localparam int unsigned A = mul_split_a(Width, Rows);
  localparam int unsigned B = mul_split_b(Width);
  localparam int unsigned S = A + B;
  localparam bit Pinwheel = (S == Width);
  localparam int unsigned C = Pinwheel ? A - B : 0;
  localparam int unsigned EastB = Pinwheel ? A : B;
  localparam int unsigned NorthA = Pinwheel ? B : A;

  if (Width < MinWidth || Width > MaxWidth || OutWidth < Width || OutWidth > Width + 2)
  begin : gen_bad_width
    $error("rs_mul_low: Width = %0d is not 4 to 60, or OutWidth = %0d not up to Width + 2", Width,
           OutWidth);
  end

  logic [OutWidth-1:0] south, east, north, centre, top;

  rs_mul_low_block #(
    .WidthA(A),
    .WidthB(B),
    .Offset(0),
    .OutWidth(OutWidth),
    .Rows(Rows)
  ) u_south (
    .clk_i,
    .a_i(a_i[A-1:0]),
    .b_i(b_i[B-1:0]),
    .p_o(south)
  );

  rs_mul_low_block #(
    .WidthA(Width - A),
    .WidthB(EastB),
    .Offset(A),
    .OutWidth(OutWidth),
    .Rows(Rows)
  ) u_east (
    .clk_i,
    .a_i(a_i[Width-1:A]),
    .b_i(b_i[EastB-1:0]),
    .p_o(east)
  );

  rs_mul_low_block #(
    .WidthA(NorthA),
    .WidthB(Width - B),
    .Offset(B),
    .OutWidth(OutWidth),
    .Rows(Rows)
  ) u_north (
    .clk_i,
    .a_i(a_i[NorthA-1:0]),
    .b_i(b_i[Width-1:B]),
    .p_o(north)
  );

  if (S < OutWidth) begin : gen_top
    rs_mul_low_block #(
      .WidthA(Width - NorthA),
      .WidthB(Width - EastB),
      .Offset(S),
      .OutWidth(OutWidth),
      .Rows(Rows)
    ) u_top (
      .clk_i,
      .a_i(a_i[Width-1:NorthA]),
      .b_i(b_i[Width-1:EastB]),
      .p_o(top)
    );
  end else begin : gen_no_top
    assign top = '0;
  end

  if (C > 0) begin : gen_centre
    rs_mul_low_block #(
      .WidthA(C),
      .WidthB(C),
      .Offset(2 * B),
      .OutWidth(OutWidth),
      .Rows(Rows)
    ) u_centre (
      .clk_i,
      .a_i(a_i[A-1:B]),
      .b_i(b_i[A-1:B]),
      .p_o(centre)
    );
  end else begin : gen_no_centre
    assign centre = '0;
  end

  // The lowest and the highest block share no bit, so that four numbers are left: two adders, then
  // one.
  logic [OutWidth-1:0] east_q, north_q, p_q;
  always_ff @(posedge clk_i) begin
    east_q  <= (south | top) + east;
    north_q <= north + centre;
    p_q     <= east_q + north_q;
  end
  assign p_o = p_q;
endmodule
