// A signed number times s = q - 2^k, the tail of a sparse prime: shifts and adders only.
//
//   p_o = x_i * s      s = 1 + sum of +- 2^shift over the terms of prime number index_i
//
// One result a cycle, latency rs_arith_pkg::sparse_times_latency(); index_i holds still meanwhile.
// Only shifts that some elaborated prime has are built: with one prime they are wires, with more a
// selector. The user sees to it that the product fits OutWidth bits. Cost: three adders.
module rs_sparse_times
  import rs_arith_pkg::*;
#(
  parameter int unsigned               Width = 32,
  parameter int unsigned               OutWidth = 58,
  parameter int unsigned               NumPrimes = 1,
  parameter sparse_prime_t [NumPrimes-1:0] Primes = '0
) (
  input  logic                       clk_i,
  input  logic        [IndexWidth-1:0] index_i,
  input  logic signed [Width-1:0]      x_i,
  output logic signed [OutWidth-1:0]   p_o
);
  // Constants, one bit a shift: the shifts that each prime's terms have, and those of any prime.
  // All is chosen among them by index, so that instances differ in nothing (rtl/verilator.vlt).
  typedef logic [SparseTerms-1:0][SparseShifts-1:0] shift_set_t;
  typedef shift_set_t [NumPrimes-1:0] shift_table_t;

  function automatic shift_table_t shifts_by_prime();
    shifts_by_prime = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      for (int unsigned t = 0; t < SparseTerms; t++) begin
        if (Primes[i].terms[t].used) shifts_by_prime[i][t][Primes[i].terms[t].shift] = 1'b1;
      end
    end
  endfunction
  localparam shift_table_t Shifts = shifts_by_prime();

  function automatic shift_set_t used_shifts();
    used_shifts = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) used_shifts |= Shifts[i];
  endfunction
  localparam shift_set_t Used = used_shifts();

  // The chosen prime's terms.
  logic [SparseShifts-1:0] shift_d [SparseTerms];
  logic [SparseShifts-1:0] shift_q [SparseTerms];
  logic [SparseTerms-1:0]  negative_d, negative_q;
  always_comb begin
    shift_d = '{default: '0};
    negative_d = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (32'(index_i) == i) begin
        for (int unsigned t = 0; t < SparseTerms; t++) begin
          negative_d[t] = Primes[i].terms[t].negative;
          shift_d[t]    = Shifts[i][t];
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    shift_q    <= shift_d;
    negative_q <= negative_d;
  end

  // A negative term enters as its complement here, and as a carry into one of the three adders
  // below.
  logic signed [OutWidth-1:0] x_wide;
  logic [OutWidth-1:0]        term_d[SparseTerms], term_q[SparseTerms];
  assign x_wide = OutWidth'(x_i);
  always_comb begin
    for (int unsigned t = 0; t < SparseTerms; t++) begin
      term_d[t] = '0;
      for (int unsigned s = 0; s < SparseShifts; s++) begin
        if (Used[t][s] && shift_q[t][s]) term_d[t] |= x_wide << s;
      end
      if (negative_q[t]) term_d[t] = ~term_d[t];
    end
  end

  logic [OutWidth-1:0] x_q, sum0_q, sum1_q, p_q;
  always_ff @(posedge clk_i) begin
    x_q    <= x_wide;
    term_q <= term_d;
    sum0_q <= x_q + term_q[0] + OutWidth'(negative_q[0]);
    sum1_q <= term_q[1] + term_q[2] + OutWidth'(negative_q[1]);
    p_q    <= sum0_q + sum1_q + OutWidth'(negative_q[2]);
  end
  assign p_o = $signed(p_q);
endmodule
