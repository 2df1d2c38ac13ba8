// Selects one of several words, without a register.
//
//   word_o is word_i[index_i]; undefined if index_i is not below the number of words
//
// A tree of selectors of four. Cost: a third of Words LUTs a bit, or a
// little more.
module rs_mux #(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Words = 16,
  localparam int unsigned IndexWidth = (Words > 1) ? $clog2(Words) : 1
) (
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Width-1:0]      word_i [Words],
  output logic [Width-1:0]      word_o
);
  localparam int unsigned Levels = (IndexWidth + 1) / 2;
  logic [2*Levels-1:0] index;
  assign index = (2 * Levels)'(index_i);

  for (genvar v = 0; v < Levels; v++) begin : gen_level
    localparam int unsigned Given = (Words + 4 ** v - 1) / 4 ** v;
    localparam int unsigned Left = (Given + 3) / 4;
    logic [Width-1:0] given [Given];
    logic [Width-1:0] left [Left];
    if (v == 0) begin : gen_first
      assign given = word_i;
    end else begin : gen_later
      assign given = gen_level[v-1].left;
    end
    for (genvar i = 0; i < Left; i++) begin : gen_four
      rs_mux_four #(
        .Width(Width),
        .Words(Given),
        .First(4 * i)
      ) u_four (
        .index_i(index[2*v+:2]),
        .word_i(given),
        .word_o(left[i])
      );
    end
  end
  assign word_o = gen_level[Levels-1].left[0];
endmodule
