// The sum of tiles, each shifted to its bit offset.
//
//   total_o = floor(the sum over tiles t of tile_i[t] * 2^offset(t) / 2^First) mod 2^OutBits
//
// Offsets ascend: rs_baseconv_pkg::tile_place. One sum a cycle, latency
// rs_baseconv_pkg::tile_sum_latency(Xs * Ys), one adder a stage: each adds a tile to the bits of
// the sum so far from its offset on. Cost: an adder a tile, and delays.
module rs_tile_sum
  import rs_baseconv_pkg::*;
#(
  parameter  int unsigned Xs = 2,
  parameter  int unsigned Ys = 2,
  parameter  int unsigned XCut = 17,
  parameter  int unsigned YCut = 15,
  parameter  int unsigned TileBits = 35,
  parameter  int unsigned First = 0,
  parameter  int unsigned OutBits = 64,
  localparam int unsigned Tiles = Xs * Ys
) (
  input  logic                clk_i,
  input  logic [TileBits-1:0] tile_i [Tiles],
  output logic [ OutBits-1:0] total_o
);
  // A stage's sum is below run_limit() * 2^TileBits. It is a tile plus the sum before it, shifted
  // right by the difference of their offsets. The limit is computed at elaboration, so that
  // nothing of it is covered.
  localparam int unsigned RunBits = TileBits + 2;
  // verilator coverage_off
  function automatic int unsigned run_limit();
    int unsigned limit, most, step;
    limit = 1;
    most = 1;
    for (int unsigned t = 1; t < Tiles; t++) begin
      step = tile_place(Xs, Ys, XCut, YCut, t) - tile_place(Xs, Ys, XCut, YCut, t - 1);
      limit = ((limit + (1 << step) - 1) >> step) + 1;
      if (limit > most) most = limit;
    end
    return most;
  endfunction
  // verilator coverage_on
  if (run_limit() > 4) begin : gen_bad_cuts
    $error("rs_tile_sum: a sum is up to %0d times as large as a tile: cut so that fewer tiles meet",
           run_limit());
  end
  localparam int unsigned Last = tile_place(Xs, Ys, XCut, YCut, Tiles - 1);

  // A stage's sum, and bits of the whole sum from bit 0 on.
  logic [     RunBits-1:0] run [Tiles];
  logic [Last+RunBits-1:0] whole;
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    localparam int unsigned Place = tile_place(Xs, Ys, XCut, YCut, t);
    localparam int unsigned Next = (t + 1 < Tiles) ?
        tile_place(Xs, Ys, XCut, YCut, (t + 1 < Tiles) ? t + 1 : t) : Place;
    if (t == 0) begin : gen_first
      assign run[0] = RunBits'(tile_i[0]);
    end else begin : gen_add
      localparam int unsigned Step = Place - tile_place(Xs, Ys, XCut, YCut, t - 1);
      logic [TileBits-1:0] tile;
      logic [RunBits-1:0] run_q;
      rs_delay #(
        .Width(TileBits),
        .Depth(t - 1)
      ) u_tile (
        .clk_i,
        .d_i(tile_i[t]),
        .d_o(tile)
      );
      always_ff @(posedge clk_i) run_q <= (run[t-1] >> Step) + RunBits'(tile);
      assign run[t] = run_q;
    end

    // The bits below the next offset are final.
    if (t == Tiles - 1) begin : gen_upper
      assign whole[Place+:RunBits] = run[t];
    end else if (Next > Place) begin : gen_lower
      rs_delay #(
        .Width(Next - Place),
        .Depth(Tiles - 1 - t)
      ) u_bits (
        .clk_i,
        .d_i(run[t][Next-Place-1:0]),
        .d_o(whole[Next-1:Place])
      );
    end
  end

  if (First + OutBits <= Last + RunBits) begin : gen_cut
    assign total_o = whole[First+:OutBits];
  end else begin : gen_pad
    assign total_o = OutBits'(whole >> First);
  end
endmodule
