// Somebody's module: the NTT of one ring, X^64 + 1 modulo the prime 998244353, by rs_ntt.
//
// All ports are vectors. A row has four words of 30 bits, the lowest first.
module ring_multiplier_ntt (
  input  logic         clk_i,
  input  logic         rst_ni,
  input  logic         start_i,
  input  logic         inverse_i,
  output logic         done_o,
  input  logic         we_i,
  input  logic         re_i,
  input  logic [3:0]   row_i,
  input  logic [119:0] word_i,
  output logic [119:0] word_o,
  input  logic         factor_we_i,
  input  logic [5:0]   factor_i,  // its number
  input  logic [29:0]  wdata_i
);
  localparam int unsigned Width = 30;
  localparam logic [Width-1:0] Q = 998_244_353;
  // Barrett's constant, rs_mod_mul_barrett: floor(2^60 / q) - 2^30. The prime has 30 bits.
  localparam logic [Width-1:0] Mu = Width'((64'd1 << (2 * Width)) / 64'(Q));

  logic             unused_busy;
  logic [Width-1:0] word [4];
  logic [Width-1:0] answer [4];
  for (genvar l = 0; l < 4; l++) begin : gen_word
    assign word[l] = word_i[Width*l+:Width];
    assign word_o[Width*l+:Width] = answer[l];
  end
  rs_ntt #(
    .LogN(6),
    .Cores(2),
    .Width(Width)
  ) u_ntt (
    .clk_i,
    .rst_ni,
    .start_i,
    .inverse_i,
    .set_i(1'b0),
    .q_i(Q),
    .mu_i(Mu),
    .shift_i(5'd30),
    .index_i('0),
    .busy_o(unused_busy),
    .done_o,
    .we_i,
    .re_i,
    .row_i,
    .word_i(word),
    .word_o(answer),
    .factor_we_i,
    .lo_we_i(1'b0),
    .hi_we_i(1'b0),
    .wset_i(1'b0),
    .waddr_i(factor_i),
    .wdata_i
  );
endmodule
