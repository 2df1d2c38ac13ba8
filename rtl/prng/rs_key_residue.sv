// A stream's words as a residue: u * 2^-68 mod q, for a prime q that is 1 modulo 2^StepBits.
//
//   u = top_i * 2^68 + {low_rest_i, low_i}    top_i < 2^(bits of q_i - 1), 0 <= residue_o < q_i
//
// The low part becomes n = -low * 2^-68 mod q in steps of StepBits bits (rs_scale_step;
// docs/arithmetic.md has the bounds). top_i is less than q, too: the residue is top_i - n mod q.
//
// One result a cycle, latency rs_prng_pkg::scale_latency(StepBits). q_i and index_i hold still.
// Cost: the steps, and what delays the digits.
module rs_key_residue
  import rs_arith_pkg::*;
  import rs_prng_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned StepBits = 14,
  parameter int unsigned Reduction = ReductionBarrett,
  parameter int unsigned Family = rs_sparse_pkg::FamilyMedha  // counts only with ReductionSparse
) (
  input  logic                  clk_i,
  input  logic [63:0]           low_i,       // bits 63 ... 0 of u's low part
  input  logic [ScaleBits-65:0] low_rest_i,  // bits 67 ... 64
  input  logic [Width-2:0]      top_i,
  input  logic [Width-1:0]      q_i,
  input  logic [IndexWidth-1:0] index_i,
  output logic [Width-1:0]      residue_o
);
  /*verilator no_inline_module*/
  logic [Width-1:0] n, unused_q;
  rs_scale_steps #(
    .Width(Width),
    .StepBits(StepBits),
    .Bits(ScaleBits),
    .Reduction(Reduction),
    .Family(Family)
  ) u_steps (
    .clk_i,
    .low_i({low_rest_i, low_i}),
    .q_i,
    .index_i,
    .n_o(n),
    .q_o(unused_q)
  );

  logic [Width-2:0] top;
  rs_delay #(
    .Width(Width - 1),
    .Depth(scale_steps(ScaleBits, StepBits) * scale_step_latency())
  ) u_top (
    .clk_i,
    .d_i(top_i),
    .d_o(top)
  );
  rs_mod_addsub #(
    .Width(Width)
  ) u_subtract (
    .clk_i,
    .sub_i(1'b1),
    .a_i({1'b0, top}),
    .b_i(n),
    .q_i,
    .s_o(residue_o)
  );
endmodule
