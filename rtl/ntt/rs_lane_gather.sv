// Memory row to lanes: undoes the swap of halves and puts words where the butterflies want them.
//
// Where the halves are swapped, word w of the row stands in place w + Cores modulo 2*Cores. Lane l
// gets
//
//   permute_i = 0   the word for butterfly l mod Cores, its u (l < Cores) or its t (l >= Cores),
//                   at a stride of 2^pattern_i words; pattern_i = log2(Cores) keeps the order
//   permute_i = 1   the word of an automorphism: that of index brev(l') where
//                   l' = element_i * brev(l) + offset_i modulo 2*Cores
//
// The controls are registered ahead: those of cycle t apply to the words of cycle t + 1, whose
// lanes stand at lane_o in cycle t + 2. Cost: one multiplexer of all lanes a lane.
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
  typedef logic [LogLanes-1:0] lane_t;

  // Lane {top, core} of a butterfly takes the word whose index is `core` with `top` put in at bit
  // k: core / 2^k * 2^(k + 1) + top * 2^k + core mod 2^k.
  lane_t reversed [Lanes];  // brev(l), constant
  lane_t image [Lanes];     // l'
  lane_t source [Lanes];
  lane_t source_q [Lanes];
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      for (int unsigned b = 0; b < LogLanes; b++) reversed[l][b] = l[LogLanes-1-b];
      image[l] = offset_i + LogLanes'(element_i * reversed[l]);
      for (int unsigned b = 0; b < LogLanes; b++) source[l][b] = image[l][LogLanes-1-b];
      for (int unsigned k = 0; k < LogLanes; k++) begin
        if (!permute_i && pattern_i == PatternBits'(k)) begin
          source[l] = LogLanes'(((l % Cores) >> k << (k + 1)) + (l / Cores << k) + l % (1 << k));
        end
      end
      if (swap_i) source[l] = source[l] ^ LogLanes'(Cores);
    end
  end

  always_ff @(posedge clk_i) source_q <= source;
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_select #(
      .Width(Width),
      .Words(Lanes)
    ) u_select (
      .clk_i,
      .index_i(source_q[l]),
      .word_i,
      .word_o(lane_o[l])
    );
  end
endmodule
