// Selects one of four words, without a register: a LUT of six inputs a bit.
//
//   word_o is word_i[First + index_i]; undefined if there is no word with that index
//
// It is a module of its own because logic synthesis finds worse solutions when it is flattened.
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
