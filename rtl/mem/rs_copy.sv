// One of several registers with the same word, each for a part of what the word goes to.
//
//   q_o in cycle t + 1 is d_i in cycle t
//
// Synthesis takes registers with equal inputs for one, and gives it all their loads. It keeps these
// apart: a block that drives many inputs has one for each lane or part. It begins with 0, so that a
// copy of a reset, active low, is one from the beginning. Cost: Width registers.
(* keep_hierarchy = "yes", dont_touch = "yes" *)
module rs_copy #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  logic [Width-1:0] copy_q = '0;
  always_ff @(posedge clk_i) copy_q <= d_i;
  assign q_o = copy_q;
endmodule
