// One output prime's sum of products: sum over the terms of a conversion of term * weight.
//
// The inputs go on to the next cell a cycle later, so that the sums of neighbours end in
// neighbouring cycles. control_i describes the term of the next cycle: word_i, or own_i where the
// term is the output's own. sum_o holds the tiles of the sum
// rs_baseconv_pkg::tile_latency() cycles after its last word, in that cycle alone.
//
// Weights: a table of Slots words for each conversion, written while it does not run.
module rs_base_convert_cell
  import rs_baseconv_pkg::*;
#(
  parameter  base_convert_cfg_t Cfg = DefaultBaseConvert,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Terms = Cfg.Terms,
  localparam int unsigned Tables = Cfg.Tables,
  localparam int unsigned TableBits = index_bits(Tables),
  localparam int unsigned SlotBits = index_bits(Terms),
  localparam int unsigned Tiles = tiles(Width, Width),
  localparam int unsigned SumBits = x_cut(Width) + y_cut(Width) + $clog2(Terms + 1)
) (
  input  logic                 clk_i,
  input  logic                 load_i,
  input  logic [TableBits-1:0] load_table_i,
  input  logic [ SlotBits-1:0] load_row_i,
  input  logic [    Width-1:0] load_word_i,
  input  logic [TableBits-1:0] table_i,
  input  logic [ SlotBits-1:0] slot_i,
  input  logic                 first_i,
  input  logic                 is_own_i,
  input  logic [    Width-1:0] word_i,
  input  logic [    Width-1:0] own_i,
  output logic [TableBits-1:0] table_o,
  output logic [ SlotBits-1:0] slot_o,
  output logic                 first_o,
  output logic                 is_own_o,
  output logic [    Width-1:0] word_o,
  output logic [  SumBits-1:0] sum_o [Tiles]
);
  always_ff @(posedge clk_i) begin
    table_o  <= table_i;
    slot_o   <= slot_i;
    first_o  <= first_i;
    is_own_o <= is_own_i;
    word_o   <= word_i;
  end

  logic [Width-1:0] weight;
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(2 ** (TableBits + SlotBits)),
    .RamStyle("distributed"),
    .ReadOld(1'b1)
  ) u_weights (
    .clk_i,
    .we_i(load_i),
    .waddr_i({load_table_i, load_row_i}),
    .wdata_i(load_word_i),
    .re_i(1'b1),
    .raddr_i({table_i, slot_i}),
    .rdata_o(weight)
  );

  // first_o and is_own_o belong to word_i.
  rs_tile_accumulate #(
    .XWidth(Cfg.Width),
    .YWidth(Cfg.Width),
    .Terms (Terms)
  ) u_sum (
    .clk_i,
    .first_i(first_o),
    .x_i(is_own_o ? own_i : word_i),
    .y_i(weight),
    .sum_o
  );
endmodule
