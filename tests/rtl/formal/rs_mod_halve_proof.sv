// What test_proofs.py proves of rs_mod_halve: for every odd q below 2^Width and every residue,
// twice the result is the residue modulo q, and the result is in [0, q), as late as rs_arith_pkg
// says.
module rs_mod_halve_proof
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 60
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [Width-1:0] x_i,
  input logic [Width-1:0] q_i
);
  localparam int unsigned Latency = mod_halve_latency();
  logic [Width-1:0] x_q [Latency];
  logic [Width-1:0] q_q [Latency];
  logic             valid_q [Latency];  // the operand came after the reset
  logic [Width-1:0] half;
  rs_mod_halve #(
    .Width(Width)
  ) u_dut (
    .clk_i,
    .x_i,
    .q_i,
    .h_o(half)
  );

  always_ff @(posedge clk_i) begin
    valid_q[0] <= rst_ni;
    x_q[0]     <= x_i;
    q_q[0]     <= q_i;
    for (int unsigned i = 1; i < Latency; i++) begin
      valid_q[i] <= rst_ni && valid_q[i-1];
      x_q[i]     <= x_q[i-1];
      q_q[i]     <= q_q[i-1];
    end
  end

  logic [Width:0] twice, x, q;
  assign twice = {half, 1'b0};
  assign x     = {1'b0, x_q[Latency-1]};
  assign q     = {1'b0, q_q[Latency-1]};
  always_comb begin
    assume (q_i[0] && x_i < q_i);
    if (valid_q[Latency-1]) begin
      assert ({1'b0, half} < q);
      assert (twice == x || twice == x + q);
    end
  end
endmodule
