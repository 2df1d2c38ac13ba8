// NTT: the ring of a transform, and how its blocks are timed.
//
// The latencies are built from those of the blocks, and are counted as in rs_arith_pkg: from the
// cycle in which a value stands at a block's input to the one in which the result stands at its
// output.
package rs_ntt_pkg;
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;
  import rs_sparse_pkg::*;

  // Values of the parameter Twiddles.
  typedef enum int unsigned {
    TwiddlesGenerated = 0,  // products of two small tables' words: rs_ntt_twiddle
    TwiddlesStored = 1      // a table of all: rs_ntt_twiddle_stored
  } twiddles_e;

  // An NTT as its blocks take it. rs_ntt makes it from parameters of its own.
  typedef struct packed {
    int unsigned LogN;         // log2 of the words of a polynomial
    int unsigned LargerRings;  // log2 of the sub-polynomials in the largest ring: 0, 1 or 2
    int unsigned Cores;        // butterflies in a cycle: a power of two
    int unsigned Width;        // bits of a word
    int unsigned Multipliers;  // of a core: 2, or 1 with TwiddlesStored
    int unsigned Sets;         // primes with tables of factors
    int unsigned SetBits;      // bits of the number of a set
    twiddles_e   Twiddles;
    reduction_e  Reduction;
    family_e     Family;       // counts only with ReductionSparse
  } ntt_cfg_t;

  localparam ntt_cfg_t DefaultNtt = '{
      LogN: 13,
      LargerRings: 0,
      Cores: 4,
      Width: 48,
      Multipliers: 2,
      Sets: 1,
      SetBits: 1,
      Twiddles: TwiddlesGenerated,
      Reduction: ReductionBarrett,
      Family: FamilyNone
  };

  localparam int unsigned LutRamWords = 64;  // of a twiddle table of LUTs; longer ones: block RAM

  localparam int unsigned RingWidth = 16;  // of rows and lengths

  // The ring of transforms: the length of its polynomials, and numbers that follow from it.
  typedef struct packed {
    logic [RingWidth-1:0] last_row;       // rows of a polynomial, less one
    logic [RingWidth-1:0] top_stride;     // half a polynomial's words
    logic [3:0]           skip;           // log2 N less log2 of a polynomial's words
    logic [1:0]           log_sub_polys;  // log2 of the sub-polynomials in a larger ring
    logic [7:0]           gap;            // idle cycles between two stages of an NTT
  } ring_t;

  // The memory of the polynomials: address at its port to words at the unit, by a register in front
  // of the memory, the memory, and a register behind it, which may hold a selection among banks.
  function automatic int unsigned memory_read_latency();
    return 1 + RamLatency + 1;
  endfunction

  // In front of the multipliers: sum and difference of the inverse butterfly, and the halving.
  function automatic int unsigned pre_latency();
    return mod_addsub_latency() + mod_halve_latency();
  endfunction

  // rs_butterfly_lanes: operands to result, in an inverse butterfly.
  function automatic int unsigned lanes_latency(int unsigned reduction);
    return pre_latency() + 1 + mod_mul_latency(reduction);
  endfunction

  // All other operations are shorter by this: their rows are read this many cycles later.
  function automatic int unsigned lanes_wait();
    return pre_latency() - mod_addsub_latency();
  endfunction

  // A row's address at the memory of the polynomials to its result at the write port, through
  // rs_lane_gather, rs_butterfly_lanes and rs_lane_scatter.
  function automatic int unsigned read_to_write(int unsigned reduction);
    return memory_read_latency() + 1 + lanes_latency(reduction) + 1;
  endfunction

  // Bits of a twiddle exponent that the lower of the two tables resolves, in rings of up to
  // 2^max_log_n.
  function automatic int unsigned twiddle_lo_bits(int unsigned max_log_n);
    return (max_log_n + 1) / 2;
  endfunction

  // rs_ntt_twiddle: step to table words.
  function automatic int unsigned twiddle_latency();
    return 2 + RamLatency;
  endfunction

  // rs_ntt_twiddle_stored: step to factors, without a wait.
  function automatic int unsigned stored_twiddle_latency();
    return 1 + RamLatency + 1;
  endfunction

  // From a step to the multipliers' operand registers in a forward transform: the step's register,
  // the wait, the memory and the lane arrangement.
  function automatic int unsigned step_to_operand();
    return 1 + lanes_wait() + memory_read_latency() + 1;
  endfunction

  // Additional cycles in an inverse transform.
  function automatic int unsigned inverse_wait();
    return pre_latency() - lanes_wait();
  endfunction

  // Stored factors are ready before the data: their addresses wait for this many cycles.
  function automatic int unsigned stored_twiddle_wait();
    return step_to_operand() - stored_twiddle_latency();
  endfunction

  // Cycles by which the factors of an NTT start before the data that they meet. Generated ones
  // pass an operand register and a multiplier first.
  function automatic int unsigned twiddle_lead(int unsigned twiddles, int unsigned reduction);
    return (twiddles == TwiddlesStored) ? 0 :
        twiddle_latency() + 1 + mod_mul_latency(reduction) - step_to_operand();
  endfunction

  // Idle cycles between two stages of an NTT. A stage reads a row at the earliest half a stage
  // sooner than the stage before wrote it. It may be written in the cycle in which its address
  // comes to the memory, which reads it in the next.
  function automatic int unsigned stage_gap(int unsigned reduction, int unsigned rows);
    return (read_to_write(reduction) > rows / 2) ?
           read_to_write(reduction) - rows / 2 : 0;
  endfunction

  // rs_ntt: start_i to done_o. A stage takes a cycle a row; the sequencer has its first step after
  // two cycles.
  function automatic int unsigned transform_latency(int unsigned twiddles, int unsigned reduction,
                                                    int unsigned log_n, int unsigned cores);
    int unsigned rows;
    rows = (1 << log_n) / (2 * cores);
    return twiddle_lead(twiddles, reduction) + 2 + log_n * rows +
           (log_n - 1) * stage_gap(reduction, rows) + read_to_write(reduction);
  endfunction

  // The ring of degree 2^log_degree on a device for N = 2^log_n.
  function automatic ring_t ring_of(int unsigned reduction, int unsigned log_n,
                                    int unsigned log_lanes, int unsigned log_degree);
    int unsigned log_words, rows;
    log_words = (log_degree < log_n) ? log_degree : log_n;
    rows      = 1 << (log_words - log_lanes);
    return '{
        last_row: RingWidth'(rows - 1),
        top_stride: RingWidth'(1 << (log_words - 1)),
        skip: 4'(log_n - log_words),
        log_sub_polys: 2'(log_degree - log_words),
        gap: 8'(stage_gap(reduction, rows))
    };
  endfunction

endpackage
