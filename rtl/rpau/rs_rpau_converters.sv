// Base converters of a device, with the connections from and to all RPAUs.
//
// A coefficient takes Rpaus cycles in a converter: input i is the word of RPAU i, output j goes to
// RPAU j, and coefficients follow each other without a pause. Converters base converters run in
// lockstep. Words move from each RPAU to the one before it, HopCycles cycles a hop. The word of
// RPAU i must pass RPAU 0 i cycles after RPAU 0's own word. So RPAU i sends (Rpaus - 1 - i) *
// (HopCycles - 1) cycles after the last RPAU. At each RPAU at most one word is not zero, so words
// are combined by OR. Outputs move in the other direction, each with its number.
//
// start_i: one cycle, as those of the RPAUs' units, with table_i; conversion_i says that it is one.
// load_*: a word of address space conversion, its row being {kind, column, row} of rs_base_convert.
module rs_rpau_converters
  import rs_ntt_pkg::*;
  import rs_baseconv_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned SmallerRings = Cfg.SmallerRings,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Rpaus = Cfg.Rpaus,
  localparam int unsigned HopCycles = Cfg.HopCycles,
  parameter  int unsigned Converters = 1,
  parameter  int unsigned Conversions = 4
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  input  ring_t                      ring_i,       // still while a program runs
  input  logic                       start_i,
  input  logic [ConversionWidth-1:0] table_i,

  input  logic                       load_i,
  input  logic [HostIndexWidth-1:0]  load_table_i,
  input  logic [RowWidth-1:0]        load_row_i,
  input  logic [Width-1:0]           load_word_i,

  input  logic [Width-1:0]           x_i [Rpaus][Converters],
  input  logic [Width-1:0]           own_i [Rpaus][Converters],
  output logic [Rpaus-1:0]           word_valid_o,
  output logic [Width-1:0]           word_o [Rpaus][Converters]
);
  localparam int unsigned StepBits = (LogN - SmallerRings < 16) ? LogN - SmallerRings + 1 : 17;
  localparam int unsigned TableBits = index_bits(Conversions);
  localparam int unsigned TermBits = index_bits(Rpaus);
  localparam int unsigned Columns = (LiftFractionBits + Width - 1) / Width;
  localparam int unsigned ColumnBits = index_bits((Columns > Rpaus) ? Columns : Rpaus);
  localparam int unsigned RowFieldBits = 4;
  localparam int unsigned ColumnFieldBits = 4;
  localparam int unsigned Parts = 2 * Cores / Converters;
  localparam int unsigned PartBits = (Parts > 1) ? $clog2(Parts) : 1;
  localparam int unsigned RowBits = LogN - $clog2(2 * Cores);

  // ---- loading ----------------------------------------------------------------------------------
  logic                 load_q;
  logic [TableBits-1:0] load_table_q;
  logic [RowWidth-1:0]  load_row_q;
  logic [Width-1:0]     load_word_q;
  always_ff @(posedge clk_i) begin
    load_q <= load_i;
    if (load_i) begin
      load_table_q <= load_table_i[TableBits-1:0];
      load_row_q   <= load_row_i;
      load_word_q  <= load_word_i;
    end
  end

  // ---- when coefficients start ------------------------------------------------------------------
  // The first word of RPAU 0 stands at its converter FirstWait cycles after the first step of the
  // last RPAU: the step's register, the memory, and the hops.
  localparam int unsigned FirstWait =
      1 + memory_read_latency() + 1 + (Rpaus - 1) * (HopCycles - 1);
  localparam int unsigned WaitBits = $clog2(((FirstWait > Rpaus) ? FirstWait : Rpaus) + 1);
  logic                 started_q, active_q, begins, row_ends, last;
  logic [WaitBits-1:0]  wait_q;
  logic [PartBits-1:0]  part_q;
  logic [RowBits-1:0]   row_q;
  logic [TableBits-1:0] table_q;
  assign begins   = active_q && wait_q == '0;
  assign row_ends = part_q == PartBits'(Parts - 1);
  assign last     = begins && row_ends && row_q == ring_i.last_row[RowBits-1:0];
  always_ff @(posedge clk_i) begin
    started_q <= rst_ni && start_i;
    if (start_i) table_q <= table_i[TableBits-1:0];
    if (!rst_ni) active_q <= 1'b0;
    else if (started_q) active_q <= 1'b1;
    else if (last) active_q <= 1'b0;
    if (started_q) begin
      wait_q <= WaitBits'(FirstWait);
      part_q <= '0;
      row_q  <= '0;
    end else begin
      wait_q <= begins ? WaitBits'(Rpaus - 1) : wait_q - 1'b1;
      if (begins) begin
        part_q <= row_ends ? '0 : part_q + 1'b1;
        row_q  <= row_q + RowBits'(row_ends);
      end
    end
  end

  // ---- the way from the RPAUs, the conversions --------------------------------------------------
  logic [Converters-1:0] valid, ends;
  logic [Width-1:0]      out [Converters];
  for (genvar k = 0; k < Converters; k++) begin : gen_converter
    logic [Width-1:0] x_q [Rpaus];
    logic [Width-1:0] own_q [Rpaus];
    for (genvar r = 0; r < Rpaus; r++) begin : gen_stage
      logic [Width-1:0] x_behind, own_behind;
      if (r == Rpaus - 1) begin : gen_last
        assign x_behind   = '0;
        assign own_behind = '0;
      end else begin : gen_sooner
        rs_delay #(
          .Width(2 * Width),
          .Depth(HopCycles - 1)
        ) u_hop (
          .clk_i,
          .d_i({own_q[r+1], x_q[r+1]}),
          .d_o({own_behind, x_behind})
        );
      end
      always_ff @(posedge clk_i) begin
        x_q[r]   <= x_i[r][k] | x_behind;
        own_q[r] <= own_i[r][k] | own_behind;
      end
    end
    logic [Width-1:0] own;  // the outputs' own words enter with the last term and after it
    rs_delay #(
      .Width(Cfg.Width),
      .Depth(Rpaus - 1)
    ) u_own (
      .clk_i,
      .d_i(own_q[0]),
      .d_o(own)
    );
    rs_base_convert #(
      .Width(Cfg.Width),
      .StepBits(StepBits),
      .Terms(Rpaus),
      .Outputs(Rpaus),
      .Tables(Conversions)
    ) u_convert (
      .clk_i,
      .rst_ni,
      .load_i(load_q),
      .load_kind_i(load_row_q[RowFieldBits+ColumnFieldBits+:KindBits]),
      .load_table_i(load_table_q),
      .load_row_i(load_row_q[TermBits-1:0]),
      .load_column_i(load_row_q[RowFieldBits+:ColumnBits]),
      .load_word_i(load_word_q),
      .start_i(begins),
      .table_i(table_q),
      .x_i(x_q[0]),
      .own_i(own),
      .valid_o(valid[k]),
      .last_o(ends[k]),
      .word_o(out[k])
    );
  end

  // ---- the way to the RPAUs ---------------------------------------------------------------------
  typedef struct packed {
    logic                             valid;
    logic [TermBits-1:0]              number;
    logic [Converters-1:0][Width-1:0] words;
  } output_t;
  logic [TermBits-1:0] number_q;
  output_t             leaving, passing [Rpaus];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) number_q <= '0;
    else if (valid[0]) number_q <= ends[0] ? '0 : number_q + 1'b1;
  end
  always_comb begin
    leaving.valid  = valid[0];
    leaving.number = number_q;
    for (int unsigned k = 0; k < Converters; k++) leaving.words[k] = out[k];
  end
  for (genvar r = 0; r < Rpaus; r++) begin : gen_way
    output_t sent;
    if (r == 0) begin : gen_first
      assign sent = leaving;
    end else begin : gen_later
      assign sent = passing[r-1];
    end
    rs_delay #(
      .Width($bits(output_t)),
      .Depth((r == 0) ? 1 : HopCycles)
    ) u_hop (
      .clk_i,
      .d_i(sent),
      .d_o(passing[r])
    );
    assign word_valid_o[r] = passing[r].valid && passing[r].number == TermBits'(r);
    for (genvar k = 0; k < Converters; k++) begin : gen_word
      assign word_o[r][k] = passing[r].words[k];
    end
  end
endmodule
