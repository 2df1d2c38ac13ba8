// Modular multiplication, by the reduction that the design point names. Every other block takes its
// modular multiplier from here.
//
//   p_o = a_i * b_i mod q_i      0 <= p_o < q_i
//
// One result a cycle, latency rs_arith_pkg::mod_mul_latency(Reduction). All ports but clk_i, a_i,
// b_i and p_o describe the modulus and hold still from the cycle in which operands enter until
// their result leaves.
//
//   Reduction              modulus                          uses
//   ReductionBarrett (0)   odd, of MinBits to Width bits    mu_i, shift_i
//   ReductionSparse  (1)   number index_i of a family of    index_i
//                          rs_sparse_pkg
//   ReductionFolded  (2)   2^b - s, s small, of either      mu_i, shift_i
//                          sign: see rs_mod_mul_folded
//
// Both operands are below 2^Width and at least one of them below q_i: the other may be a residue of
// any other modulus. The ports of the other reduction are ignored.
module rs_mod_mul
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned Reduction = ReductionBarrett,
  parameter int unsigned Family = rs_sparse_pkg::FamilyMedha,  // counts only with ReductionSparse
  parameter int unsigned MinBits = Width / 2
) (
  input  logic                       clk_i,
  input  logic [Width-1:0]           a_i,
  input  logic [Width-1:0]           b_i,
  input  logic [Width-1:0]           q_i,      // the modulus
  input  logic [Width-1:0]           mu_i,     // floor(2^(Width + bits of q) / q) - 2^Width
  input  logic [$clog2(Width+1)-1:0] shift_i,  // bits of q
  input  logic [IndexWidth-1:0]      index_i,  // number of q among the elaborated primes
  output logic [Width-1:0]           p_o
);
  if (Reduction == ReductionBarrett) begin : gen_barrett
    rs_mod_mul_barrett #(
      .Width(Width),
      .MinBits(MinBits)
    ) u_barrett (
      .clk_i,
      .a_i,
      .b_i,
      .q_i,
      .mu_i,
      .shift_i,
      .p_o
    );
  end else if (Reduction == ReductionSparse) begin : gen_sparse
    rs_mod_mul_sparse #(
      .Width(Width),
      .NumPrimes(rs_sparse_pkg::NumPrimes),
      .Primes(rs_sparse_pkg::Families[Family])
    ) u_sparse (
      .clk_i,
      .a_i,
      .b_i,
      .q_i,
      .index_i,
      .p_o
    );
  end else if (Reduction == ReductionFolded) begin : gen_folded
    rs_mod_mul_folded #(
      .Width(Width)
    ) u_folded (
      .clk_i,
      .a_i,
      .b_i,
      .q_i,
      .mu_i,
      .shift_i,
      .p_o
    );
  end else begin : gen_bad_reduction
    $error("rs_mod_mul: Reduction = %0d is not 0 (barrett), 1 (sparse) or 2 (folded)",
           Reduction);
  end
endmodule
