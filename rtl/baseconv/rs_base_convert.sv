// Base conversion: one coefficient's residues modulo some primes to its residues modulo others.
//
//   y_i   = x_i * Y_i mod q_i                                    i over the terms
//   v     = floor((sum over i of y_i * T_i + 2^(F-1)) / 2^F)     F = FractionBits
//   out_j = sum over i of y_i * C_ij + own_j * L_j + v * D_j mod p_j
//
// All constants are loaded at run time, one table for each kind of conversion.
// docs/reference/baseconv.md lists the constants of Lift, Scale and other conversions. A conversion
// takes one term and gives one output a cycle. Its last term may be own_j: each output then has its
// own value.
//
// Driving: in the cycle of start_i, table_i is the conversion and x_i its first term; the others
// follow in the next cycles. Where the last term is own_j, it comes through own_i instead of x_i:
// own_0 in that term's cycle, own_j j cycles later. valid_o, with last_o, comes
// with the outputs, one a cycle in order, the first base_convert_latency(...) cycles after start_i
// (rs_baseconv_pkg). The next start_i may come as soon as neither terms nor outputs meet those
// before: after max(terms, outputs) cycles if it is the same conversion, and after max(terms,
// outputs + terms - its own terms) if it is another.
//
// Loading: load_kind_i (rs_baseconv_pkg), table, row and column say what load_word_i is. A table is
// loaded while it does not run, up to the cycle before it starts. rst_ni is low for as many cycles
// as a conversion takes.
//
// Width: bits of every residue and prime, all primes being 1 modulo 2^StepBits. Terms, Outputs: the
// most that a conversion has, own terms included. Cost at 30 bits, 7 terms and 7 outputs: 50 DSPs.
module rs_base_convert
  import rs_arith_pkg::*;
  import rs_baseconv_pkg::*;
