// Arithmetic blocks: how integer products are tiled, and how many cycles each block takes.
//
// A latency here is a number of rising edges: from the edge that samples a block's inputs to the
// edge after which its outputs hold the result, the sampling edge included. The blocks take one
// operation a cycle and have no reset and no valid. Their user delays its own valid by the same
// number of cycles.
package rs_arith_pkg;
  import rs_mem_pkg::*;

  // Values of the parameter Reduction of rs_mod_mul.
  typedef enum int unsigned {
    ReductionBarrett = 0,  // any odd modulus, loaded at run time
    ReductionSparse = 1,   // one of the elaborated primes of rs_sparse_pkg
    ReductionFolded = 2    // near a power of two, loaded at run time
  } reduction_e;

  // Width of the port that chooses among the elaborated primes.
  localparam int unsigned IndexWidth = 4;

  // A sparse prime q = 2^bits + 1 + sum of up to three signed powers of two, and q > 2^bits.
  localparam int unsigned SparseTerms = 3;
  localparam int unsigned SparseShifts = 28;  // powers are below 2^SparseShifts
  typedef struct packed {
    logic       used;
    logic       negative;
    logic [4:0] shift;
  } sparse_term_t;
  typedef struct packed {
    logic [5:0] bits;
    sparse_term_t [SparseTerms-1:0] terms;
  } sparse_prime_t;

  function automatic logic [63:0] sparse_modulus(sparse_prime_t prime);
    logic [63:0] q;
    q = (64'd1 << prime.bits) + 64'd1;
    for (int unsigned t = 0; t < SparseTerms; t++) begin
      if (prime.terms[t].used && prime.terms[t].negative) q -= 64'd1 << prime.terms[t].shift;
      else if (prime.terms[t].used) q += 64'd1 << prime.terms[t].shift;
    end
    return q;
  endfunction

  // Bits of q - 2^bits.
  function automatic int unsigned sparse_tail_bits(sparse_prime_t prime);
    return $clog2(sparse_modulus(prime) - (64'd1 << prime.bits) + 64'd1);
  endfunction

  // The lowest bit at which rs_mod_mul_sparse can cut the upper part of a product.
  function automatic int unsigned sparse_cut(int unsigned width, sparse_prime_t prime);
    return width + 1 + sparse_tail_bits(prime) - 32'(prime.bits);
  endfunction

  // Bits of the sum that two folds leave, its sign included; docs/reference/arithmetic.md has the
  // bound.
  function automatic int unsigned sparse_sum_bits(int unsigned cut, sparse_prime_t prime);
    int unsigned most;
    most = cut + sparse_tail_bits(prime);
    return ((32'(prime.bits) > most) ? 32'(prime.bits) : most) + 2;
  endfunction

  // Whether rs_mod_mul_sparse of this width, cutting here, can reduce modulo this prime.
  function automatic bit sparse_fits_cut(int unsigned width, int unsigned cut,
                                         sparse_prime_t prime);
    int unsigned k, tail;
    if (sparse_modulus(prime) >> width != 64'd0) return 1'b0;
    if (sparse_modulus(prime) < 64'd1 << prime.bits) return 1'b0;
    k = 32'(prime.bits);
    tail = sparse_tail_bits(prime);
    return sparse_cut(width, prime) <= cut && cut < k &&
        sparse_sum_bits(cut, prime) + tail <= 2 * k + 1 && sparse_sum_bits(cut, prime) <= 63;
  endfunction

  // The same for any cut.
  function automatic bit sparse_fits(int unsigned width, sparse_prime_t prime);
    return sparse_fits_cut(width, sparse_cut(width, prime), prime);
  endfunction

  // Words of more than 60 bits would need intermediate sums of more than 64, or operands of more
  // than 64 bits. A product alone is possible up to 62 bits.
  localparam int unsigned MinWidth = 4;
  localparam int unsigned MaxWidth = 60;
  localparam int unsigned MaxProductWidth = 62;

  // Operands of one DSP48E2 as an unsigned multiplier.
  localparam int unsigned DspLong = 26;
  localparam int unsigned DspLong7 = 24;  // of a DSP48E1, where it costs nothing to serve both
  localparam int unsigned DspShort = 17;
  localparam int unsigned DspSum = 48;  // bits that its adder adds, with a sign

  // Largest width of the shorter operand of a block that is added as rows, without a DSP: the
  // default, and the limit.
  localparam int unsigned MulRows = 2;
  localparam int unsigned MulRowsMost = 4;

  // Operands of one MULT18X18D of an ECP5.
  localparam int unsigned Mult18 = 18;

  // Whether rs_mul cuts operands of this width for MULT18X18D. Wider ones are cut for DSP48E2 on
  // every target, and synthesis divides the blocks.
  function automatic bit mul_by_mult18(int unsigned width);
    return Target == TargetEcp5 && width <= 2 * Mult18;
  endfunction

  // Where rs_mul cuts its operands: a at SplitA, b at SplitB, SplitA >= SplitB. When the two add up
  // to the width the four blocks surround a square centre (a pinwheel), otherwise they form a
  // grid. `rows` is rs_mul's parameter.
  function automatic int unsigned mul_split_a(int unsigned width, int unsigned rows);
    if (mul_by_mult18(width)) return (width > Mult18) ? Mult18 : (width + 1) / 2;
    if (width <= DspLong) return (width + 1) / 2;
    if (width <= DspLong + rows && rows > MulRows) return DspLong;
    if (width < 2 * DspShort) return DspLong7;
    if (width <= DspLong + DspShort) return width - DspShort;
    if (width < 2 * DspLong) return 2 * DspShort;
    return width - DspLong;
  endfunction

  function automatic int unsigned mul_split_b(int unsigned width);
    if (mul_by_mult18(width)) return (width > Mult18) ? Mult18 : width / 2;
    if (width <= DspLong) return width / 2;
    if (width <= DspLong + DspShort) return DspShort;
    return DspLong;
  endfunction

  // Product of two tiles in one DSP block, or of one tile.
  function automatic int unsigned mul_block_latency();
    return 2;
  endfunction

  function automatic int unsigned mul_latency();
    return mul_block_latency() + 3;
  endfunction

  function automatic int unsigned mul_low_latency();
    return mul_block_latency() + 2;
  endfunction

  function automatic int unsigned mod_addsub_latency();
    return 2;
  endfunction

  function automatic int unsigned mod_halve_latency();
    return 1;
  endfunction

  // Two full products, one low product; normalizing shift 2, quotient 1, remainder 1, correction 2.
  function automatic int unsigned mod_mul_barrett_latency();
    return 2 * mul_latency() + mul_low_latency() + 6;
  endfunction

  // rs_scale_step: difference with a digit; product, one summand after two cycles and the other
  // after three; a sum with each.
  function automatic int unsigned scale_step_latency();
    return mul_block_latency() + 3;
  endfunction

  // Bits that one step removes. All primes of a ring of degree 2^log_n are 1 modulo 2 to this
  // power. More bits would not fit the short operand of a DSP.
  function automatic int unsigned scale_step_bits(int unsigned log_n);
    return (log_n + 1 < DspShort) ? log_n + 1 : DspShort;
  endfunction

  // Steps of rs_scale_steps.
  function automatic int unsigned scale_steps(int unsigned bits, int unsigned step_bits);
    return (bits + step_bits - 1) / step_bits;
  endfunction

  // A full product, the steps, and the last modular addition.
  function automatic int unsigned mod_mul_montgomery_latency(int unsigned width,
                                                             int unsigned step_bits);
    return mul_latency() + scale_steps(width, step_bits) * scale_step_latency() +
        mod_addsub_latency();
  endfunction

  // Whether rs_mod_mul_two_steps takes words of this width.
  function automatic bit fits_two_steps(int unsigned width, int unsigned step_bits);
    return width > DspShort && step_bits <= DspShort && width <= 2 * step_bits;
  endfunction

  // rs_mul_cascade: an operand's register, product and sum of a slice, for the lowest of four.
  function automatic int unsigned mul_cascade_low();
    return 3;
  endfunction
  function automatic int unsigned mul_cascade_latency();
    return mul_cascade_low() + 3;
  endfunction

  // Moduli of rs_mod_mul_two_steps, and when it takes them: at each step, and the correction. A
  // product of two cycles after the lowest slice, a difference, a product of three, the correction.
  localparam int unsigned TwoStepsModuli = 3;
  function automatic int unsigned two_steps_modulus_time(int unsigned i);
    return mul_cascade_low() + i * (mul_block_latency() + 1);
  endfunction
  function automatic int unsigned mod_mul_two_steps_latency();
    return two_steps_modulus_time(TwoStepsModuli - 1) + 1;
  endfunction

  // A base and x times q - 2^bits - 1.
  function automatic int unsigned sparse_times_latency();
    return 3;
  endfunction

  // A full product, three folds; two cuts, a selection and two sums between them; correction 2.
  function automatic int unsigned mod_mul_sparse_latency();
    return mul_latency() + 3 * sparse_times_latency() + 7;
  endfunction

  // rs_mul_add_pair with one register in front: operands, product and sum of the low slice, and the
  // sum of the high one.
  function automatic int unsigned pair_latency();
    return 4;
  endfunction

  // Where rs_mod_mul_folded cuts its operands: the shorter part of each.
  function automatic int unsigned folded_split(int unsigned width);
    return (width / 2 < DspLong) ? width / 2 : DspLong;
  endfunction

  // Bits of s * 2^(Width - b), and of s, without their sign. A slice takes no more of s.
  function automatic int unsigned folded_scaled_bits(int unsigned width);
    return width - folded_split(width) - 2;
  endfunction
  function automatic int unsigned folded_tail_bits(int unsigned width);
    return (folded_scaled_bits(width) < DspLong) ? folded_scaled_bits(width) : DspLong;
  endfunction

  // Most bits by which a modulus may be shorter than a word.
  function automatic int unsigned folded_shifts(int unsigned width);
    int unsigned least;
    least = 2 * width - 3 * folded_split(width) + 2;
    return (width - least < 15) ? width - least : 15;
  endfunction

  // Four pairs; two sums for the product's parts, less the cycle by which the bits to fold precede
  // them; a sum after each fold, a shift, and the correction.
  function automatic int unsigned mod_mul_folded_latency();
    return 4 * pair_latency() + 5;
  endfunction

  // rs_mod_shorten: operand, product and sum of a slice, the bits above it, the correction.
  function automatic int unsigned mod_shorten_latency();
    return 5;
  endfunction

  // Whether words of one width are shortened to another in one slice, and by one correction.
  function automatic bit shortens(int unsigned from, int unsigned width);
    return folded_scaled_bits(width) <= DspLong && from - width <= DspShort &&
        from - width + folded_scaled_bits(width) <= width - 1;
  endfunction

  function automatic int unsigned mod_mul_latency(int unsigned reduction);
    case (reduction)
      ReductionSparse: return mod_mul_sparse_latency();
      ReductionFolded: return mod_mul_folded_latency();
      default: return mod_mul_barrett_latency();
    endcase
  endfunction

endpackage
