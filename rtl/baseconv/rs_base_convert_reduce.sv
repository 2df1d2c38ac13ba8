// Outputs of a conversion, one a cycle: a sum of products and v times a factor, reduced.
//
//   word_o = (sum_i + v_i * factor_i) * 2^-E mod p      0 <= word_o < p
//
// sum_i holds the tiles of a sum of up to Terms products of a word and a residue modulo p; it comes
// a cycle after v_i < Terms * 2^Width and factor_i < p. p is a prime that is 1 modulo 2^StepBits,
// below 2^Width, and modulus_i comes rs_baseconv_pkg::quotient_tiles(Width, Terms) + 3 cycles after
// v_i. word_o comes rs_baseconv_pkg::reduce_latency(Width, StepBits, Terms) cycles after v_i. E =
// rs_baseconv_pkg::reduced_bits(Width, Terms).
//
// The slices that multiply v add the sum's tiles. The whole sum is below p * 2^E, so what lies
// above its lowest E bits is below p; those are divided away as Montgomery does.
// docs/reference/baseconv.md has the bounds. Cost: a DSP for each tile of v * factor, those of
// rs_scale_steps, and adders.
module rs_base_convert_reduce
  import rs_arith_pkg::*;
  import rs_baseconv_pkg::*;
#(
  parameter  base_convert_cfg_t Cfg = DefaultBaseConvert,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned StepBits = Cfg.StepBits,
  localparam int unsigned Terms = Cfg.Terms,
  localparam int unsigned Tiles = tiles(Width, Width),
  localparam int unsigned SumBits = x_cut(Width) + y_cut(Width) + $clog2(Terms + 1),
  localparam int unsigned QuotientBits = quotient_bits(Width, Terms)
) (
  input  logic                    clk_i,
  input  logic [QuotientBits-1:0] v_i,
  input  logic [       Width-1:0] factor_i,
  input  logic [     SumBits-1:0] sum_i [Tiles],
  input  logic [       Width-1:0] modulus_i,
  output logic [       Width-1:0] word_o
);
  localparam int unsigned LowBits = reduced_bits(Width, Terms);

  // Tiles of v * factor: those of a sum, plus more tiles if v has one more part. Both are cut at
  // the same bits; words shorter than a DSP are not cut.
  localparam int unsigned XCut = x_cut(Width);
  localparam int unsigned YCut = y_cut(Width);
  localparam int unsigned SumXs = x_parts(Width);
  localparam int unsigned Xs = (QuotientBits + XCut - 1) / XCut;
  localparam int unsigned Ys = y_parts(Width);
  localparam int unsigned MergedTiles = Xs * Ys;
  localparam int unsigned MergedBits = SumBits + 1;
  logic [MergedBits-1:0] merged [MergedTiles];
  for (genvar t = 0; t < MergedTiles; t++) begin : gen_tile
    localparam int unsigned At = tile_at(Xs, Ys, XCut, YCut, t);
    localparam int unsigned X = At % Xs;
    localparam int unsigned Y = At / Xs;
    localparam int unsigned XBits =
        (QuotientBits - X * XCut < XCut) ? QuotientBits - X * XCut : XCut;
    localparam int unsigned YBits = (Width - Y * YCut < YCut) ? Width - Y * YCut : YCut;
    logic signed [DspSum-1:0] added, result;
    if (X < SumXs) begin : gen_merged
      assign added = DspSum'(sum_i[tile_order(SumXs, Ys, XCut, YCut, X, Y)]);
    end else begin : gen_alone
      assign added = '0;
    end
    rs_mul_add #(
      .XWidth(YBits + 1),
      .YWidth(XBits + 1)
    ) u_multiply (
      .clk_i,
      .x_i({1'b0, factor_i[Y*YCut+:YBits]}),
      .y_i({1'b0, v_i[X*XCut+:XBits]}),
      .c_i(added),
      .p_o(result)
    );
    assign merged[t] = result[MergedBits-1:0];
  end

  logic [LowBits+Width-1:0] total;
  rs_tile_sum #(
    .Xs(Xs),
    .Ys(Ys),
    .XCut(XCut),
    .YCut(YCut),
    .TileBits(MergedBits),
    .OutBits(LowBits + Width)
  ) u_total (
    .clk_i,
    .tile_i(merged),
    .total_o(total)
  );

  logic [Width-1:0] high, low, modulus;
  rs_delay #(
    .Width(Cfg.Width),
    .Depth(scale_steps(LowBits, StepBits) * scale_step_latency())
  ) u_high (
    .clk_i,
    .d_i(total[LowBits+:Width]),
    .d_o(high)
  );
  rs_scale_steps #(
    .Width(Cfg.Width),
    .StepBits(Cfg.StepBits),
    .LowBits(LowBits)
  ) u_steps (
    .clk_i,
    .low_i(total[LowBits-1:0]),
    .q_i(modulus_i),
    .n_o(low),
    .q_o(modulus)
  );
  rs_mod_addsub #(
    .Width(Cfg.Width)
  ) u_subtract (
    .clk_i,
    .sub_i(1'b1),
    .a_i(high),
    .b_i(low),
    .q_i(modulus),
    .s_o(word_o)
  );
endmodule
