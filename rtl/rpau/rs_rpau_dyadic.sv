// Dyadic unit of an RPAU: dst = a*B + C or a*B - C, on DyadicCores lanes, in parallel
// with the main unit.
//
// A row is read every 2*Cores / DyadicCores cycles and goes through the multipliers DyadicCores
// words at a time. The results are collected and written as one row. B is a work polynomial, one of
// the key store, the key expander's output, or the constant k1. C is dst, b or the constant k2.
// Words of a may be any of Width bits where B is k1; everything else is canonical. N / DyadicCores
// cycles and the pipeline: python/ringsmith/backends/rpau/design/latency.py.
//
// start_i: one cycle, while the unit is idle; command_i belongs to it. done_o: one cycle, when the
// last result is in memory.
`include "rs_assert.svh"

module rs_rpau_dyadic
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_prng_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned RowBits = Cfg.LogN - $clog2(Lanes),
  localparam int unsigned Groups = Lanes / Cfg.DyadicCores,  // cycles a row
  localparam int unsigned GroupBits = part_bits(Lanes, Cfg.DyadicCores),
  localparam int unsigned ShiftWidth = $clog2(Cfg.Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  ring_t                 ring_i,     // still while a program runs
  input  logic                  start_i,
  input  command_t              command_i,
  output logic                  done_o,

  input  logic [Cfg.Width-1:0]  q_i,
  input  logic [Cfg.Width-1:0]  mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Cfg.Width-1:0]  k1_i,      // 1 where the instruction names none
  input  logic [Cfg.Width-1:0]  k2_i,      // 0, likewise

  // Work memory, and the key store: its words stay until the next read.
  output work_read_t            read_o,
  output key_read_t             key_read_o,
  output logic                  swap_o,     // of the row
  output logic [GroupBits-1:0]  part_o,     // of it, that is wanted: its group of words
  input  logic [Cfg.Width-1:0]  operand_i [3][Cfg.DyadicCores],  // a, b, c
  input  logic [Cfg.Width-1:0]  key_i [Lanes],
  input  logic [Cfg.Width-1:0]  seeded_i [Cfg.DyadicCores],  // counts only with a PRNG
  output work_write_t           write_o,
  output logic [Cfg.Width-1:0]  wdata_o [Lanes]
);
  if (Cfg.DyadicCores == 0 || Cfg.DyadicCores > Lanes) begin : gen_bad_cores
    $error("rs_rpau_dyadic: %0d dyadic cores with %0d butterfly cores", Cfg.DyadicCores, Cfg.Cores);
  end

  // ---- the running instruction ------------------------------------------------------------------
  command_t command_q;
  decoded_t decoded;
  logic     use_key, use_seed, use_b, use_c, sum, subtract;
  always_ff @(posedge clk_i) begin
    if (start_i) command_q <= command_i;
  end
  assign decoded  = command_q.decoded;
  assign use_key  = decoded.factor == FactorBKey;
  assign use_seed = Cfg.Prng != PrngNone && decoded.factor == FactorSeed;
  assign use_b    = decoded.factor == FactorB;
  // The summand is always read as operand c, also where it is b; operand b is the factor.
  assign sum      = decoded.addend == AddendB;
  assign use_c    = decoded.addend inside {AddendB, AddendDst};
  assign subtract = decoded.minus;
  logic [DstWidth-1:0] dst, poly_b;
  assign dst    = command_q.word[DstLsb+:DstWidth];
  assign poly_b = command_q.word[BLsb+:BWidth];

  // ---- read: one row, then its groups of words --------------------------------------------------
  // With the key expander, rows start Lead cycles later, and pause where its streams start again.
  localparam int unsigned Lead = (Cfg.Prng == PrngNone) ? 1 : seed_lead(Cfg.DyadicCores);
  localparam int unsigned LeadBits = $clog2(Lead + 1);
  logic [LeadBits-1:0]  lead, lead_q;
  logic                 waits, begins, ends;
  logic                 started_q, active_q, read_q, last_q;
  logic [RowBits-1:0]   row_q, read_row_q;
  logic [GroupBits-1:0] group_q, read_group_q;
  logic                 row_end, at_last;
  assign begins  = use_seed ? lead_q == LeadBits'(1) : started_q;
  assign row_end = group_q == GroupBits'(Groups - 1);
  assign at_last = row_q == ring_i.last_row[RowBits-1:0];
  if (Cfg.Prng != PrngNone && Cfg.LogN > LogBlock) begin : gen_blocks
    localparam int unsigned BlockRowBits = LogBlock - $clog2(Lanes);
    logic pauses;
    assign pauses = use_seed && active_q && row_end && &row_q[BlockRowBits-1:0] && !at_last;
    assign waits  = (started_q && use_seed) || pauses;
    assign lead   = LeadBits'(started_q ? Lead : expander_pause(Cfg.DyadicCores));
    assign ends   = (row_end && at_last) || pauses;
  end else begin : gen_block
    assign waits = started_q && use_seed;
    assign lead  = LeadBits'(Lead);
    assign ends  = row_end && at_last;
  end
  always_ff @(posedge clk_i) begin
    started_q <= rst_ni && start_i;
    if (!rst_ni) lead_q <= '0;
    else if (waits) lead_q <= lead;
    else if (lead_q != '0) lead_q <= lead_q - 1'b1;
    if (!rst_ni) active_q <= 1'b0;
    else if (begins) active_q <= 1'b1;
    else if (ends) active_q <= 1'b0;

    if (started_q) begin
      row_q   <= '0;
      group_q <= '0;
    end else if (active_q) begin
      group_q <= row_end ? '0 : group_q + 1'b1;
      if (row_end) row_q <= row_q + 1'b1;
    end

    read_q       <= rst_ni && active_q && group_q == '0;
    read_row_q   <= row_q;
    read_group_q <= group_q;
    last_q       <= active_q && row_end && at_last;
  end
  assign read_o = '{
          valid: read_q,
          uses: {use_c, use_b, 1'b1},
          poly: {sum ? poly_b : dst, poly_b, command_q.word[ALsb+:AWidth]},
          row: {2{RowWidth'(read_row_q)}}
      };
  assign key_read_o = '{
          valid: read_q && use_key,
          poly: command_q.word[BKeyLsb+:BKeyWidth],
          row: RowWidth'(read_row_q)
      };
  assign swap_o = ^read_row_q;
  assign part_o = read_group_q;

  // The key store has the whole row for all of its groups.
  logic [GroupBits-1:0] key_group;
  logic [Cfg.Width-1:0] key [Cfg.DyadicCores];
  rs_delay #(
    .Width(GroupBits),
    .Depth(memory_read_latency())
  ) u_key_group (
    .clk_i,
    .d_i(read_group_q),
    .d_o(key_group)
  );
  for (genvar l = 0; l < Cfg.DyadicCores; l++) begin : gen_key
    logic [Cfg.Width-1:0] given [Groups];
    for (genvar g = 0; g < Groups; g++) begin : gen_group
      assign given[g] = key_i[g*Cfg.DyadicCores+l];
    end
    rs_mux #(
      .Width(Cfg.Width),
      .Words(Groups)
    ) u_key (
      .index_i(key_group),
      .word_i(given),
      .word_o(key[l])
    );
  end

  // Operands of the multipliers, and what is delayed with them.
  logic [Cfg.Width-1:0] a_q [Cfg.DyadicCores];
  logic [Cfg.Width-1:0] b_q [Cfg.DyadicCores];
  logic [Cfg.Width-1:0] c_q [Cfg.DyadicCores];
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Cfg.DyadicCores; l++) begin
      a_q[l] <= operand_i[0][l];
      b_q[l] <= use_seed ? seeded_i[l] : use_key ? key[l] : use_b ? operand_i[1][l] : k1_i;
      c_q[l] <= use_c ? operand_i[2][l] : k2_i;
    end
  end

  // ---- compute ----------------------------------------------------------------------------------
  logic [Cfg.Width-1:0] result [Cfg.DyadicCores];
  for (genvar l = 0; l < Cfg.DyadicCores; l++) begin : gen_lane
    logic [Cfg.Width-1:0] product, c_late;
    rs_mod_mul #(
      .Width(Cfg.Width),
      .Reduction(Cfg.Reduction),
      .Family(Cfg.Family)
    ) u_mul (
      .clk_i,
      .a_i(a_q[l]),
      .b_i(b_q[l]),
      .q_i,
      .mu_i,
      .shift_i,
      .index_i,
      .p_o(product)
    );
    rs_delay #(
      .Width(Cfg.Width),
      .Depth(mod_mul_latency(Cfg.Reduction))
    ) u_wait (
      .clk_i,
      .d_i(c_q[l]),
      .d_o(c_late)
    );
    rs_mod_addsub #(
      .Width(Cfg.Width)
    ) u_add (
      .clk_i,
      .sub_i(subtract),
      .a_i(product),
      .b_i(c_late),
      .q_i,
      .s_o(result[l])
    );
  end

  // ---- write: collect a row ---------------------------------------------------------------------
  // From a row's address at the memory to its first results, and to the cycle in which its last
  // words have been collected.
  localparam int unsigned ReadToResult = memory_read_latency() + 1 + mod_mul_latency(Cfg.Reduction)
                                         + mod_addsub_latency();
  localparam int unsigned ReadToWrite = ReadToResult + Groups;
  logic                 result_swap;
  logic [GroupBits-1:0] result_group;
  rs_delay #(
    .Width(1 + GroupBits),
    .Depth(ReadToResult)
  ) u_result_group (
    .clk_i,
    .d_i({swap_o, read_group_q}),
    .d_o({result_swap, result_group})
  );

  // Physical word l is word l of the row, with halves swapped or not.
  logic [Cfg.Width-1:0] row_words_q [Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_collect
    localparam int unsigned Changed = l ^ Cfg.Cores;
    logic here;
    assign here = result_group == GroupBits'((result_swap ? Changed : l) / Cfg.DyadicCores);
    always_ff @(posedge clk_i) begin
      if (here) begin
        row_words_q[l] <= result[(result_swap?Changed:l)%Cfg.DyadicCores];
      end
    end
  end
  // The address is one cycle ahead of the words.
  logic               row_ends, we_q;
  logic [RowBits-1:0] write_row;
  rs_delay #(
    .Width(RowBits + 1),
    .Depth(ReadToWrite - 1)
  ) u_steps (
    .clk_i,
    .d_i({read_q, read_row_q}),
    .d_o({row_ends, write_row})
  );
  always_ff @(posedge clk_i) we_q <= row_ends;
  assign write_o = '{valid: we_q, poly: dst, row: {2{RowWidth'(write_row)}}};
  assign wdata_o = row_words_q;

  // ---- completion -------------------------------------------------------------------------------
  localparam int unsigned Drain = ReadToWrite - Groups + 1;  // counted from the row's last group
  localparam int unsigned DrainBits = $clog2(Drain + 1);
  logic [DrainBits-1:0] drain_q;
  logic                 done_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) drain_q <= '0;
    else if (last_q) drain_q <= DrainBits'(Drain);
    else if (drain_q != '0) drain_q <= drain_q - 1'b1;
    done_q <= rst_ni && (drain_q == DrainBits'(1));
  end
  assign done_o = done_q;

  `RS_ASSERT(StartWhileIdle_A, !(start_i && (lead_q != '0 || active_q || drain_q != '0)),
             "an instruction starts while another runs")
  `RS_ASSERT(LastWriteAtCompletion_A, drain_q != DrainBits'(1) || we_q,
             "the last write does not come in the cycle that the latency says")
  `RS_ASSERT(WriteWhileBusy_A, !we_q || lead_q != '0 || active_q || last_q || drain_q != '0,
             "a write comes after the cycle that the latency says")
endmodule
