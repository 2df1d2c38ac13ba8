// The families of sparse primes: a design with Reduction = ReductionSparse is elaborated for one.
//
// All are 1 modulo 2^17, so that they serve rings up to N = 2^16. Number 0 of the family medha is
// Medha's 60-bit prime, 2^59 + 2^25 + 2^22 - 2^20 + 1; the paper does not print its 54-bit primes,
// so the others are the nine least above 2^53 with at most three signed powers from 2^17 to 2^25.
// The family word48 is the ten least above 2^47 with such powers. The same lists are in
// python/ringsmith/backends/rpau/design/sparse.py.
//
// A prime can be written in several ways, 2^25 + 2^22 - 2^20 as 2^20 + 2^21 + 2^25. Here all primes
// of a family are written so that two of the three terms have few values in it: rs_sparse_times
// adds one of at most four, of at most three shifts, in one LUT a bit.
//
//   family    first term          second term        third term
//   medha     -18, 18, 20, 24     -21, 17, 21, 24    -23, -19, 19, 23, 25
//   word48    -23, -22, 22, 24    -19, 17, 19, 25    -20, -18, none, 18, 20, 22
package rs_sparse_pkg;
  import rs_arith_pkg::*;

  localparam int unsigned NumPrimes = 10;  // of each family
  localparam int unsigned NumFamilies = 3;

  // Values of the parameter Family of rs_mod_mul; 0: no primes.
  typedef enum int unsigned {
    FamilyNone = 0,
    FamilyMedha = 1,
    FamilyWord48 = 2
  } family_e;

  typedef sparse_prime_t [NumPrimes-1:0] family_t;

  // 2^bits + 1 and three terms: +2^t for t > 0, -2^-t for t < 0, none for 0.
  function automatic sparse_term_t term(int t);
    return '{used: t != 0, negative: t < 0, shift: 5'((t < 0) ? -t : t)};
  endfunction
  function automatic sparse_prime_t sparse(logic [5:0] bits, int first, int second, int third);
    return '{bits: bits, terms: {term(third), term(second), term(first)}};
  endfunction

  localparam family_t Word48 = {
    sparse(47, -22, 25, 20),  // 9: 2^47 - 2^22 + 2^25 + 2^20 + 1
    sparse(47, -23, 25, 18),  // 8: 2^47 - 2^23 + 2^25 + 2^18 + 1
    sparse(47, -23, 25, -18),  // 7: 2^47 - 2^23 + 2^25 - 2^18 + 1
    sparse(47, 24, 19, 22),  // 6: 2^47 + 2^24 + 2^19 + 2^22 + 1
    sparse(47, 24, 17, 22),  // 5: 2^47 + 2^24 + 2^17 + 2^22 + 1
    sparse(47, 24, 19, 20),  // 4: 2^47 + 2^24 + 2^19 + 2^20 + 1
    sparse(47, 24, -19, 0),  // 3: 2^47 + 2^24 - 2^19 + 1
    sparse(47, 22, 17, 20),  // 2: 2^47 + 2^22 + 2^17 + 2^20 + 1
    sparse(47, 22, -19, -20),  // 1: 2^47 + 2^22 - 2^19 - 2^20 + 1
    sparse(47, -22, 17, 22)  // 0: 2^47 - 2^22 + 2^17 + 2^22 + 1
  };
  localparam family_t Medha = {
    sparse(53, 24, 21, 23),  // 9: 2^53 + 2^24 + 2^21 + 2^23 + 1
    sparse(53, 20, 24, 19),  // 8: 2^53 + 2^20 + 2^24 + 2^19 + 1
    sparse(53, 18, 24, 19),  // 7: 2^53 + 2^18 + 2^24 + 2^19 + 1
    sparse(53, 24, 17, -23),  // 6: 2^53 + 2^24 + 2^17 - 2^23 + 1
    sparse(53, -18, 24, -23),  // 5: 2^53 - 2^18 + 2^24 - 2^23 + 1
    sparse(53, 18, -21, 23),  // 4: 2^53 + 2^18 - 2^21 + 2^23 + 1
    sparse(53, 20, 21, -19),  // 3: 2^53 + 2^20 + 2^21 - 2^19 + 1
    sparse(53, -18, 21, -19),  // 2: 2^53 - 2^18 + 2^21 - 2^19 + 1
    sparse(53, 18, 17, 19),  // 1: 2^53 + 2^18 + 2^17 + 2^19 + 1
    sparse(59, 20, 21, 25)  // 0: 2^59 + 2^20 + 2^21 + 2^25 + 1
  };
  localparam family_t [NumFamilies-1:0] Families = {Word48, Medha, family_t'('0)};

endpackage
