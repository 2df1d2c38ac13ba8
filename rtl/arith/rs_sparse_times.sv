// A base and a signed number times s - 1, where s = q - 2^k is the tail of a sparse prime: shifts
// and adders only.
//
//   p_o = base_i + x_i * (s - 1)     modulo 2^OutWidth; with Subtract, base_i - x_i * (s - 1)
//
//   s - 1 = sum of +- 2^shift over the terms of prime number index_i
//
// With base_i = x_i it is x_i * s. One result a cycle, latency
// rs_arith_pkg::sparse_times_latency(); index_i holds still meanwhile. A chain of adders takes one
// term after the other. Each chooses among the values that its term has in the list of primes: up
// to four of at most three shifts are chosen within the adder's own LUTs, of six inputs. Cost:
// three adders of OutWidth bits less their term's least shift, and up to Width LUTs for a term of
// more choices.
module rs_sparse_times
  import rs_arith_pkg::*;
#(
  parameter int unsigned                   Width = 32,
  parameter int unsigned                   OutWidth = 58,
  parameter bit                            Subtract = 1'b0,
  parameter int unsigned                   NumPrimes = 1,
  parameter sparse_prime_t [NumPrimes-1:0] Primes = '0
) (
  input  logic                       clk_i,
  input  logic      [IndexWidth-1:0] index_i,
  input  logic signed [Width-1:0]    x_i,
  input  logic        [OutWidth-1:0] base_i,
  output logic        [OutWidth-1:0] p_o
);
  localparam int unsigned CodeWidth = (NumPrimes > 1) ? $clog2(NumPrimes) : 1;

  // The choices of a term: its distinct values in the list, in the order of their first prime. An
  // entry of zeros is no prime.
  typedef struct packed {
    logic [31:0]                         count;
    sparse_term_t [2**CodeWidth-1:0]     values;  // zeros from count on
    logic [NumPrimes-1:0][CodeWidth-1:0] codes;  // which of them, by prime
  } choices_t;

  function automatic choices_t choices_of(int unsigned t);
    bit known;
    choices_of = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Primes[i] != '0) begin
        known = 1'b0;
        for (int unsigned c = 0; c < i; c++) begin
          if (c < choices_of.count && choices_of.values[c] == Primes[i].terms[t]) begin
            choices_of.codes[i] = CodeWidth'(c);
            known = 1'b1;
          end
        end
        if (!known) begin
          choices_of.values[choices_of.count] = Primes[i].terms[t];
          choices_of.codes[i] = CodeWidth'(choices_of.count);
          choices_of.count++;
        end
      end
    end
  endfunction

  function automatic int unsigned least_shift(int unsigned t);
    least_shift = (SparseShifts < OutWidth) ? SparseShifts : OutWidth - 1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Primes[i].terms[t].used && 32'(Primes[i].terms[t].shift) < least_shift) begin
        least_shift = 32'(Primes[i].terms[t].shift);
      end
    end
  endfunction

  logic signed [Width-1:0]    x   [SparseTerms+1];
  logic        [OutWidth-1:0] sum [SparseTerms+1];
  assign x[0]   = x_i;
  assign sum[0] = base_i;

  for (genvar t = 0; t < SparseTerms; t++) begin : gen_term
    localparam choices_t Choices = choices_of(t);
    localparam int unsigned CodeBits = (Choices.count > 1) ? $clog2(Choices.count) : 1;
    localparam int unsigned Least = least_shift(t);
    localparam int unsigned UpperWidth = OutWidth - Least;

    // Everything is selected by index, so that instances are identical (rtl/verilator.vlt).
    logic [CodeBits-1:0] code_d, code_q;
    logic                down_d, down_q;
    always_comb begin
      code_d = '0;
      down_d = 1'b0;
      for (int unsigned i = 0; i < NumPrimes; i++) begin
        if (32'(index_i) == i) begin
          code_d = CodeBits'(Choices.codes[i]);
          down_d = Primes[i].terms[t].used && (Primes[i].terms[t].negative ^ Subtract);
        end
      end
    end

    // From the term's least shift on. To subtract a term: invert it, carry-in 1.
    logic [UpperWidth-1:0] x_wide, options [2**CodeBits], upper_d;
    assign x_wide = UpperWidth'(x[t]);
    always_comb begin
      for (int unsigned c = 0; c < 2 ** CodeBits; c++) begin
        options[c] = '0;
        if (Choices.values[c].used) begin
          options[c] = x_wide << (32'(Choices.values[c].shift) - Least);
          if (Choices.values[c].negative ^ Subtract) options[c] = ~options[c];
        end
      end
    end
    assign upper_d = UpperWidth'(
        ({sum[t][OutWidth-1:Least], 1'b1} + {options[code_q], down_q}) >> 1);

    logic        [OutWidth-1:0] sum_q;
    logic signed [Width-1:0]    x_q;
    always_ff @(posedge clk_i) begin
      code_q <= code_d;
      down_q <= down_d;
      sum_q  <= {upper_d, sum[t][Least-1:0]};
      x_q    <= x[t];
    end
    assign x[t+1]   = x_q;
    assign sum[t+1] = sum_q;
  end
  assign p_o = sum[SparseTerms];
endmodule