#(
  parameter  int unsigned Width = 30,
  parameter  int unsigned StepBits = 13,
  parameter  int unsigned FractionBits = LiftFractionBits,
  parameter  int unsigned Terms = 7,
  parameter  int unsigned Outputs = 7,
  parameter  int unsigned Tables = 4,
  localparam int unsigned TableBits = index_bits(Tables),
  localparam int unsigned SlotBits = index_bits(Terms),
  localparam int unsigned OutputBits = index_bits(Outputs),
  localparam int unsigned RowBits = (SlotBits > OutputBits) ? SlotBits : OutputBits,
  localparam int unsigned Columns = (FractionBits + Width - 1) / Width,
  localparam int unsigned ColumnBits = index_bits((Columns > Outputs) ? Columns : Outputs)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  load_i,
  input  logic [  KindBits-1:0] load_kind_i,
  input  logic [ TableBits-1:0] load_table_i,
  input  logic [   RowBits-1:0] load_row_i,
  input  logic [ColumnBits-1:0] load_column_i,
  input  logic [     Width-1:0] load_word_i,
  input  logic                  start_i,
  input  logic [ TableBits-1:0] table_i,
  input  logic [     Width-1:0] x_i,
  input  logic [     Width-1:0] own_i,
  output logic                  valid_o,
  output logic                  last_o,
  output logic [     Width-1:0] word_o
);
  localparam base_convert_cfg_t Cfg = '{
      Width: Width,
      StepBits: StepBits,
      FractionBits: FractionBits,
      Terms: Terms,
      Outputs: Outputs,
      Tables: Tables
  };
  localparam int unsigned ShapeBits = 1 + OutputBits + SlotBits;
  localparam int unsigned MulLatency = mod_mul_montgomery_latency(Width, StepBits);
  localparam int unsigned FractionTiles = fraction_tiles(Width, FractionBits);
  localparam int unsigned QuotientBits = quotient_bits(Width, Terms);

  if (ShapeBits > Width) begin : gen_bad_shape
    $error("rs_base_convert: a shape of %0d bits does not fit a word of %0d", ShapeBits, Width);
  end

  // The load port, registered.
  logic                  load_q;
  logic [  KindBits-1:0] kind_q;
  logic [ TableBits-1:0] load_table_q;
  logic [   RowBits-1:0] row_q;
  logic [ColumnBits-1:0] column_q;
  logic [     Width-1:0] load_word_q;
  always_ff @(posedge clk_i) begin
    load_q       <= load_i && rst_ni;
    kind_q       <= load_kind_i;
    load_table_q <= load_table_i;
    row_q        <= load_row_i;
    column_q     <= load_column_i;
    load_word_q  <= load_word_i;
  end
  logic [SlotBits-1:0]   load_slot;
  logic [OutputBits-1:0] load_output;
  assign load_slot   = SlotBits'(row_q);
  assign load_output = OutputBits'(row_q);

  // Terms as they enter, from the cycle after start_i on, and outputs when their sums are complete.
  typedef struct packed {
    logic                 ends;  // with the last term
    logic                 first;
    logic                 is_own;
    logic [TableBits-1:0] number;
    logic [SlotBits-1:0]  slot;
  } term_t;
  logic active, first, last, is_own, ended, out_active, out_last;
  logic [TableBits-1:0]  number, ended_number, out_table;
  logic [SlotBits-1:0]   slot;
  logic [OutputBits-1:0] out_number;
  rs_base_convert_sequence #(
    .Cfg(Cfg)
  ) u_sequence (
    .clk_i,
    .rst_ni,
    .load_i(load_q && kind_q == LoadShape),
    .load_table_i(load_table_q),
    .load_shape_i(load_word_q[ShapeBits-1:0]),
    .start_i,
    .start_table_i(table_i),
    .active_o(active),
    .table_o(number),
    .slot_o(slot),
    .first_o(first),
    .last_o(last),
    .is_own_o(is_own),
    .ended_i(ended),
    .ended_table_i(ended_number),
    .out_active_o(out_active),
    .out_table_o(out_table),
    .out_number_o(out_number),
    .out_last_o(out_last)
  );

  // y_i
  logic [Width-1:0] x, factor, modulus, y;
  rs_delay #(.Width(Cfg.Width), .Depth(2)) u_x (.clk_i, .d_i(x_i), .d_o(x));
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(2 ** (TableBits + SlotBits)),
    .RamStyle("distributed"),
    .ReadOld(1'b1)
  ) u_input_factors (
    .clk_i,
    .we_i(load_q && kind_q == LoadInputFactor),
    .waddr_i({load_table_q, load_slot}),
    .wdata_i(load_word_q),
    .re_i(1'b1),
    .raddr_i({number, slot}),
    .rdata_o(factor)
  );
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(2 ** (TableBits + SlotBits)),
    .RamStyle("distributed"),
    .ReadOld(1'b1)
  ) u_input_moduli (
    .clk_i,
    .we_i(load_q && kind_q == LoadInputModulus),
    .waddr_i({load_table_q, load_slot}),
    .wdata_i(load_word_q),
    .re_i(1'b1),
    .raddr_i({number, slot}),
    .rdata_o(modulus)
  );
  rs_mod_mul_montgomery #(
    .Width(Cfg.Width),
    .StepBits(Cfg.StepBits)
  ) u_scale (
    .clk_i,
    .a_i(x),
    .b_i(factor),
    .q_i(modulus),
    .p_o(y)
  );

  // The number of the term, a cycle before the term.
  term_t term;
  rs_delay #(
    .Width($bits(term_t)),
    .Depth(MulLatency)
  ) u_term (
    .clk_i,
    .d_i({active && last, first, is_own, number, slot}),
    .d_o(term)
  );

  // v, which holds until the next coefficient's.
  logic [FractionBits-1:0] fraction;
  for (genvar k = 0; k < Columns; k++) begin : gen_column
    localparam int unsigned Bits =
        (FractionBits - k * Width < Width) ? FractionBits - k * Width : Width;
    rs_ram_1r1w #(
      .Width(Bits),
      .Depth(2 ** (TableBits + SlotBits)),
      .RamStyle("distributed"),
    .ReadOld(1'b1)
    ) u_fractions (
      .clk_i,
      .we_i(load_q && kind_q == LoadFraction && column_q == ColumnBits'(k)),
      .waddr_i({load_table_q, load_slot}),
      .wdata_i(load_word_q[Bits-1:0]),
      .re_i(1'b1),
      .raddr_i({term.number, term.slot}),
      .rdata_o(fraction[k*Width+:Bits])
    );
  end
  localparam int unsigned FractionSum =
      x_cut(Width) + y_cut(FractionBits) + $clog2(Terms + 1);
  logic first_q;
  logic [ FractionSum-1:0] tile [FractionTiles];
  logic [QuotientBits-1:0] quotient, v_q;
  logic v_ready;
  always_ff @(posedge clk_i) first_q <= term.first;
  rs_tile_accumulate #(
    .XWidth(Cfg.Width),
    .YWidth(Cfg.FractionBits),
    .Terms(Cfg.Terms),
    .RoundBit(int'(FractionBits) - 1)
  ) u_fraction_sum (
    .clk_i,
    .first_i(first_q),
    .x_i(y),
    .y_i(fraction),
    .sum_o(tile)
  );
  rs_tile_sum #(
    .Xs(x_parts(Width)),
    .Ys(y_parts(FractionBits)),
    .XCut(x_cut(Width)),
    .YCut(y_cut(FractionBits)),
    .TileBits(FractionSum),
    .First(Cfg.FractionBits),
    .OutBits(QuotientBits)
  ) u_quotient (
    .clk_i,
    .tile_i(tile),
    .total_o(quotient)
  );
  rs_delay #(
    .Width(1),
    .Depth(1 + tile_latency() + tile_sum_latency(FractionTiles))
  ) u_v_ready (
    .clk_i,
    .d_i(term.ends),
    .d_o(v_ready)
  );
  always_ff @(posedge clk_i) if (v_ready) v_q <= quotient;

  // Sums of products, one cell after the other. The start of the first cell is delayed so that its
  // sum is there a cycle after v.
  term_t cell_term;
  logic [Width-1:0] cell_word, own;
  rs_delay #(
    .Width($bits(term_t)),
    .Depth(FractionTiles)
  ) u_cell_term (
    .clk_i,
    .d_i(term),
    .d_o(cell_term)
  );
  rs_delay #(
    .Width(Cfg.Width),
    .Depth(FractionTiles)
  ) u_cell_word (
    .clk_i,
    .d_i(y),
    .d_o(cell_word)
  );
  rs_delay #(
    .Width(Cfg.Width),
    .Depth(weighted_latency(Width, StepBits, FractionBits))
  ) u_own (
    .clk_i,
    .d_i(own_i),
    .d_o(own)
  );

  localparam int unsigned Tiles = tiles(Width, Width);
  localparam int unsigned SumBits = x_cut(Width) + y_cut(Width) + $clog2(Terms + 1);
  logic [TableBits-1:0]     cell_table  [Outputs+1];
  logic [SlotBits-1:0]      cell_slot   [Outputs+1];
  logic                     cell_first  [Outputs+1];
  logic                     cell_is_own [Outputs+1];
  logic [Width-1:0]         words       [Outputs+1];
  logic [Tiles*SumBits-1:0] sums        [Outputs];
  assign cell_table[0]  = cell_term.number;
  assign cell_slot[0]   = cell_term.slot;
  assign cell_first[0]  = cell_term.first;
  assign cell_is_own[0] = cell_term.is_own;
  assign words[0]       = cell_word;
  for (genvar j = 0; j < Outputs; j++) begin : gen_cell
    logic [SumBits-1:0] sum [Tiles];
    rs_base_convert_cell #(
      .Cfg(Cfg)
    ) u_cell (
      .clk_i,
      .load_i(load_q && kind_q == LoadWeight && column_q == ColumnBits'(j)),
      .load_table_i(load_table_q),
      .load_row_i(load_slot),
      .load_word_i(load_word_q),
      .table_i(cell_table[j]),
      .slot_i(cell_slot[j]),
      .first_i(cell_first[j]),
      .is_own_i(cell_is_own[j]),
      .word_i(words[j]),
      .own_i(own),
      .table_o(cell_table[j+1]),
      .slot_o(cell_slot[j+1]),
      .first_o(cell_first[j+1]),
      .is_own_o(cell_is_own[j+1]),
      .word_o(words[j+1]),
      .sum_o(sum)
    );
    for (genvar t = 0; t < Tiles; t++) begin : gen_tile
      assign sums[j][t*SumBits+:SumBits] = sum[t];
    end
  end

  // The outputs: their sums, factors and moduli, as they are reduced one by one. A sum is there
  // rs_baseconv_pkg::tile_latency() cycles after its last word, which comes a cycle after
  // cell_term.ends; counting, and selecting, take two of them.
  rs_delay #(
    .Width(1 + TableBits),
    .Depth(tile_latency() - 1)
  ) u_ended (
    .clk_i,
    .d_i({cell_term.ends, cell_term.number}),
    .d_o({ended, ended_number})
  );
  logic [OutputBits-1:0] select_q;
  logic [Tiles*SumBits-1:0] selected;
  logic [SumBits-1:0] sum [Tiles];
  always_ff @(posedge clk_i) select_q <= out_number;
  rs_select #(
    .Width(Tiles * SumBits),
    .Words(Cfg.Outputs)
  ) u_sum (
    .clk_i,
    .index_i(select_q),
    .word_i(sums),
    .word_o(selected)
  );
  for (genvar t = 0; t < Tiles; t++) begin : gen_tile
    assign sum[t] = selected[t*SumBits+:SumBits];
  end

  logic [Width-1:0] quotient_factor, out_modulus;
  logic [TableBits+OutputBits-1:0] modulus_address;
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(2 ** (TableBits + OutputBits)),
    .RamStyle("distributed"),
    .ReadOld(1'b1)
  ) u_quotient_factors (
    .clk_i,
    .we_i(load_q && kind_q == LoadQuotientFactor),
    .waddr_i({load_table_q, load_output}),
    .wdata_i(load_word_q),
    .re_i(1'b1),
    .raddr_i({out_table, out_number}),
    .rdata_o(quotient_factor)
  );
  rs_delay #(
    .Width(TableBits + OutputBits),
    .Depth(quotient_tiles(Width, Terms) + 3)
  ) u_modulus_address (
    .clk_i,
    .d_i({out_table, out_number}),
    .d_o(modulus_address)
  );
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(2 ** (TableBits + OutputBits)),
    .RamStyle("distributed"),
    .ReadOld(1'b1)
  ) u_output_moduli (
    .clk_i,
    .we_i(load_q && kind_q == LoadOutputModulus),
    .waddr_i({load_table_q, load_output}),
    .wdata_i(load_word_q),
    .re_i(1'b1),
    .raddr_i(modulus_address),
    .rdata_o(out_modulus)
  );
  rs_base_convert_reduce #(
    .Cfg(Cfg)
  ) u_reduce (
    .clk_i,
    .v_i(v_q),
    .factor_i(quotient_factor),
    .sum_i(sum),
    .modulus_i(out_modulus),
    .word_o
  );
  rs_delay #(
    .Width(2),
    .Depth(1 + reduce_latency(Width, StepBits, Terms))
  ) u_valid (
    .clk_i,
    .d_i({out_active, out_active && out_last}),
    .d_o({valid_o, last_o})
  );
endmodule
