// The sparse multiplier at a width small enough for every pair of operands, with primes of its own.
module rs_sparse_bench
  import rs_arith_pkg::*;
#(
  localparam int unsigned Width = 9
) (
  input  logic                  clk_i,
  input  logic [Width-1:0]      a_i,
  input  logic [Width-1:0]      b_i,
  input  logic [Width-1:0]      q_i,
  input  logic [IndexWidth-1:0] index_i,
  output logic [Width-1:0]      p_o,
  output logic [7:0]            latency_o
);
  localparam sparse_term_t None = '0;
  localparam sparse_term_t Minus2 = {1'b1, 1'b1, 5'd1};
  localparam sparse_term_t Minus4 = {1'b1, 1'b1, 5'd2};
  localparam sparse_term_t Plus2 = {1'b1, 1'b0, 5'd1};
  localparam sparse_term_t Plus4 = {1'b1, 1'b0, 5'd2};
  localparam sparse_term_t Plus8 = {1'b1, 1'b0, 5'd3};
  localparam sparse_term_t Plus16 = {1'b1, 1'b0, 5'd4};
  localparam sparse_prime_t [6:0] Primes = {
    {6'd8, None, Plus4, Plus16},  // 6: 277, whose tail is too long: must be left out
    {6'd8, Plus2, Plus4, Plus8},  // 5: 271
    {6'd8, Minus4, None, Plus16},  // 4: 269
    {6'd8, Minus2, None, Plus8},  // 3: 263
    {6'd8, None, None, None},  // 2: 257
    {6'd7, None, Minus2, Plus4},  // 1: 131
    {6'd7, Plus2, None, None}  // 0: 131
  };
  rs_mod_mul_sparse #(
    .Width(Width),
    .NumPrimes(7),
    .Primes(Primes)
  ) u_mul (
    .clk_i,
    .a_i,
    .b_i,
    .q_i,
    .index_i,
    .p_o
  );
  assign latency_o = 8'(mod_mul_latency(ReductionSparse));
endmodule
