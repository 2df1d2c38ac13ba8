// The sparse multiplier at a width small enough for every pair of operands, with primes of its own.
module rs_sparse_bench
  import rs_arith_pkg::*;
#(
  localparam int unsigned Width = 8
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
  localparam sparse_term_t Minus16 = {1'b1, 1'b1, 5'd4};
  localparam sparse_term_t Plus2 = {1'b1, 1'b0, 5'd1};
  localparam sparse_term_t Plus64 = {1'b1, 1'b0, 5'd6};
  localparam sparse_prime_t [6:0] Primes = {
    {6'd7, None, None, Plus64},  // 6: 193, whose tail is too long: must be left out
    {6'd8, None, Minus4, Minus2},  // 5: 251
    {6'd8, None, None, Minus16},  // 4: 241
    {6'd7, None, None, Plus2},  // 3: 131
    {6'd7, Minus2, None, None},  // 2: 127
    {6'd6, None, Plus2, None},  // 1: 67
    {6'd6, None, None, Minus4}  // 0: 61
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
