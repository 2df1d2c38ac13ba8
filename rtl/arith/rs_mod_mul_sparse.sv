// Modular multiplication by a sparse prime q = 2^k + s, s > 0 of few signed powers of two.
//
//   p_o = a_i * b_i mod q_i      0 <= p_o < q_i
//
// The prime is number index_i of the elaborated list, so that instances of different primes are the
// same module; q_i is its value. Primes of the list that Width cannot take are left out. Both ports
// hold still from the cycle in which operands enter until their result leaves. The operands: both
// below 2^Width, and at least one of them below q_i.
//
// From 2^k = -s (mod q), three times:
//   x = a*b = xh 2^k + xl,  xh = x1 2^C + x0
//   y = xl - x0 s - low(x1 s) 2^C + high(x1 s) s      cut where x1 s 2^C reaches 2^k
//   z = low(y) - high(y) s                            -q < z < 2q
//   p = z + {1, 0 or -1} q
//
// One result a cycle, latency rs_arith_pkg::mod_mul_sparse_latency(), one adder a stage. A
// multiple of s is added to another number, or taken from it, term by term (rs_sparse_times).
// docs/reference/arithmetic.md bounds the sums. Cost: the DSPs of rs_mul; the reduction takes none.
module rs_mod_mul_sparse
  import rs_arith_pkg::*;
