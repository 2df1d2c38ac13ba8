// The sparse primes that a design with Reduction = ReductionSparse is elaborated for.
//
// All are 1 modulo 2^17, so that they serve rings up to N = 2^16. Number 0 is Medha's 60-bit prime;
// the paper does not print its 54-bit primes, so the others are the first nine above 2^53 with
// three signed powers from 2^17 to 2^25. A design with other primes brings its own package of this
// name.
package rs_sparse_pkg;
  import rs_arith_pkg::*;

  localparam int unsigned NumPrimes = 10;

  // Fields: bits, then the terms {used, negative, shift} from the last to the first.
  localparam sparse_prime_t [NumPrimes-1:0] Primes = {
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

endpackage
