// Trivium, Words * 64 rounds of it (De Canniere, Preneel: "Trivium specifications", eSTREAM 2006).
//
// The three registers stand with their oldest bit lowest (rs_prng_pkg): bit 0 of c_i is s_288. A
// stream begins with a = key << 13, b = IV << 4, c = 7, and 1152 rounds whose words are dropped.
// words_o[0] holds the first 64 bits of the stream, the very first in bit 0.
//
// No register: the state is its user's. No tap is younger than 66 rounds, so 64 rounds are one
// level of logic, and each further word adds one. Cost: 770 LUTs for two words, by Yosys.
module rs_trivium
  import rs_prng_pkg::*;
#(
  parameter int unsigned Words = 2
) (
  input  logic [TriviumA-1:0] a_i,
  input  logic [TriviumB-1:0] b_i,
  input  logic [TriviumC-1:0] c_i,
  output logic [TriviumA-1:0] a_o,
  output logic [TriviumB-1:0] b_o,
  output logic [TriviumC-1:0] c_o,
  output logic [63:0]         words_o [Words]
);
  for (genvar w = 0; w < Words; w++) begin : gen_word
    logic [TriviumA-1:0] a, a_next;
    logic [TriviumB-1:0] b, b_next;
    logic [TriviumC-1:0] c, c_next;
    if (w == 0) begin : gen_first
      assign {a, b, c} = {a_i, b_i, c_i};
    end else begin : gen_later
      assign {a, b, c} = {gen_word[w-1].a_next, gen_word[w-1].b_next, gen_word[w-1].c_next};
    end

    logic [63:0] t1, t2, t3, to_a, to_b, to_c;
    assign t1   = a[27+:64] ^ a[0+:64];
    assign t2   = b[15+:64] ^ b[0+:64];
    assign t3   = c[45+:64] ^ c[0+:64];
    assign to_b = t1 ^ (a[1+:64] & a[2+:64]) ^ b[6+:64];
    assign to_c = t2 ^ (b[1+:64] & b[2+:64]) ^ c[24+:64];
    assign to_a = t3 ^ (c[1+:64] & c[2+:64]) ^ a[24+:64];
    assign a_next     = {to_a, a[TriviumA-1:64]};
    assign b_next     = {to_b, b[TriviumB-1:64]};
    assign c_next     = {to_c, c[TriviumC-1:64]};
    assign words_o[w] = t1 ^ t2 ^ t3;
  end
  assign a_o = gen_word[Words-1].a_next;
  assign b_o = gen_word[Words-1].b_next;
  assign c_o = gen_word[Words-1].c_next;
endmodule
