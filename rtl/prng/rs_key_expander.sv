// Uniform half of a key-switching key, expanded from its seed: a block of one limb of one digit.
//
// From the cycle rs_prng_pkg::expander_latency(StepBits, Lanes) after start_i on, residues_o holds
// Lanes coefficients more every cycle, in the order of the stored NTT form, until the next start.
// docs/arithmetic.md ("Seeded keys") defines them; they do not depend on Lanes. seed_i, digit_i,
// limb_i and block_i belong to start_i; q_i and index_i describe the modulus as in rs_mod_mul and
// hold still. n rows of residues are all out if the next start comes n + expander_pause(Lanes)
// cycles later, or after that.
//
// Each lane steps Streams / Lanes generators in turn, whose states go round in shift registers.
// Cost a lane: 128 rounds of Trivium, 288 bits of state for each of its generators in flip-flops
// (one generator) or shift-register LUTs, and rs_key_residue.
module rs_key_expander
  import rs_arith_pkg::*;
  import rs_prng_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned Lanes = 2,
  parameter int unsigned StepBits = 14,
  parameter int unsigned Reduction = ReductionBarrett,
  parameter int unsigned Family = rs_sparse_pkg::FamilyMedha  // counts only with ReductionSparse
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  start_i,
  input  logic [SeedBits-1:0]   seed_i,
  input  logic [IndexBits-1:0]  digit_i,
  input  logic [IndexBits-1:0]  limb_i,
  input  logic [IndexBits-1:0]  block_i,
  input  logic [Width-1:0]      q_i,
  input  logic [IndexWidth-1:0] index_i,
  output logic [Width-1:0]      residues_o [Lanes]
);
  localparam int unsigned Turns = Streams / Lanes;  // generators of a lane
  localparam int unsigned StreamBits = $clog2(Streams);

  if (Lanes < 1 || Lanes > Streams || Streams % Lanes != 0) begin : gen_bad_lanes
    $error("rs_key_expander: Lanes = %0d is no power of two from 1 to %0d", Lanes, Streams);
  end

  // The bits below the modulus's leading one: what u has above ScaleBits.
  logic [Width-2:0] mask_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Width - 1; i++) mask_q[i] <= |(q_i >> (i + 1));
  end

  // Loading: first_q is the number of lane 0's stream.
  logic [SeedBits-1:0]   seed_q;
  logic [IndexBits-1:0]  digit_q, limb_q, block_q;
  logic                  load_q;
  logic [StreamBits-1:0] first_q;
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      seed_q  <= seed_i;
      digit_q <= digit_i;
      limb_q  <= limb_i;
      block_q <= block_i;
    end
    if (!rst_ni) load_q <= 1'b0;
    else if (start_i) load_q <= 1'b1;
    else if (first_q == StreamBits'(Streams - Lanes)) load_q <= 1'b0;
    first_q <= start_i ? '0 : first_q + StreamBits'(Lanes);
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    // Its states, as rs_trivium has them: the one whose turn it is, that one stepped or loaded, and
    // what comes back after Turns - 1 cycles.
    logic [SeedBits-1:0] iv;
    logic [TriviumA-1:0] a_q, a_next, a_back;
    logic [TriviumB-1:0] b_q, b_next, b_back;
    logic [TriviumC-1:0] c_q, c_next, c_back;
    logic [63:0]         words   [2];
    logic [63:0]         words_q [2];
    assign iv = SeedBits'({block_q, digit_q, limb_q, 16'(first_q) + 16'(l)});
    rs_trivium #(
      .Words(2)
    ) u_trivium (
      .a_i(a_q),
      .b_i(b_q),
      .c_i(c_q),
      .a_o(a_next),
      .b_o(b_next),
      .c_o(c_next),
      .words_o(words)
    );
    rs_delay #(
      .Width(TriviumA + TriviumB + TriviumC),
      .Depth(Turns - 1)
    ) u_turns (
      .clk_i,
      .d_i({load_q ? {seed_q, {(TriviumA - SeedBits) {1'b0}}} : a_next,
            load_q ? {iv, {(TriviumB - SeedBits) {1'b0}}} : b_next,
            load_q ? TriviumC'(7) : c_next}),
      .d_o({a_back, b_back, c_back})
    );
    always_ff @(posedge clk_i) begin
      a_q     <= a_back;
      b_q     <= b_back;
      c_q     <= c_back;
      words_q <= words;
    end

    // u's bits: the first word and four of the second, then as many as the modulus has, less one.
    logic unused_bits;
    assign unused_bits = ^words_q[1];
    rs_key_residue #(
      .Width(Width),
      .StepBits(StepBits),
      .Reduction(Reduction),
      .Family(Family)
    ) u_residue (
      .clk_i,
      .low_i(words_q[0]),
      .low_rest_i(words_q[1][ScaleBits-65:0]),
      .top_i(words_q[1][ScaleBits-64+:Width-1] & mask_q),
      .q_i,
      .index_i,
      .residue_o(residues_o[l])
    );
  end
endmodule
