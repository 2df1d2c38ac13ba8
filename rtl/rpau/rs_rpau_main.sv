// Main unit of an RPAU: NTT, automorphism, pointwise work on all lanes, and broadcast.
//
// One pipeline for all: a sequencer names rows, the work memory reads them, rs_lane_gather arranges
// the words, rs_butterfly_lanes computes, rs_lane_scatter arranges the results, the work memory
// writes them. Operand b may come from the key store, operand a of a broadcast's receivers comes
// from the interconnect, and the results of its source go there. Each instruction keeps the unit
// for a time that does not depend on data: docs/reference/isa-rpau.md,
// python/ringsmith/backends/rpau/design/latency.py.
//
// start_i: one cycle, while the unit is idle; command_i and sender_i belong to it. done_o: one
// cycle, when all is in memory. A broadcast ends in all its RPAUs at once, with the last row.
`include "rs_assert.svh"

module rs_rpau_main
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned RowBits = Cfg.LogN - LogLanes,
  localparam int unsigned ShiftWidth = $clog2(Cfg.Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  ring_t                 ring_i,        // still while a program runs
  input  logic                  start_i,
  input  command_t              command_i,
  input  logic                  sender_i,      // this RPAU is the source of the broadcast
  output logic                  done_o,

  // Modulus bank, modulus and constants of the running instruction.
  input  logic [PrimeWidth-1:0] set_i,
  input  logic [Cfg.Width-1:0]  q_i,
  input  logic [Cfg.Width-1:0]  mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Cfg.Width-1:0]  k1_i,
  input  logic [Cfg.Width-1:0]  k2_i,

  // Twiddle tables: the host's writes.
  input  host_t                 host_i,
  input  logic [Cfg.Width-1:0]  host_word_i,

  // Work memory, and the key store.
  output work_read_t            read_o,
  output key_read_t             key_read_o,
  input  logic [Cfg.Width-1:0]  operand_i [3][Lanes],  // a, b, c
  input  logic [Cfg.Width-1:0]  key_i [Lanes],
  output work_write_t           write_o,
  output logic [Cfg.Width-1:0]  wdata_o [Lanes],

  // Interconnect: words of the RPAU that sends, and those that this one sends.
  input  logic                  link_valid_i,
  input  logic [Cfg.Width-1:0]  link_i [Lanes],
  output logic                  link_send_o,   // this RPAU is sending
  output logic                  link_valid_o,
  output logic [Cfg.Width-1:0]  link_o [Lanes]
);
  localparam ntt_cfg_t Ntt = '{
      LogN: Cfg.LogN,
      LargerRings: Cfg.LargerRings,
      Cores: Cfg.Cores,
      Width: Cfg.Width,
      Multipliers: Cfg.CoreMultipliers,
      Sets: Cfg.ModulusBanks,
      SetBits: PrimeWidth,
      Twiddles: Cfg.Twiddles,
      Reduction: Cfg.Reduction,
      Family: Cfg.Family
  };
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1;
  localparam int unsigned InOrder = LogLanes - 1;  // the lane pattern that keeps the order

  // A step of the pipeline. It reads and writes rows u and t, which are the same row except in
  // stages across rows. Row u is in physical half 0, or in half 1 where the halves are swapped.
  typedef struct packed {
    logic                   valid;
    logic                   again;    // reads dst: what an earlier stage has written
    logic                   swap;
    logic                   half;     // of a row of two polynomials
    logic [RowBits-1:0]     row_u;
    logic [RowBits-1:0]     row_t;
    logic [PatternBits-1:0] pattern;
  } step_t;

  // ---- the running instruction ------------------------------------------------------------------
  // The instruction is decoded as it arrives, so that no path to a memory begins with an opcode. In
  // pointwise instructions operand c is the summand (dst or b), and operand b the factor.
  opcode_e opcode;
  factor_e factor;
  addend_e addend;
  logic    pairs;
  assign opcode = command_i.decoded.opcode;
  assign factor = command_i.decoded.factor;
  assign addend = command_i.decoded.addend;
  assign pairs  = opcode inside {OpSplit, OpJoin};

  command_t command_q;
  logic     started_q, sender_q, busy;
  logic     transform_q, pair_q, inverse_q, permute_q, broadcast_q, receive_q;
  logic     sum_q, one_q, subtract_q, use_b_q, use_c_q, use_key_q;
  always_ff @(posedge clk_i) begin
    started_q <= rst_ni && start_i;
    if (start_i) begin
      command_q   <= command_i;
      sender_q    <= sender_i;
      transform_q <= opcode inside {OpNtt, OpIntt};
      pair_q      <= pairs;
      inverse_q   <= opcode inside {OpIntt, OpJoin};
      permute_q   <= opcode == OpAutomorph;
      broadcast_q <= opcode == OpBroadcast;
      receive_q   <= opcode == OpBroadcast && !sender_i;
      sum_q       <= addend == AddendB;
      one_q       <= factor == FactorNone;
      subtract_q  <= command_i.decoded.minus;
      use_b_q     <= factor == FactorB || pairs;
      use_c_q     <= addend inside {AddendB, AddendDst};
      use_key_q   <= factor == FactorBKey;
    end
  end

  // With one multiplier a core: sums use no multiplier; other pointwise instructions take two
  // cycles a row.
  logic in_turn, sum_only;
  assign sum_only = (Cfg.CoreMultipliers == 1) && sum_q && one_q;
  assign in_turn  = (Cfg.CoreMultipliers == 1) && !transform_q && !pair_q && !sum_only;

  // ---- sequencers -------------------------------------------------------------------------------
  step_t ntt_step;
  logic  ntt_start, ntt_last;
  assign ntt_step.half = 1'b0;
  rs_delay #(
    .Width(1),
    .Depth(twiddle_lead(Cfg.Twiddles, Cfg.Reduction))
  ) u_ntt_start (
    .clk_i,
    .d_i(started_q && transform_q),
    .d_o(ntt_start)
  );
  rs_ntt_sequencer #(
    .Cfg(Ntt)
  ) u_ntt_sequencer (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(ntt_start),
    .inverse_i(inverse_q),
    .valid_o(ntt_step.valid),
    .again_o(ntt_step.again),
    .last_o(ntt_last),
    .row_u_o(ntt_step.row_u),
    .row_t_o(ntt_step.row_t),
    .swap_o(ntt_step.swap),
    .pattern_o(ntt_step.pattern)
  );

  localparam int unsigned ElementBits = Cfg.LogN + Cfg.LargerRings + 1;
  logic [ElementBits-1:0] element;
  logic [1:0]             sub_poly;
  logic                   walk_valid, walk_last, walk_half;
  logic [RowBits-1:0]     walk_row_read, walk_row_write;
  logic [LogLanes-1:0]    walk_offset;
  assign element  = permute_q ? ElementBits'(command_q.word[ElementLsb+:ElementWidth])
                              : ElementBits'(1);
  assign sub_poly = command_q.decoded.uses_sub_poly ? command_q.word[SubPolyLsb+:SubPolyWidth] : '0;
  rs_automorph_sequencer #(
    .Cfg(Ntt)
  ) u_walk_sequencer (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(started_q && !transform_q),
    .element_i(element),
    .sub_poly_i(sub_poly),
    .twice_i(pair_q || in_turn),
    .valid_o(walk_valid),
    .last_o(walk_last),
    .row_read_o(walk_row_read),
    .row_write_o(walk_row_write),
    .half_o(walk_half),
    .offset_o(walk_offset)
  );

  // ---- twiddle factors, ahead of the data -------------------------------------------------------
  logic [Cfg.Width-1:0] tw_factor [Cfg.Cores];
  logic [Cfg.Width-1:0] tw_hi [Cfg.Cores];
  logic [Cfg.Width-1:0] tw_lo;
  rs_ntt_factors #(
    .Cfg(Ntt)
  ) u_factors (
    .clk_i,
    .rst_ni,
    .ring_i,
    .sub_poly_i(sub_poly),
    .start_i(started_q && transform_q),
    .inverse_i(inverse_q),
    .set_i,
    .factor_o(tw_factor),
    .hi_o(tw_hi),
    .lo_o(tw_lo),
    .factor_we_i(host_i.we && host_i.space == SpaceTwiddle),
    .lo_we_i(host_i.we && host_i.space == SpaceTwiddleLo),
    .hi_we_i(host_i.we && host_i.space == SpaceTwiddleHi),
    .wset_i(host_i.index[PrimeWidth-1:0]),
    .waddr_i(host_i.row[Cfg.LogN+Cfg.LargerRings-1:0]),
    .wdata_i(host_word_i)
  );

  // ---- read -------------------------------------------------------------------------------------
  step_t walk_read, walk_write, sooner_step, later_step, read_step, write_step;
  logic  last;
  logic [LogLanes-1:0] offset;
  // In pointwise instructions all operands and results have the same order: halves are not swapped.
  logic moves, walk_step, of_pair;
  assign moves     = permute_q || pair_q;
  assign walk_step = walk_valid && !receive_q && !(in_turn && walk_half);
  assign of_pair   = pair_q && walk_half;
  assign walk_read = '{
          valid: walk_step,
          again: pair_q,
          swap: moves && ((^walk_row_read) ^ of_pair),
          half: of_pair,
          row_u: walk_row_read,
          row_t: walk_row_read,
          pattern: PatternBits'(InOrder)
      };
  assign walk_write = '{
          valid: walk_step,
          again: 1'b0,
          swap: moves && ^walk_row_write,
          half: of_pair,
          row_u: walk_row_write,
          row_t: walk_row_write,
          pattern: PatternBits'(InOrder)
      };
  assign sooner_step = transform_q ? ntt_step : walk_read;
  assign write_step  = transform_q ? ntt_step : walk_write;
  assign last        = transform_q ? ntt_last : walk_last;

  // Only inverse butterflies need their operands this early; automorphisms do not.
  rs_delay #(
    .Width($bits(step_t) + LogLanes),
    .Depth(lanes_wait())
  ) u_later_steps (
    .clk_i,
    .d_i({sooner_step, walk_offset}),
    .d_o({later_step, offset})
  );
  assign read_step = inverse_q ? sooner_step : later_step;

  logic [DstWidth-1:0] dst, poly_a, poly_b;
  logic [RowBits-1:0]  read_row [2];
  assign dst    = command_q.word[DstLsb+:DstWidth];
  assign poly_b = command_q.word[BLsb+:BWidth];
  // After a transform's first stage operand a is dst itself.
  assign poly_a      = read_step.again ? dst : command_q.word[ALsb+:AWidth];
  assign read_row[0] = read_step.swap ? read_step.row_t : read_step.row_u;
  assign read_row[1] = read_step.swap ? read_step.row_u : read_step.row_t;
  assign read_o = '{
          valid: read_step.valid,
          uses: {use_c_q, use_b_q, 1'b1},
          poly: {sum_q ? poly_b : dst, poly_b, poly_a},
          row: {RowWidth'(read_row[1]), RowWidth'(read_row[0])}
      };
  assign key_read_o = '{
          valid: read_step.valid && use_key_q,
          poly: command_q.word[BKeyLsb+:BKeyWidth],
          row: RowWidth'(read_row[0])
      };

  // ---- compute ----------------------------------------------------------------------------------
  step_t lanes_step, operand_step, receive_step, sum_step, passing_step, result_step, row_step;
  logic [Cfg.Width-1:0] a_lanes [Lanes];
  logic [Cfg.Width-1:0] b_lanes [Lanes];
  logic [Cfg.Width-1:0] c_lanes [Lanes];
  logic [Cfg.Width-1:0] result [Lanes];
  rs_rpau_operands #(
    .Cfg(Cfg)
  ) u_operands (
    .clk_i,
    .swap_i(read_step.swap),
    .odd_i(^read_step.row_u),
    .pattern_i(read_step.pattern),
    .permute_i(permute_q),
    .element_i(element[LogLanes-1:0]),
    .offset_i(offset),
    .pair_i(pair_q),
    .use_key_i(use_key_q),
    .a_i(operand_i[0]),
    .b_i(operand_i[1]),
    .c_i(operand_i[2]),
    .key_i,
    .a_o(a_lanes),
    .b_o(b_lanes),
    .c_o(c_lanes)
  );

  rs_butterfly_lanes #(
    .Cfg(Ntt)
  ) u_lanes (
    .clk_i,
    .valid_i(operand_step.valid),
    .sum_i(sum_only),
    .butterfly_i(transform_q || pair_q),
    .constant_i(pair_q),
    .inverse_i(inverse_q),
    .sub_i(subtract_q),
    .use_b_i(use_b_q || use_key_q),
    .use_c_i(use_c_q),
    .use_link_i(receive_q),
    .k1_i,
    .k2_i,
    .q_i,
    .mu_i,
    .shift_i,
    .index_i,
    .a_i(a_lanes),
    .b_i(b_lanes),
    .c_i(c_lanes),
    .link_i,
    .tw_factor_i(tw_factor),
    .tw_hi_i(tw_hi),
    .tw_lo_i(tw_lo),
    .y_o(result)
  );

  // ---- the steps alongside: memory to lanes, then lanes to results ------------------------------
  logic               received;         // all rows
  logic [RowBits-1:0] receive_row;
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(memory_read_latency() + 1 + lanes_wait())
  ) u_read_steps (
    .clk_i,
    .d_i(write_step),
    .d_o(lanes_step)
  );

  rs_rpau_receive #(
    .Cfg(Cfg)
  ) u_receive (
    .clk_i,
    .start_i(started_q),
    .skip_i(ring_i.skip),
    .valid_i(link_valid_i),
    .row_o(receive_row),
    .all_o(received)
  );
  assign receive_step = '{
          valid: link_valid_i && busy,
          again: 1'b0,
          swap: 1'b0,
          half: 1'b0,
          row_u: receive_row,
          row_t: receive_row,
          pattern: PatternBits'(InOrder)
      };
  assign operand_step = receive_q ? receive_step : lanes_step;
  // First the latency of a sum, then the rest of the lanes' latency. Each part ends with a
  // register.
  step_t sum_soon, lane_soon, result_soon;
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(mod_addsub_latency() - 1)
  ) u_sum_steps (
    .clk_i,
    .d_i(operand_step),
    .d_o(sum_soon)
  );
  always_ff @(posedge clk_i) sum_step <= sum_soon;
  if (Cfg.CoreMultipliers == 1) begin : gen_in_turn
    step_t sum_step_q;
    always_ff @(posedge clk_i) sum_step_q <= sum_step;
    always_comb begin
      passing_step = in_turn ? sum_step_q : sum_step;
      // Otherwise it would be written during the next instruction.
      if (sum_only) passing_step.valid = 1'b0;
    end
    assign result_soon = sum_only ? sum_soon : lane_soon;
  end else begin : gen_at_once
    assign passing_step = sum_step;
    assign result_soon  = lane_soon;
  end
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(lanes_latency(Cfg.Reduction) - lanes_wait() - mod_addsub_latency() - 1)
  ) u_lane_steps (
    .clk_i,
    .d_i(passing_step),
    .d_o(lane_soon)
  );
  always_ff @(posedge clk_i) result_step <= result_soon;

  // ---- write, or send ---------------------------------------------------------------------------
  logic second;
  rs_rpau_write #(
    .Cfg(Cfg),
    .StepWidth($bits(step_t))
  ) u_write (
    .clk_i,
    .rst_ni,
    .pair_i(pair_q),
    .upper_i(result_soon.valid && result_soon.half),
    .step_i(result_step),
    .lane_i(result),
    .swap_i(row_step.swap),
    .pattern_i(row_step.pattern),
    .step_o(row_step),
    .second_o(second),
    .word_o(wdata_o)
  );
  // The address is one cycle ahead of the words.
  logic               we_q;
  logic [RowBits-1:0] write_row [2];
  always_ff @(posedge clk_i) we_q <= row_step.valid && !link_send_o;
  assign write_row[0] = row_step.swap ? row_step.row_t : row_step.row_u;
  assign write_row[1] = row_step.swap ? row_step.row_u : row_step.row_t;
  assign write_o = '{
          valid: we_q,
          poly: second ? poly_b : dst,
          row: {RowWidth'(write_row[1]), RowWidth'(write_row[0])}
      };

  assign link_send_o  = busy && broadcast_q && sender_q;
  assign link_valid_o = result_step.valid;
  assign link_o       = result;

  // ---- completion -------------------------------------------------------------------------------
  localparam int unsigned BroadcastDrain =
      broadcast_read_to_write(Cfg.Reduction, interconnect_latency(Cfg)) + 2 - Cfg.CoreMultipliers;
  logic ending;
  rs_rpau_completion #(
    .Drain(read_to_write(Cfg.Reduction)),
    .SumDrain(sum_read_to_write(Cfg.Reduction)),
    .BroadcastDrain(BroadcastDrain)
  ) u_completion (
    .clk_i,
    .rst_ni,
    .start_i,
    .last_i(last),
    .broadcast_i(broadcast_q),
    .pair_i(pair_q),
    .sum_i(sum_only),
    .busy_o(busy),
    .ending_o(ending),
    .done_o
  );

  `RS_ASSERT(LastWriteAtCompletion_A, !(ending && !broadcast_q) || we_q,
             "the last write does not come in the cycle that the latency says")
  `RS_ASSERT(WriteWhileBusy_A, !we_q || busy, "a write comes after the cycle that the latency says")
  `RS_ASSERT(PairsInSubPolys_A, !(start_i && pairs) || ring_i.log_sub_polys != '0,
             "the ring's polynomials do not lie in sub-polynomials")
  `RS_ASSERT(ReceivesAllRows_A, !(receive_q && ending) || received,
             "a broadcast ends without all of its rows")

  `RS_ASSERT(SwapInOrder_A,
             !(row_step.valid && row_step.swap) || row_step.pattern == PatternBits'(InOrder),
             "the halves of a row are swapped in a stage within rows")
endmodule
