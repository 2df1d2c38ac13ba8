// Combines half rows of two polynomials, which arrive together, into full rows.
//
// With pair_i, lanes 0 to Cores - 1 hold a half of a row of the first polynomial, and the others
// the same half of that of the second: the lower halves in one cycle, the upper ones, with upper_i,
// in the next. The first polynomial's row leaves in that cycle, the second's in the one behind it.
// Without pair_i lanes pass.
//
// Both controls come a cycle ahead of the words, since each pair of lanes has a register of its own
// for them. Cost: Lanes words of registers, and a multiplexer of two a lane.
module rs_pair_rows #(
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  localparam int unsigned Lanes = 2 * Cores
) (
  input  logic             clk_i,
  input  logic             pair_i,
  input  logic             upper_i,
  input  logic [Width-1:0] lane_i [Lanes],
  output logic [Width-1:0] lane_o [Lanes]
);
  for (genvar i = 0; i < Cores; i++) begin : gen_core
    logic             pair, upper;
    logic [Width-1:0] near_q;  // the first's lower half, then the second's upper one
    logic [Width-1:0] far_q;   // the second's lower half
    rs_copy #(
      .Width(2)
    ) u_controls (
      .clk_i,
      .d_i({pair_i, upper_i}),
      .q_o({pair, upper})
    );
    always_ff @(posedge clk_i) begin
      near_q <= upper ? lane_i[i+Cores] : lane_i[i];
      if (!upper) far_q <= lane_i[i+Cores];
    end
    assign lane_o[i]       = !pair ? lane_i[i] : upper ? near_q : far_q;
    assign lane_o[i+Cores] = !pair ? lane_i[i+Cores] : upper ? lane_i[i] : near_q;
  end
endmodule
