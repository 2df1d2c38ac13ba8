// The a part of a seed-compressed key-switching key, expanded from its seed: a block of one limb of
// one digit.
//
// From the cycle rs_prng_pkg::expander_latency(Lanes) after start_i on, residues_o holds Lanes
// coefficients more every cycle, in the order of the stored NTT form, until the next start.
// docs/reference/arithmetic.md ("Seeded keys") defines them; they do not depend on Lanes. A word
// that is not below the modulus comes out unchanged. Only direct seeds are expanded here, and they
// give no such word. seed_i, digit_i, limb_i and block_i hold still from the cycle after start_i on
// until the next start, and q_i while it runs. After n rows of residues the next start may
// come, n + expander_pause(Lanes) cycles after this one at the earliest.
//
// A lane steps its Streams / Lanes generators one after another; their states circulate in shift
// registers. With more lanes than streams, each generator gives several words a cycle. Cost a lane:
// 64 rounds of Trivium, its word, and 288 bits of state for each of its generators in flip-flops
// (one or two generators) or shift-register LUTs.
module rs_key_expander
  import rs_prng_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned Lanes = 2,
  parameter int unsigned LeastBits = 0  // that every modulus uses of a stream's word
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [SeedBits-1:0]  seed_i,
  input  logic [IndexBits-1:0] digit_i,
  input  logic [IndexBits-1:0] limb_i,
  input  logic [IndexBits-1:0] block_i,
  input  logic [Width-1:0]     q_i,
  output logic [Width-1:0]     residues_o [Lanes]
);
  if (Lanes < 1 || Lanes > MaxLanes || MaxLanes % Lanes != 0) begin : gen_bad_lanes
    $error("rs_key_expander: Lanes = %0d is no power of two from 1 to %0d", Lanes, MaxLanes);
  end
  localparam int unsigned Turns = stream_turns(Lanes);
  localparam int unsigned Words = stream_words(Lanes);
  localparam int unsigned Generators = Lanes / Words;
  localparam int unsigned StreamBits = $clog2(Streams);

  // Bits of a word that the modulus uses: those below its leading one, and the leading one itself
  // unless NearZeros zeros follow it. One level of registers each, since the modulus holds still.
  logic [Width-1:0] below_q, used_q;
  logic             near_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Width; i++) begin
      below_q[i] <= |(q_i >> (i + 1));
      used_q[i]  <= below_q[i] || (q_i[i] && !near_q);
    end
    near_q <= ~|(q_i & below_q & ~(below_q >> NearZeros));
  end

  // Loading: for Turns cycles the states become 0. A cycle later the loaded words are added while
  // the states step; a step of state 0 gives 0. first_q is the number of the first generator's
  // stream.
  logic                  clear_q;
  logic [StreamBits-1:0] first_q;
  logic [SeedBits-1:0]   key_q, iv_q;
  logic                  load_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) clear_q <= 1'b0;
    else if (start_i) clear_q <= 1'b1;
    else if (first_q == StreamBits'(Streams - Generators)) clear_q <= 1'b0;
    first_q <= start_i ? '0 : first_q + StreamBits'(Generators);
    load_q  <= clear_q;
    key_q   <= clear_q ? seed_i : '0;
    iv_q    <= clear_q ? SeedBits'({block_i, digit_i, limb_i, IndexBits'(first_q)}) : '0;
  end

  for (genvar g = 0; g < Generators; g++) begin : gen_generator
    // Its states, as rs_trivium has them: *_q of the current generator, *_next the same after a
    // step, with what is loaded, and *_back what returns after Turns - 1 cycles.
    logic [SeedBits-1:0] iv;
    logic [TriviumA-1:0] a_q, a_next, a_back;
    logic [TriviumB-1:0] b_q, b_next, b_back;
    logic [TriviumC-1:0] c_q, c_next, c_back;
    logic [WordBits-1:0] words [Words];
    assign iv = iv_q | (load_q ? SeedBits'(g) : '0);  // first_q is a multiple of Generators
    rs_trivium #(
      .Words(Words)
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
      .d_i({a_next ^ {key_q, {(TriviumA - SeedBits) {1'b0}}},
            b_next ^ {iv, {(TriviumB - SeedBits) {1'b0}}},
            c_next ^ (load_q ? TriviumC'(7) : '0)}),
      .d_o({a_back, b_back, c_back})
    );
    always_ff @(posedge clk_i) begin
      a_q <= clear_q ? '0 : a_back;
      b_q <= clear_q ? '0 : b_back;
      c_q <= clear_q ? '0 : c_back;
    end

    for (genvar w = 0; w < Words; w++) begin : gen_word
      logic [Width-1:0] word_q;
      always_ff @(posedge clk_i) word_q <= words[w][Width-1:0];
      for (genvar i = 0; i < Width; i++) begin : gen_bit
        if (i < LeastBits) begin : gen_always
          assign residues_o[w*Generators+g][i] = word_q[i];
        end else begin : gen_used
          assign residues_o[w*Generators+g][i] = word_q[i] && used_q[i];
        end
      end
    end
  end
endmodule
