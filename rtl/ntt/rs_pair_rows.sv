// Combines half rows of two polynomials, which arrive together, into full rows.
//
// With pair_i, lanes 0 to Cores - 1 hold a half of a row of the first polynomial, and the others
// the same half of that of the second: the lower halves in one cycle, the upper ones, with upper_i,
// in the next. The first polynomial's row leaves in that cycle, the second's in the one behind it.
// Without pair_i lanes pass. Cost: Lanes words of registers, and a multiplexer of two a lane.
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
  logic [Width-1:0] near_q [Cores];  // the first's lower half, then the second's upper one
  logic [Width-1:0] far_q [Cores];   // the second's lower half
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Cores; i++) begin
      near_q[i] <= upper_i ? lane_i[i+Cores] : lane_i[i];
      if (!upper_i) far_q[i] <= lane_i[i+Cores];
    end
  end
  always_comb begin
    lane_o = lane_i;
    if (pair_i) begin
      for (int unsigned i = 0; i < Cores; i++) begin
        lane_o[i]       = upper_i ? near_q[i] : far_q[i];
        lane_o[i+Cores] = upper_i ? lane_i[i] : near_q[i];
      end
    end
  end
endmodule
