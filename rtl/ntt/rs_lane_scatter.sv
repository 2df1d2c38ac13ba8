// Lanes to memory row: the inverse of rs_lane_gather without an automorphism.
//
// Lane l of a butterfly stage of stride 2^pattern_i words is put back where rs_lane_gather took it
// from; with swap_i, which comes with pattern_i = log2(Cores) only, the halves are swapped. Words
// and controls of one cycle belong together; latency 1. Cost: a multiplexer of two to
// log2(2*Cores) + 1 lanes a word: one of four, or two where there are more than four.
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
  localparam int Top = int'(LogLanes) - 1;

  // The word of index w belongs to the lane with bits k and Top of w exchanged.
  logic [Width-1:0] word_d [Lanes];
  logic [Width-1:0] word_q [Lanes];
  for (genvar w = 0; w < Lanes; w++) begin : gen_word
    // The bits that differ from the upper one: an exchange with one of them moves the word.
    localparam int unsigned Moves = ((w >= Cores) ? ~w : w) & (Cores - 1);
    localparam int unsigned Sources = 2 + $countones(Moves);
    localparam int unsigned IndexBits = $clog2(Sources);
    logic [Width-1:0]     source [Sources];
    logic [IndexBits-1:0] index;
    assign source[0] = lane_i[w];
    assign source[1] = lane_i[w^Cores];
    for (genvar k = 0; k < Top; k++) begin : gen_exchange
      if ((Moves >> k) % 2 == 1) begin : gen_moves
        assign source[2+$countones(Moves&((1<<k)-1))] = lane_i[w^(1<<k)^Cores];
      end
    end
    always_comb begin
      index = IndexBits'(swap_i);
      for (int k = 0; k < Top; k++) begin
        if (pattern_i == PatternBits'(k) && (Moves >> k) % 2 == 1) begin
          index = IndexBits'(2 + $countones(Moves & ((1 << k) - 1)));
        end
      end
    end
    rs_mux #(
      .Width(Width),
      .Words(Sources)
    ) u_mux (
      .index_i(index),
      .word_i(source),
      .word_o(word_d[w])
    );
  end

  always_ff @(posedge clk_i) word_q <= word_d;
  assign word_o = word_q;
endmodule
