// Lanes to memory row: the inverse of rs_lane_gather without an automorphism.
//
// Lane l of a butterfly stage of stride 2^pattern_i words is put back where rs_lane_gather took it
// from, the halves swapped where swap_i says so. Words and controls of one cycle belong together;
// latency 1. Cost: one multiplexer of log2(2*Cores) lanes, and one of two, a word.
module rs_lane_scatter #(
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   swap_i,
  input  logic [PatternBits-1:0] pattern_i,
  input  logic [Width-1:0]       lane_i [Lanes],
  output logic [Width-1:0]       word_o [Lanes]
);
  // The word of index w belongs to lane {bit k of w, w without bit k}.
  logic [Width-1:0] ordered [Lanes];
  logic [Width-1:0] word_q [Lanes];
  always_comb begin
    for (int unsigned w = 0; w < Lanes; w++) begin
      ordered[w] = lane_i[w];
      for (int unsigned k = 0; k < LogLanes; k++) begin
        if (pattern_i == PatternBits'(k)) begin
          ordered[w] = lane_i[((w >> k) % 2) * Cores + (w >> (k + 1) << k) + w % (1 << k)];
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned w = 0; w < Lanes; w++) begin
      word_q[w] <= ordered[swap_i ? w ^ Cores : w];
    end
  end
  assign word_o = word_q;
endmodule
