// Half of a residue: the inverse NTT's division by two, one a stage.
//
//   h_o = x_i / 2 mod q_i, which is x_i / 2 if x_i is even, else (x_i + q_i) / 2
//
//   0 <= x_i, h_o < q_i < 2^Width, q_i odd
//
// One result a cycle, latency rs_arith_pkg::mod_halve_latency(). Cost: one adder of Width bits.
module rs_mod_halve #(
  parameter int unsigned Width = 48
) (
  input  logic             clk_i,
  input  logic [Width-1:0] x_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] h_o
);
  logic [Width-1:0] addend, h_q;
  assign addend = x_i[0] ? (q_i >> 1) : '0;

  // (x + q) / 2 = floor(x / 2) + floor(q / 2) + 1 when both are odd, which is below q: no carry
  // out.
  always_ff @(posedge clk_i) h_q <= (x_i >> 1) + addend + Width'(x_i[0]);
  assign h_o = h_q;
endmodule
