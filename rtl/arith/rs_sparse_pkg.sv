// The families of sparse primes: a design with Reduction = ReductionSparse is elaborated for one.
//
// All are 1 modulo 2^17, so that they serve rings up to N = 2^16. Number 0 of the family medha is
// Medha's 60-bit prime; the paper does not print its 54-bit primes, so the others are nine above
// 2^53 with three signed powers from 2^17 to 2^25. The family word48 is the ten least above 2^47
// with at most three such powers. python/ringsmith/arch/rpau/sparse.py has the same lists.
package rs_sparse_pkg;
  import rs_arith_pkg::*;

  localparam int unsigned NumPrimes = 10;  // of each family
  localparam int unsigned NumFamilies = 3;

  // Values of the parameter Family of rs_mod_mul; 0: no primes.
  localparam int unsigned FamilyNone = 0;
  localparam int unsigned FamilyMedha = 1;
  localparam int unsigned FamilyWord48 = 2;

  typedef sparse_prime_t [NumPrimes-1:0] family_t;
  localparam sparse_term_t NoTerm = '0;

  // Fields: bits, then the terms {used, negative, shift} from the last to the first.
  localparam family_t Word48 = {
    // 9: 2^47 + 2^25 - 2^22 + 2^20 + 1
    {6'd47, {1'b1, 1'b0, 5'd25}, {1'b1, 1'b1, 5'd22}, {1'b1, 1'b0, 5'd20}},
    // 8: 2^47 + 2^25 - 2^23 + 2^18 + 1
    {6'd47, {1'b1, 1'b0, 5'd25}, {1'b1, 1'b1, 5'd23}, {1'b1, 1'b0, 5'd18}},
    // 7: 2^47 + 2^25 - 2^23 - 2^18 + 1
    {6'd47, {1'b1, 1'b0, 5'd25}, {1'b1, 1'b1, 5'd23}, {1'b1, 1'b1, 5'd18}},
    // 6: 2^47 + 2^24 + 2^22 + 2^19 + 1
    {6'd47, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b0, 5'd22}, {1'b1, 1'b0, 5'd19}},
    // 5: 2^47 + 2^24 + 2^22 + 2^17 + 1
    {6'd47, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b0, 5'd22}, {1'b1, 1'b0, 5'd17}},
    // 4: 2^47 + 2^24 + 2^21 - 2^19 + 1
    {6'd47, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b0, 5'd21}, {1'b1, 1'b1, 5'd19}},
    // 3: 2^47 + 2^24 - 2^19 + 1
    {6'd47, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b1, 5'd19}, NoTerm},
    // 2: 2^47 + 2^22 + 2^20 + 2^17 + 1
    {6'd47, {1'b1, 1'b0, 5'd22}, {1'b1, 1'b0, 5'd20}, {1'b1, 1'b0, 5'd17}},
    // 1: 2^47 + 2^21 + 2^19 + 1
    {6'd47, {1'b1, 1'b0, 5'd21}, {1'b1, 1'b0, 5'd19}, NoTerm},
    // 0: 2^47 + 2^17 + 1
    {6'd47, {1'b1, 1'b0, 5'd17}, NoTerm, NoTerm}
  };
  localparam family_t Medha = {
    // 9: 2^53 + 2^25 - 2^22 - 2^21 + 1
    {6'd53, {1'b1, 1'b0, 5'd25}, {1'b1, 1'b1, 5'd22}, {1'b1, 1'b1, 5'd21}},
    // 8: 2^53 + 2^24 + 2^21 - 2^19 + 1
    {6'd53, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b0, 5'd21}, {1'b1, 1'b1, 5'd19}},
    // 7: 2^53 + 2^24 + 2^20 - 2^18 + 1
    {6'd53, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b0, 5'd20}, {1'b1, 1'b1, 5'd18}},
    // 6: 2^53 + 2^23 + 2^18 - 2^17 + 1
    {6'd53, {1'b1, 1'b0, 5'd23}, {1'b1, 1'b0, 5'd18}, {1'b1, 1'b1, 5'd17}},
    // 5: 2^53 + 2^24 - 2^23 - 2^18 + 1
    {6'd53, {1'b1, 1'b0, 5'd24}, {1'b1, 1'b1, 5'd23}, {1'b1, 1'b1, 5'd18}},
    // 4: 2^53 + 2^23 - 2^21 + 2^18 + 1
    {6'd53, {1'b1, 1'b0, 5'd23}, {1'b1, 1'b1, 5'd21}, {1'b1, 1'b0, 5'd18}},
    // 3: 2^53 + 2^22 - 2^20 - 2^19 + 1
    {6'd53, {1'b1, 1'b0, 5'd22}, {1'b1, 1'b1, 5'd20}, {1'b1, 1'b1, 5'd19}},
    // 2: 2^53 + 2^21 - 2^19 - 2^18 + 1
    {6'd53, {1'b1, 1'b0, 5'd21}, {1'b1, 1'b1, 5'd19}, {1'b1, 1'b1, 5'd18}},
    // 1: 2^53 + 2^21 - 2^20 - 2^17 + 1
    {6'd53, {1'b1, 1'b0, 5'd21}, {1'b1, 1'b1, 5'd20}, {1'b1, 1'b1, 5'd17}},
    // 0: 2^59 + 2^25 + 2^22 - 2^20 + 1
    {6'd59, {1'b1, 1'b0, 5'd25}, {1'b1, 1'b0, 5'd22}, {1'b1, 1'b1, 5'd20}}
  };
  localparam family_t [NumFamilies-1:0] Families = {Word48, Medha, family_t'('0)};

endpackage