#(
  parameter int unsigned                   Width = 60,
  parameter int unsigned                   NumPrimes = 1,
  parameter sparse_prime_t [NumPrimes-1:0] Primes = '0
) (
  input  logic                  clk_i,
  input  logic [Width-1:0]      a_i,
  input  logic [Width-1:0]      b_i,
  input  logic [Width-1:0]      q_i,
  input  logic [IndexWidth-1:0] index_i,
  output logic [Width-1:0]      p_o
);
  // The primes of the list that this width can take, the others replaced by zeros.
  typedef sparse_prime_t [NumPrimes-1:0] prime_list_t;
  function automatic prime_list_t fitting();
    fitting = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (sparse_fits(Width, Primes[i])) fitting[i] = Primes[i];
    end
  endfunction
  localparam prime_list_t Fitting = fitting();

  if (Fitting == '0) begin : gen_no_prime
    $error("rs_mod_mul_sparse: no prime of the list fits Width = %0d (arithmetic.md)", Width);
  end

  function automatic int unsigned highest_cut();
    highest_cut = 1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Fitting[i] != '0 && sparse_cut(Width, Fitting[i]) > highest_cut) begin
        highest_cut = sparse_cut(Width, Fitting[i]);
      end
    end
  endfunction
  localparam int unsigned Cut = highest_cut();
  localparam int unsigned HighWidth = Width + 1 - Cut;  // of x1

  function automatic bit all_fit_cut();
    all_fit_cut = 1'b1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Fitting[i] != '0 && !sparse_fits_cut(Width, Cut, Fitting[i])) all_fit_cut = 1'b0;
    end
  endfunction
  if (!all_fit_cut()) begin : gen_too_different
    $error("rs_mod_mul_sparse: the primes of the list have no cut in common (arithmetic.md)");
  end

  function automatic int unsigned widest_tail();
    widest_tail = 1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Fitting[i] != '0 && sparse_tail_bits(Fitting[i]) > widest_tail) begin
        widest_tail = sparse_tail_bits(Fitting[i]);
      end
    end
  endfunction

  function automatic int unsigned widest_sum();
    widest_sum = Width + 1;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Fitting[i] != '0 && sparse_sum_bits(Cut, Fitting[i]) > widest_sum) begin
        widest_sum = sparse_sum_bits(Cut, Fitting[i]);
      end
    end
  endfunction

  function automatic int unsigned least_bits();
    least_bits = Width;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (Fitting[i] != '0 && 32'(Fitting[i].bits) < least_bits) begin
        least_bits = 32'(Fitting[i].bits);
      end
    end
  endfunction

  function automatic logic [Width:0] used_bits();
    used_bits = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      used_bits |= (Width + 1)'(1) << Fitting[i].bits;
    end
  endfunction

  localparam int unsigned SumWidth = widest_sum();
  localparam int unsigned LeastBits = least_bits();
  localparam logic [Width:0] UsedBits = used_bits();
  localparam int unsigned TailWidth = widest_tail();
  localparam int unsigned ProductWidth = HighWidth + TailWidth;  // of x1 s
  localparam int unsigned LastWidth = SumWidth - LeastBits;  // of high(y), signed

  // The chosen prime's k, one bit a value: shifts by k are wires and a selector.
  logic [Width:0] k_d, k_q;
  always_comb begin
    k_d = '0;
    for (int unsigned i = 0; i < NumPrimes; i++) begin
      if (32'(index_i) == i) k_d = (Width + 1)'(1) << Fitting[i].bits;
    end
  end
  always_ff @(posedge clk_i) k_q <= k_d;

  // x = a*b, cut at k
  logic [Width-1:0] x_lo, x_hi;
  rs_mul #(
    .Width(Width)
  ) u_mul (
    .clk_i,
    .a_i,
    .b_i,
    .lo_o(x_lo),
    .hi_o(x_hi)
  );
  logic [Width-1:0] low_d, low_q;
  logic [Width:0]   high_d, high_q;
  always_comb begin
    low_d  = x_lo;
    high_d = '0;
    for (int unsigned k = 1; k <= Width; k++) begin
      if (UsedBits[k] && k_q[k]) begin
        low_d &= ~({Width{1'b1}} << k);
        high_d |= ({1'b0, x_hi} << (Width - k)) | ({1'b0, x_lo} >> k);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    low_q  <= low_d;
    high_q <= high_d;
  end

  // xl - x0 s + 2^C: with ones above it x0 is x0 - 2^C.
  logic [Cut-1:0]      x0, x0_q;
  logic [SumWidth-1:0] first_q, first;
  assign x0 = high_q[Cut-1:0];
  always_ff @(posedge clk_i) begin
    x0_q    <= x0;
    first_q <= SumWidth'(low_q) - {{(SumWidth - Cut) {1'b1}}, x0};
  end
  rs_sparse_times #(
    .Width(Cut + 1),
    .OutWidth(SumWidth),
    .Subtract(1'b1),
    .NumPrimes(NumPrimes),
    .Primes(Fitting)
  ) u_times0 (
    .clk_i,
    .index_i,
    .x_i({1'b0, x0_q}),
    .base_i(first_q),
    .p_o(first)
  );

  // x1 s
  logic [HighWidth-1:0]    x1;
  logic [ProductWidth-1:0] product;
  assign x1 = high_q[Width:Cut];
  rs_sparse_times #(
    .Width(HighWidth + 1),
    .OutWidth(ProductWidth),
    .NumPrimes(NumPrimes),
    .Primes(Fitting)
  ) u_times1 (
    .clk_i,
    .index_i,
    .x_i({1'b0, x1}),
    .base_i(ProductWidth'(x1)),
    .p_o(product)
  );

  // y: {..., 1, 1, ~low(x1 s), high(x1 s)} is high(x1 s) - low(x1 s) 2^C - 2^C.
  logic [ProductWidth-1:0] product_q;
  logic [Cut-1:0]          fold_d, fold_q, fold2_q;
  logic [SumWidth-1:0]     part, second_q, y;
  always_comb begin
    part   = SumWidth'(product_q);
    fold_d = '0;
    for (int unsigned k = Cut + 1; k <= Width; k++) begin
      if (UsedBits[k] && k_q[k]) begin
        part &= ~({SumWidth{1'b1}} << (k - Cut));
        fold_d |= Cut'(product >> (k - Cut));
      end
    end
  end
  always_ff @(posedge clk_i) begin
    product_q <= product;
    fold_q    <= fold_d;
    fold2_q   <= fold_q;
    second_q  <= first + ((~part << Cut) | SumWidth'(fold_q));
  end
  rs_sparse_times #(
    .Width(Cut + 1),
    .OutWidth(SumWidth),
    .NumPrimes(NumPrimes),
    .Primes(Fitting)
  ) u_times_fold (
    .clk_i,
    .index_i,
    .x_i({1'b0, fold2_q}),
    .base_i(second_q),
    .p_o(y)
  );

  // z
  logic [Width-1:0]            y_low_d, y_low_q, y_low_delayed;
  logic signed [LastWidth-1:0] y_high_d, y_high_q;
  always_comb begin
    y_low_d  = Width'(y);
    y_high_d = '0;
    for (int unsigned k = 1; k <= Width; k++) begin
      if (UsedBits[k] && k_q[k]) begin
        y_low_d &= ~({Width{1'b1}} << k);
        y_high_d |= LastWidth'($signed(y) >>> k);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    y_low_q  <= y_low_d;
    y_high_q <= y_high_d;
  end
  localparam int unsigned YsWidth = LastWidth + TailWidth;  // of high(y) s, signed
  logic signed [YsWidth-1:0] last;
  rs_sparse_times #(
    .Width(LastWidth),
    .OutWidth(YsWidth),
    .NumPrimes(NumPrimes),
    .Primes(Fitting)
  ) u_times_last (
    .clk_i,
    .index_i,
    .x_i(y_high_q),
    .base_i(YsWidth'(y_high_q)),
    .p_o(last)
  );
  rs_delay #(
    .Width(Width),
    .Depth(sparse_times_latency())
  ) u_delay_y_low (
    .clk_i,
    .d_i(y_low_q),
    .d_o(y_low_delayed)
  );
  logic signed [Width:0] z_q;
  always_ff @(posedge clk_i) z_q <= $signed({1'b0, y_low_delayed}) - (Width + 1)'(last);

  // p: z, z + q or z - q, whichever is in range.
  logic             more_q, less_q;
  logic [Width-1:0] z2_q, change, p_q;
  always_comb begin
    change = '0;
    if (more_q) change = q_i;
    else if (less_q) change = ~q_i;
  end
  always_ff @(posedge clk_i) begin
    z2_q   <= z_q[Width-1:0];
    more_q <= z_q[Width];
    less_q <= !z_q[Width] && z_q[Width-1:0] >= q_i;
    p_q    <= Width'(({z2_q, 1'b1} + {change, less_q}) >> 1);
  end
  assign p_o = p_q;
endmodule
