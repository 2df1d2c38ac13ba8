// Product of two words of 18 bits, as one MULT18X18D of Lattice's ECP5 computes it.
//
//   p_o = a_i * b_i
//
// One result a cycle, latency rs_arith_pkg::mul_block_latency(): the slice's operand registers and
// its result register; the pipeline register between the two is not used. Synthesis moves no
// registers into the slice, so that the flow replaces this module by the slice itself
// (python/ringsmith/hdl/ecp5/cells.v).
module rs_mul_mult18
  import rs_arith_pkg::*;
(
  input  logic                clk_i,
  input  logic [Mult18-1:0]   a_i,
  input  logic [Mult18-1:0]   b_i,
  output logic [2*Mult18-1:0] p_o
);
  logic [Mult18-1:0]   a_q, b_q;
  logic [2*Mult18-1:0] product_q;
  always_ff @(posedge clk_i) begin
    a_q       <= a_i;
    b_q       <= b_i;
    product_q <= (2 * Mult18)'(a_q) * (2 * Mult18)'(b_q);
  end
  assign p_o = product_q;
endmodule
