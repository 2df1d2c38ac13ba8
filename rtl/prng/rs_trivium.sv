// Trivium, Words * 64 rounds of it (De Canniere, Preneel: "Trivium specifications", eSTREAM 2006).
//
// The three registers stand with their oldest bit lowest (rs_prng_pkg): bit 0 of c_i is s_288. A
// stream begins with a = key << 13, b = IV << 4, c = 7, and 1152 rounds whose words are dropped.
// words_o[0] holds the first 64 bits of the stream, the very first in bit 0.
//
// No register: the state is its user's. No tap is younger than 66 rounds, so 64 rounds are one level
// of logic, and each further word adds one. Cost: about 192 LUTs a word for the state and 64 for the
// stream.
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
  logic [TriviumA-1:0] a [Words+1];
  logic [TriviumB-1:0] b [Words+1];
  logic [TriviumC-1:0] c [Words+1];
  assign a[0] = a_i;
  assign b[0] = b_i;
  assign c[0] = c_i;
  for (genvar w = 0; w < Words; w++) begin : gen_word
    logic [63:0] t1, t2, t3, to_a, to_b, to_c;
    assign t1   = a[w][27+:64] ^ a[w][0+:64];
    assign t2   = b[w][15+:64] ^ b[w][0+:64];
    assign t3   = c[w][45+:64] ^ c[w][0+:64];
    assign to_b = t1 ^ (a[w][1+:64] & a[w][2+:64]) ^ b[w][6+:64];
    assign to_c = t2 ^ (b[w][1+:64] & b[w][2+:64]) ^ c[w][24+:64];
    assign to_a = t3 ^ (c[w][1+:64] & c[w][2+:64]) ^ a[w][24+:64];
    assign a[w+1]     = {to_a, a[w][TriviumA-1:64]};
    assign b[w+1]     = {to_b, b[w][TriviumB-1:64]};
    assign c[w+1]     = {to_c, c[w][TriviumC-1:64]};
    assign words_o[w] = t1 ^ t2 ^ t3;
  end
  assign a_o = a[Words];
  assign b_o = b[Words];
  assign c_o = c[Words];
endmodule
