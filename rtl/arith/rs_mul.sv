// Integer product of two words.
//
//   {hi_o, lo_o} = a_i * b_i      0 <= a_i, b_i < 2^Width
//
// One result a cycle, latency rs_arith_pkg::mul_latency(). The product is returned as two words so
// that no signal is wider than 64 bits, which simulators and C++ compute in one machine word.
//
// Cost: the operands are cut at A and B bits (rs_arith_pkg::mul_split_a/_b) into four blocks of at
// most 34 x 26 bits, two DSP48E2 each, and for some widths a small centre. At 60 bits the blocks
// surround an 8 x 8 centre: 9 DSP48E2 instead of the 12 that plain rows and columns need. 48 bits
// take 6, 54 bits 8, 43 bits 5, 30 bits 4. With 61 and 62 bits the bits above 60 are added as rows.
// With Rows = 4, 27 to 30 bits take 2, and adders for the rest. With TargetEcp5, up to 36 bits take
// four MULT18X18D.
//
// HighOnly leaves out bits of the lowest block, to save DSPs: lo_o is then meaningless, and hi_o is
// floor(a_i * b_i / 2^Width - d) with 0 <= d < 1/2. docs/reference/arithmetic.md bounds d.
module rs_mul
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 60,
  parameter bit          HighOnly = 1'b0,
  parameter int unsigned Rows = MulRows
) (
  input  logic             clk_i,
  input  logic [Width-1:0] a_i,
  input  logic [Width-1:0] b_i,
  output logic [Width-1:0] lo_o,
  output logic [Width-1:0] hi_o
);
  localparam int unsigned A = mul_split_a(Width, Rows);
  localparam int unsigned B = mul_split_b(Width);
  localparam int unsigned S = A + B;  // the lowest and the highest block meet here
  localparam bit Pinwheel = (S == Width);
  localparam int unsigned C = Pinwheel ? A - B : 0;  // width of the centre
  localparam int unsigned TopWidth = 2 * Width - S;

  // How the other three blocks divide the square: see docs/reference/arithmetic.md.
  localparam int unsigned EastB = Pinwheel ? A : B;  // east block: a[Width-1:A] * b[EastB-1:0]
  localparam int unsigned NorthA = Pinwheel ? B : A;  // north block: a[NorthA-1:0] * b[Width-1:B]
  localparam int unsigned EastWidth = Width - A + EastB;
  localparam int unsigned NorthWidth = NorthA + Width - B;

  if (Width < MinWidth || Width > MaxProductWidth) begin : gen_bad_width
    $error("rs_mul: Width = %0d is outside %0d to %0d", Width, MinWidth, MaxProductWidth);
  end

  // Bits of the lowest block's operands that HighOnly leaves out.
  localparam int unsigned DropA = (HighOnly && Width > DspLong + DspShort) ? DspShort : 0;
  localparam int unsigned DropB = (!HighOnly || !Pinwheel || Width < 2 * DspShort) ? 0 : B - 2;

  logic [S-1:0]          south;
  logic [EastWidth-1:0]  east;
  logic [TopWidth-1:0]   top;
  logic [NorthWidth-1:0] north;
  logic [2*A-B-1:0]      centre;  // at bit 2B of the product, here relative to bit B

  logic [S-DropA-DropB-1:0] south_kept;
  rs_mul_block #(
    .WidthA(A - DropA),
    .WidthB(B - DropB),
    .Rows(Rows)
  ) u_south (
    .clk_i,
    .a_i(a_i[A-1:DropA]),
    .b_i(b_i[B-1:DropB]),
    .p_o(south_kept)
  );
  assign south = S'(south_kept) << (DropA + DropB);

  rs_mul_block #(
    .WidthA(Width - A),
    .WidthB(EastB),
    .Rows(Rows)
  ) u_east (
    .clk_i,
    .a_i(a_i[Width-1:A]),
    .b_i(b_i[EastB-1:0]),
    .p_o(east)
  );

  rs_mul_block #(
    .WidthA(Width - NorthA),
    .WidthB(Width - EastB),
    .Rows(Rows)
  ) u_top (
    .clk_i,
    .a_i(a_i[Width-1:NorthA]),
    .b_i(b_i[Width-1:EastB]),
    .p_o(top)
  );

  rs_mul_block #(
    .WidthA(NorthA),
    .WidthB(Width - B),
    .Rows(Rows)
  ) u_north (
    .clk_i,
    .a_i(a_i[NorthA-1:0]),
    .b_i(b_i[Width-1:B]),
    .p_o(north)
  );

  if (C > 0) begin : gen_centre
    logic [2*C-1:0] square;
    rs_mul_block #(
      .WidthA(C),
      .WidthB(C),
      .Rows(Rows)
    ) u_centre (
      .clk_i,
      .a_i(a_i[A-1:B]),
      .b_i(b_i[A-1:B]),
      .p_o(square)
    );
    assign centre = {square, {B{1'b0}}};
  end else begin : gen_no_centre
    assign centre = '0;
  end

  // Bits below B come from the lowest block only. From B to S the blocks are added in `low`, above
  // S in `high`. Each cycle adds two numbers; the carry from low to high is added last.
  localparam int unsigned LowWidth = 2 * A - B + 2;
  logic [LowWidth-1:0] low_east_q, low_north_q, low_q;
  logic [TopWidth-1:0] high_east_q, high_north_q, high_q;
  logic [B-1:0]        south1_q, south2_q;
  logic [S-1:0]        bottom_q;
  logic [TopWidth-1:0] top_q;

  always_ff @(posedge clk_i) begin
    low_east_q   <= LowWidth'(south[S-1:B]) + (LowWidth'(east[B-1:0]) << (A - B));
    low_north_q  <= LowWidth'(north[A-1:0]) + LowWidth'(centre);
    high_east_q  <= top + TopWidth'(east[EastWidth-1:B]);
    high_north_q <= TopWidth'(north[NorthWidth-1:A]);
    south1_q     <= south[B-1:0];

    low_q    <= low_east_q + low_north_q;
    high_q   <= high_east_q + high_north_q;
    south2_q <= south1_q;

    bottom_q <= {low_q[A-1:0], south2_q};
    top_q    <= high_q + TopWidth'(low_q[LowWidth-1:A]);
  end

  assign lo_o = bottom_q[Width-1:0];
  if (Pinwheel) begin : gen_hi
    assign hi_o = top_q;
  end else begin : gen_hi_across
    assign hi_o = {top_q, bottom_q[S-1:Width]};
  end
endmodule
