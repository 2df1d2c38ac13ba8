// Arithmetic blocks: how integer products are tiled, and how many cycles each block takes.
//
// A latency here is the number of rising edges from the one that samples a block's inputs to the one
// after which its outputs hold the result, the sampling edge included. The blocks take one operation
// a cycle, have no reset and no valid: their user delays its own valid by the same number of cycles.
package rs_arith_pkg;

  // Values of the parameter Reduction of rs_mod_mul.
  localparam int unsigned ReductionBarrett = 0;  // any odd modulus, loaded at run time
  localparam int unsigned ReductionSparse = 1;  // one of the elaborated primes of rs_sparse_pkg

  // Width of the port that chooses among the elaborated primes.
  localparam int unsigned IndexWidth = 4;

  // Words of more than 60 bits would need intermediate sums of more than 64.
  localparam int unsigned MinWidth = 4;
  localparam int unsigned MaxWidth = 60;

  // Operands of one DSP48E2 as an unsigned multiplier.
  localparam int unsigned DspLong = 26;
  localparam int unsigned DspShort = 17;

  // Where rs_mul cuts its operands: a at SplitA, b at SplitB, SplitA >= SplitB. When the two add up to
  // the width the four blocks turn around a square centre (a pinwheel), otherwise they form a grid.
  function automatic int unsigned mul_split_a(int unsigned width);
    if (width <= DspLong) return (width + 1) / 2;
    if (width < 2 * DspShort) return DspLong;
    if (width <= DspLong + DspShort) return width - DspShort;
    if (width < 2 * DspLong) return 2 * DspShort;
    return width - DspLong;
  endfunction

  function automatic int unsigned mul_split_b(int unsigned width);
    if (width <= DspLong) return width / 2;
    if (width <= DspLong + DspShort) return DspShort;
    return DspLong;
  endfunction

  // Product of two tiles side by side, or of one.
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

  function automatic int unsigned mod_mul_sparse_latency();
    return mod_mul_barrett_latency();
  endfunction

  function automatic int unsigned mod_mul_latency(int unsigned reduction);
    return (reduction == ReductionSparse) ? mod_mul_sparse_latency() : mod_mul_barrett_latency();
  endfunction

endpackage
