// Sums of products by tiles, whole: rs_tile_accumulate and rs_tile_sum as a base converter has
// them.
module rs_tile_bench
  import rs_baseconv_pkg::*;
#(
  parameter int unsigned XWidth = 30,
  parameter int unsigned YWidth = 30,
  parameter int unsigned Terms = 7,
  parameter int RoundBit = -1,
  parameter int unsigned XCut = x_cut(XWidth),
  parameter int unsigned YCut = y_cut(YWidth),
  parameter int unsigned First = 0,
  localparam int unsigned Xs = (XWidth + XCut - 1) / XCut,
  localparam int unsigned Ys = (YWidth + YCut - 1) / YCut,
  localparam int unsigned SumBits = XCut + YCut + $clog2(Terms + 1),
  localparam int unsigned OutBits = XWidth + YWidth + $clog2(Terms + 1) - First
) (
  input  logic        clk_i,
  input  logic        first_i,
  input  logic [63:0] x_i [2],
  input  logic [63:0] y_i [2],
  output logic [63:0] total_o [3],
  output logic [7:0]  latency_o
);
  logic [SumBits-1:0] tile [Xs*Ys];
  logic [OutBits-1:0] total;
  logic [127:0]       x, y;
  assign x = {x_i[1], x_i[0]};
  assign y = {y_i[1], y_i[0]};
  rs_tile_accumulate #(
    .XWidth(XWidth), .YWidth(YWidth), .Terms(Terms), .RoundBit(RoundBit), .XCut(XCut), .YCut(YCut)
  ) u_accumulate (
    .clk_i, .first_i, .x_i(x[XWidth-1:0]), .y_i(y[YWidth-1:0]), .sum_o(tile)
  );
  rs_tile_sum #(
    .Xs(Xs), .Ys(Ys), .XCut(XCut), .YCut(YCut), .TileBits(SumBits), .First(First), .OutBits(OutBits)
  ) u_sum (
    .clk_i, .tile_i(tile), .total_o(total)
  );
  assign {total_o[2], total_o[1], total_o[0]} = 192'(total);
  assign latency_o = 8'(tile_latency() + tile_sum_latency(Xs * Ys));
endmodule
