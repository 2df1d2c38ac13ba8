// Base conversion: how products are cut into tiles, what is loaded, and how many cycles it takes.
// docs/reference/baseconv.md describes the unit.
package rs_baseconv_pkg;
  import rs_arith_pkg::*;

  // Fraction bits of the T_i, as the graph's Lift and Scale have them.
  localparam int unsigned LiftFractionBits = 89;

  // A product of X and Y bits is cut into tiles of one DSP each: X at multiples of the short
  // operand's bits, Y evenly into the fewest parts that fit the long one.
  function automatic int unsigned x_parts(int unsigned x_width);
    return (x_width + DspShort - 1) / DspShort;
  endfunction
  function automatic int unsigned y_parts(int unsigned y_width);
    return (y_width + DspLong - 1) / DspLong;
  endfunction
  function automatic int unsigned x_cut(int unsigned x_width);
    return (x_width < DspShort) ? x_width : DspShort;
  endfunction
  function automatic int unsigned y_cut(int unsigned y_width);
    return (y_width + y_parts(y_width) - 1) / y_parts(y_width);
  endfunction
  function automatic int unsigned tiles(int unsigned x_width, int unsigned y_width);
    return x_parts(x_width) * y_parts(y_width);
  endfunction

  // Tiles are numbered by the position of their lowest bit in the product, and at equal positions
  // by their part of X. tile_order is the number of a tile, tile_at the part of X and of Y of a
  // number: part of X + parts of X * part of Y. Cuts are parameters, so that tests can cut small
  // words.
  function automatic int unsigned tile_order(int unsigned xs, int unsigned ys, int unsigned x_bits,
                                             int unsigned y_bits, int unsigned x, int unsigned y);
    int unsigned earlier, at, own;
    earlier = 0;
    own = x * x_bits + y * y_bits;
    for (int unsigned i = 0; i < xs; i++) begin
      for (int unsigned j = 0; j < ys; j++) begin
        at = i * x_bits + j * y_bits;
        if (at < own || (at == own && i < x)) earlier++;
      end
    end
    return earlier;
  endfunction
  function automatic int unsigned tile_at(int unsigned xs, int unsigned ys, int unsigned x_bits,
                                          int unsigned y_bits, int unsigned number);
    for (int unsigned i = 0; i < xs; i++) begin
      for (int unsigned j = 0; j < ys; j++) begin
        if (tile_order(xs, ys, x_bits, y_bits, i, j) == number) return i + xs * j;
      end
    end
    return 0;
  endfunction

  // Position of a tile's lowest bit in the product.
  function automatic int unsigned tile_place(int unsigned xs, int unsigned ys, int unsigned x_bits,
                                             int unsigned y_bits, int unsigned number);
    int unsigned at;
    at = tile_at(xs, ys, x_bits, y_bits, number);
    return (at % xs) * x_bits + (at / xs) * y_bits;
  endfunction

  // Values of load_kind_i: the kind of a loaded word. Row and column are its index in the table.
  localparam int unsigned KindBits = 3;
  localparam logic [KindBits-1:0] LoadShape = 3'd0;  // {own, outputs - 1, terms - 1}
  localparam logic [KindBits-1:0] LoadInputModulus = 3'd1;  // row i: q_i
  localparam logic [KindBits-1:0] LoadInputFactor = 3'd2;  // row i: Y_i * 2^Width mod q_i
  // row i, column k: the bits of T_i from bit k * Width on
  localparam logic [KindBits-1:0] LoadFraction = 3'd3;
  localparam logic [KindBits-1:0] LoadWeight = 3'd4;  // row i, column j: C_ij * 2^E mod p_j
  localparam logic [KindBits-1:0] LoadOutputModulus = 3'd5;  // row j: p_j
  localparam logic [KindBits-1:0] LoadQuotientFactor = 3'd6;  // row j: D_j * 2^E mod p_j

  // Bits of an index below a count.
  function automatic int unsigned index_bits(int unsigned count);
    return (count > 1) ? $clog2(count) : 1;
  endfunction

  // Bits of v, which is below terms * 2^width.
  function automatic int unsigned quotient_bits(int unsigned width, int unsigned terms);
    return width + $clog2(terms);
  endfunction

  // E: the bits that the reducer divides away. The sum is below p * 2^E for 2 * terms products of
  // a word and a residue, which v times its factor makes of them at most.
  function automatic int unsigned reduced_bits(int unsigned width, int unsigned terms);
    return width + $clog2(2 * terms);
  endfunction

  // Cycles from an operand of tiles to their sums, and from there to the whole sum.
  function automatic int unsigned tile_latency();
    return 3;
  endfunction
  function automatic int unsigned tile_sum_latency(int unsigned number);
    return number - 1;
  endfunction

  // Tiles of y_i * T_i, and of v * D_j, which is cut as the products that it is added to.
  function automatic int unsigned fraction_tiles(int unsigned width, int unsigned fraction_bits);
    return tiles(width, fraction_bits);
  endfunction
  function automatic int unsigned quotient_tiles(int unsigned width, int unsigned terms);
    return (quotient_bits(width, terms) + x_cut(width) - 1) / x_cut(width) * y_parts(width);
  endfunction

  // From x_i to y_i: its constants, and the product.
  function automatic int unsigned scaled_latency(int unsigned width, int unsigned step_bits);
    return 2 + mod_mul_montgomery_latency(width, step_bits);
  endfunction

  // From x_i to the first output's product with y_i. The outputs' sums are delayed until v is
  // ready.
  function automatic int unsigned weighted_latency(int unsigned width, int unsigned step_bits,
                                                   int unsigned fraction_bits);
    return scaled_latency(width, step_bits) + fraction_tiles(width, fraction_bits);
  endfunction

  // From an output's tile sums to the output: v times its factor, the sum, the steps, and the last
  // modular subtraction.
  function automatic int unsigned reduce_latency(int unsigned width, int unsigned step_bits,
                                                 int unsigned terms);
    return 3 + tile_sum_latency(quotient_tiles(width, terms)) +
        scale_steps(reduced_bits(width, terms), step_bits) * scale_step_latency() +
        mod_addsub_latency();
  endfunction

  // Cycles from start_i to the first output of a conversion of `used` terms, on a unit that takes
  // up to `terms`.
  function automatic int unsigned base_convert_latency(int unsigned width, int unsigned step_bits,
                                                       int unsigned fraction_bits,
                                                       int unsigned terms, int unsigned used);
    return weighted_latency(width, step_bits, fraction_bits) + (used - 1) + tile_latency() +
        reduce_latency(width, step_bits, terms);
  endfunction

  // A unit as its blocks take it: the parameters of rs_base_convert.
  typedef struct packed {
    int unsigned Width;         // bits of a residue
    int unsigned StepBits;      // every prime is 1 modulo two to it
    int unsigned FractionBits;  // of a T_i
    int unsigned Terms;         // of a conversion, at most
    int unsigned Outputs;       // likewise
    int unsigned Tables;        // conversions that are loaded at once
  } base_convert_cfg_t;

  localparam base_convert_cfg_t DefaultBaseConvert = '{
      Width: 30,
      StepBits: 13,
      FractionBits: LiftFractionBits,
      Terms: 7,
      Outputs: 7,
      Tables: 4
  };

endpackage
