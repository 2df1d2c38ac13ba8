// What test_proofs.py proves of rs_mod_addsub: the residue, in [0, q), for every q below 2^Width
// and every two residues, another operation in each cycle, as late as rs_arith_pkg says.
module rs_mod_addsub_proof
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 60
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             sub_i,
  input logic [Width-1:0] a_i,
  input logic [Width-1:0] b_i,
  input logic [Width-1:0] q_i
);
  localparam int unsigned Latency = mod_addsub_latency();
  logic [Width-1:0] a_q [Latency];
  logic [Width-1:0] b_q [Latency];
  logic [Width-1:0] q_q [Latency];
  logic             sub_q [Latency];
  logic             valid_q [Latency];  // the operands came after the reset
  logic [Width-1:0] sum;
  rs_mod_addsub #(
    .Width(Width)
  ) u_dut (
    .clk_i,
    .sub_i,
    .a_i,
    .b_i,
    .q_i(q_q[0]),  // that of the operands of the cycle before
    .s_o(sum)
  );

  always_ff @(posedge clk_i) begin
    valid_q[0] <= rst_ni;
    sub_q[0]   <= sub_i;
    a_q[0]     <= a_i;
    b_q[0]     <= b_i;
    q_q[0]     <= q_i;
    for (int unsigned i = 1; i < Latency; i++) begin
      valid_q[i] <= rst_ni && valid_q[i-1];
      sub_q[i]   <= sub_q[i-1];
      a_q[i]     <= a_q[i-1];
      b_q[i]     <= b_q[i-1];
      q_q[i]     <= q_q[i-1];
    end
  end

  typedef logic signed [Width+1:0] integer_t;  // holds -q to 2q
  integer_t exact, result, q;
  always_comb begin
    assume (a_i < q_i && b_i < q_i);
    q      = integer_t'({2'b00, q_q[Latency-1]});
    result = integer_t'({2'b00, sum});
    exact  = integer_t'({2'b00, a_q[Latency-1]});
    if (sub_q[Latency-1]) exact -= integer_t'({2'b00, b_q[Latency-1]});
    else exact += integer_t'({2'b00, b_q[Latency-1]});
    if (valid_q[Latency-1]) begin
      assert (result < q);
      assert (result == exact || result == exact + q || result == exact - q);
    end
  end
endmodule
