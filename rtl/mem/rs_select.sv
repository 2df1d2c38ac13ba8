// Selects one of several words, with a register.
//
//   word_o in cycle t + 1 is word_i[index_i] in cycle t; undefined if there is no word with that
//   index
//
// It is a module of its own because synthesis then maps it once, and an RPAU has hundreds. Cost: a
// multiplexer of Words words (rs_mux) and a register.
module rs_select #(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Words = 16,
  localparam int unsigned IndexWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic                  clk_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Width-1:0]      word_i [Words],
  output logic [Width-1:0]      word_o
);
  logic [Width-1:0] word, word_q;
  rs_mux #(
    .Width(Width),
    .Words(Words)
  ) u_mux (
    .index_i,
    .word_i,
    .word_o(word)
  );
  always_ff @(posedge clk_i) word_q <= word;
  assign word_o = word_q;
endmodule
