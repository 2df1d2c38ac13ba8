// r * h, where q = 1 + 2^StepBits * h is a sparse prime: rs_scale_product without a multiplier.
//
//   near_o + far_o = r_i * (q - 1) / 2^StepBits         s > 0
//
// q = 2^k + s is number index_i of the list, and 1 modulo 2^StepBits. near_o, r * 2^(k - StepBits),
// comes two cycles after r_i; far_o, r * (s - 1) / 2^StepBits, three. One result a cycle; index_i
// holds still. Cost: the adders of rs_sparse_times.
module rs_scale_product_sparse
  import rs_arith_pkg::*;
#(
  parameter int unsigned                   Width = 60,
  parameter int unsigned                   StepBits = 17,
  parameter int unsigned                   NumPrimes = 1,
  parameter sparse_prime_t [NumPrimes-1:0] Primes = '0
) (
  input  logic                  clk_i,
  input  logic [StepBits-1:0]   r_i,
  input  logic [IndexWidth-1:0] index_i,
  output logic [Width:0]        near_o,
  output logic [Width:0]        far_o
);
  function automatic bit too_coarse();
    too_coarse = 1'b0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      for (int unsigned t = 0; t < SparseTerms; t++) begin
        if (Primes[i].terms[t].used && 32'(Primes[i].terms[t].shift) < StepBits) begin
          too_coarse = 1'b1;
        end
      end
    end
  endfunction
  if (too_coarse()) begin : gen_too_coarse
    $error("rs_scale_product_sparse: a prime of the list is not 1 modulo 2^%0d", StepBits);
  end
  function automatic bit below_power();
    below_power = 1'b0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (sparse_modulus(Primes[i]) < 64'd1 << Primes[i].bits) below_power = 1'b1;
    end
  endfunction
  if (below_power()) begin : gen_below_power
    $error("rs_scale_product_sparse: a prime of the list is below its power of two");
  end

  // Of the primes that fit the width.
  function automatic int unsigned widest_tail();
    widest_tail = 1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (32'(Primes[i].bits) <= Width && sparse_tail_bits(Primes[i]) > widest_tail) begin
        widest_tail = sparse_tail_bits(Primes[i]);
      end
    end
  endfunction
  function automatic logic [Width:0] used_bits();
    used_bits = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) used_bits |= (Width + 1)'(1) << Primes[i].bits;
  endfunction
  localparam int unsigned ProductWidth = StepBits + widest_tail();
  localparam logic [Width:0] UsedBits = used_bits();

  // The chosen prime's k, one bit a value: the shift is wires and a selector.
  logic [Width:0] k_d, k_q;
  always_comb begin
    k_d = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (32'(index_i) == i) k_d = (Width + 1)'(1) << Primes[i].bits;
    end
  end
  always_ff @(posedge clk_i) k_q <= k_d;

  logic [Width:0] near_d, near_q, near2_q;
  always_comb begin
    near_d = '0;
    for (int unsigned k = StepBits; k <= Width; k++) begin
      if (UsedBits[k] && k_q[k]) near_d |= (Width + 1)'(r_i) << (k - StepBits);
    end
  end
  always_ff @(posedge clk_i) begin
    near_q  <= near_d;
    near2_q <= near_q;
  end
  assign near_o = near2_q;

  logic [ProductWidth-1:0] product;
  rs_sparse_times #(
    .Width(StepBits + 1),
    .OutWidth(ProductWidth),
    .NumPrimes(NumPrimes),
    .Primes(Primes)
  ) u_times (
    .clk_i,
    .index_i,
    .x_i({1'b0, r_i}),
    .base_i('0),
    .p_o(product)
  );
  assign far_o = (Width + 1)'(product >> StepBits);
endmodule
