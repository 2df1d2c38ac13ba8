// Trivium behind ports of at most 64 bits: load_i takes key and IV; then each cycle runs a step.
module rs_trivium_bench
  import rs_prng_pkg::*;
#(
  parameter int unsigned Words = 2
) (
  input  logic        clk_i,
  input  logic        load_i,
  input  logic [63:0] key_i,
  input  logic [15:0] key_high_i,
  input  logic [63:0] iv_i,
  input  logic [15:0] iv_high_i,
  output logic [63:0] words_o [Words]
);
  logic [TriviumA-1:0] a_q, a;
  logic [TriviumB-1:0] b_q, b;
  logic [TriviumC-1:0] c_q, c;
  rs_trivium #(
    .Words(Words)
  ) u_trivium (
    .a_i(a_q),
    .b_i(b_q),
    .c_i(c_q),
    .a_o(a),
    .b_o(b),
    .c_o(c),
    .words_o
  );
  always_ff @(posedge clk_i) begin
    a_q <= load_i ? {key_high_i, key_i, 13'd0} : a;
    b_q <= load_i ? {iv_high_i, iv_i, 4'd0} : b;
    c_q <= load_i ? TriviumC'(7) : c;
  end
endmodule
