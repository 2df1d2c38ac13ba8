// One of four of several words, at once: a LUT of six inputs a bit.
//
//   word_o is word_i[First + index_i]; undefined where there is no such word
//
// A module, though it is small: logic synthesis that may look through it finds worse ones.
module rs_mux_four #(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Words = 16,
  parameter  int unsigned First = 0,    // a multiple of four
  localparam int unsigned IndexWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic [1:0]       index_i,
  input  logic [Width-1:0] word_i [Words],
  output logic [Width-1:0] word_o
);
  assign word_o = word_i[IndexWidth'(First+32'(index_i))];
endmodule
