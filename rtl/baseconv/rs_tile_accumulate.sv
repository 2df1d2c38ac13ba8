// Products of two words added up, tile by tile.
//
//   the sum over tiles t of sum_o[t] * 2^offset(t) = 2^RoundBit + the sum of x_i * y_i from the
//   last first_i on
//
// Tiles are in the order of their bit offsets, rs_baseconv_pkg::tile_place. One product a cycle,
// latency rs_baseconv_pkg::tile_latency(); at most Terms products in a sum. A RoundBit of -1 adds
// nothing. Cost: a DSP a tile.
module rs_tile_accumulate
  import rs_arith_pkg::*;
  import rs_baseconv_pkg::*;
#(
  parameter  int unsigned XWidth = 30,
  parameter  int unsigned YWidth = 30,
  parameter  int unsigned Terms = 8,
  parameter  int          RoundBit = -1,
  parameter  int unsigned XCut = x_cut(XWidth),
  parameter  int unsigned YCut = y_cut(YWidth),
  localparam int unsigned Xs = (XWidth + XCut - 1) / XCut,
  localparam int unsigned Ys = (YWidth + YCut - 1) / YCut,
  localparam int unsigned Tiles = Xs * Ys,
  localparam int unsigned SumBits = XCut + YCut + $clog2(Terms + 1)
) (
  input  logic               clk_i,
  input  logic               first_i,
  input  logic [ XWidth-1:0] x_i,
  input  logic [ YWidth-1:0] y_i,
  output logic [SumBits-1:0] sum_o [Tiles]
);
  // A sum and one product more, as rs_base_convert_reduce adds, have no bit where a slice has its
  // sign.
  if (SumBits + 1 >= DspSum) begin : gen_bad_terms
    $error("rs_tile_accumulate: %0d products of %0d x %0d bits, and one more, do not fit %0d bits",
           Terms, XCut, YCut, DspSum - 1);
  end

  // The tile that has the rounding bit: the highest one that begins at it or below.
  // Computed at elaboration, so that nothing of it is covered.
  // verilator coverage_off
  function automatic int unsigned rounding_tile();
    int unsigned found;
    found = 0;
    for (int unsigned t = 0; t < Tiles; t++) begin
      if (int'(tile_place(Xs, Ys, XCut, YCut, t)) <= RoundBit) found = t;
    end
    return found;
  endfunction
  // verilator coverage_on

  logic first_q;
  always_ff @(posedge clk_i) first_q <= first_i;

  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned At = tile_at(Xs, Ys, XCut, YCut, t);
    localparam int unsigned XFirst = (At % Xs) * XCut;
    localparam int unsigned YFirst = (At / Xs) * YCut;
    localparam int unsigned XBits = (XWidth - XFirst < XCut) ? XWidth - XFirst : XCut;
    localparam int unsigned YBits = (YWidth - YFirst < YCut) ? YWidth - YFirst : YCut;
    localparam bit Rounds = RoundBit >= 0 && t == rounding_tile();
    localparam int unsigned Round = Rounds ? unsigned'(RoundBit) - XFirst - YFirst : 0;
    if (Round > XCut + YCut) begin : gen_bad_round
      $error("rs_tile_accumulate: bit %0d lies above all tiles", RoundBit);
    end
    logic [DspSum-1:0] sum;
    rs_mul_accumulate #(
      .XWidth(YBits),
      .YWidth(XBits),
      .RoundBit(Rounds ? int'(Round) : -1)
    ) u_multiply (
      .clk_i,
      .first_i(first_q),
      .x_i(y_i[YFirst+:YBits]),
      .y_i(x_i[XFirst+:XBits]),
      .p_o(sum)
    );
    assign sum_o[t] = sum[SumBits-1:0];
  end
endmodule
