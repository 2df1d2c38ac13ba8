// Memory row to lanes: undoes the swap of halves and puts words where the butterflies want them.
//
// Where the halves are swapped, word w of the row stands at position w + Cores modulo 2*Cores. Lane
// l gets
//
//   permute_i = 0   word l with bits pattern_i and log2(Cores) of its index exchanged: the word for
//                   butterfly l mod Cores, its u (l < Cores) or its t (l >= Cores), at a stride of
//                   2^pattern_i words; pattern_i = log2(Cores) keeps the order
//   permute_i = 1   the word of an automorphism: that of index brev(l') where
//                   l' = element_i * brev(l) + offset_i modulo 2*Cores
//
// Bit b of l' follows from bits 0 to b of brev(l), since element_i is odd. So an automorphism takes
// a step for each bit, in which a lane keeps its word or takes that of the lane whose index differs
// in this bit. Two bits are a level of multiplexers of four. The swap is in the first bit, the
// exchange of the two upper bits in the first level, every other exchange in the last.
//
// The controls are registered ahead: those of cycle t apply to the words of cycle t + 1, whose
// lanes stand at lane_o in cycle t + 2. Cost: a multiplexer of four a lane and level, and in the
// last level two where a lane has more than four sources: 1.1 of them with 16 cores.
module rs_lane_gather #(
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   swap_i,
  input  logic                   permute_i,
  input  logic [PatternBits-1:0] pattern_i,
  input  logic [LogLanes-1:0]    element_i,
  input  logic [LogLanes-1:0]    offset_i,
  input  logic [Width-1:0]       word_i [Lanes],
  output logic [Width-1:0]       lane_o [Lanes]
);
  localparam int unsigned Levels = (LogLanes + 1) / 2;
  localparam int unsigned Top = LogLanes - 1;
  localparam int Late = (LogLanes > 2) ? int'(LogLanes) - 2 : 0;  // patterns of the last level

  // Bits of the lane's index in which its source differs, of all levels.
  logic [LogLanes-1:0] reversed [Lanes];  // brev(l), constant
  logic [LogLanes-1:0] image [Lanes];     // l'
  logic [LogLanes-1:0] change [Lanes];
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      for (int unsigned b = 0; b < LogLanes; b++) reversed[l][b] = l[Top-b];
      image[l]  = offset_i + LogLanes'(element_i * reversed[l]);
      change[l] = '0;
      for (int b = 0; b < int'(LogLanes); b++) begin
        if (permute_i) change[l][b] = image[l][Top-b] ^ reversed[l][Top-b];
        else if (pattern_i == PatternBits'(Late) && b >= Late) begin
          change[l][b] = reversed[l][0] ^ reversed[l][Top-Late];
        end
      end
      change[l][Top] = change[l][Top] ^ swap_i;
    end
  end

  for (genvar v = 0; v < Levels; v++) begin : gen_level
    localparam int unsigned Bits = (LogLanes - 2 * v > 1) ? 2 : 1;
    localparam int unsigned Lsb = LogLanes - 2 * v - Bits;
    localparam int Patterns = (v == Levels - 1) ? Late : 0;
    logic [Width-1:0] given [Lanes];
    logic [Width-1:0] left [Lanes];
    if (v == 0) begin : gen_first
      assign given = word_i;
    end else begin : gen_later
      assign given = gen_level[v-1].left;
    end

    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      // The bits that differ from the upper one: an exchange with one of them moves the word.
      localparam int unsigned Moves = ((l >= Cores) ? ~l : l) & ((1 << Patterns) - 1);
      localparam int unsigned Sources = (1 << Bits) + $countones(Moves);
      localparam int unsigned IndexBits = $clog2(Sources);
      logic [Width-1:0]     source [Sources];
      logic [IndexBits-1:0] index, index_q;
      for (genvar s = 0; s < (1 << Bits); s++) begin : gen_step
        assign source[s] = given[l^(s<<Lsb)];
      end
      for (genvar k = 0; k < Patterns; k++) begin : gen_exchange
        if ((Moves >> k) % 2 == 1) begin : gen_moves
          assign source[(1<<Bits)+$countones(Moves&((1<<k)-1))] = given[l^(1<<k)^Cores];
        end
      end
      always_comb begin
        index = IndexBits'(change[l][Lsb+:Bits]);
        for (int k = 0; k < Patterns; k++) begin
          if (!permute_i && pattern_i == PatternBits'(k) && (Moves >> k) % 2 == 1) begin
            index = IndexBits'((1 << Bits) + $countones(Moves & ((1 << k) - 1)));
          end
        end
      end
      always_ff @(posedge clk_i) index_q <= index;
      rs_mux #(
        .Width(Width),
        .Words(Sources)
      ) u_mux (
        .index_i(index_q),
        .word_i(source),
        .word_o(left[l])
      );
    end
  end

  logic [Width-1:0] lane_q [Lanes];
  always_ff @(posedge clk_i) lane_q <= gen_level[Levels-1].left;
  assign lane_o = lane_q;
endmodule
