// Selects the words of one bank of a work memory, without a register.
//
//   word_o is word_i[bank_i]; undefined if the bank does not exist
//
// Up to 16 banks: Fours multiplexers of four words each, and a last one of their results and the
// remaining words, so that each LUT selects among four words. Cost: a LUT a bit for every three
// banks behind the first, rounded up: 2 for 7 banks and 3 for 10. More banks: rs_mux.
module rs_rpau_bank_mux #(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Banks = 7,
  localparam int unsigned BankWidth = (Banks > 1) ? $clog2(Banks) : 1
) (
  input  logic [BankWidth-1:0] bank_i,
  input  logic [Width-1:0]     word_i [Banks],
  output logic [Width-1:0]     word_o
);
  if (Banks > 16) begin : gen_many
    rs_mux #(
      .Width(Width),
      .Words(Banks)
    ) u_mux (
      .index_i(bank_i),
      .word_i,
      .word_o
    );
  end else begin : gen_few
    localparam int unsigned Fours = (Banks > 4) ? (Banks - 2) / 3 : 0;
    localparam int unsigned Left = (Banks > 4 * Fours) ? Banks - 4 * Fours : 0;
    localparam int unsigned Last = Fours + Left;  // words of the last multiplexer
    logic [Width-1:0] last [Last];
    for (genvar i = 0; i < Fours; i++) begin : gen_four
      rs_mux_four #(
        .Width(Width),
        .Words(Banks),
        .First(4 * i)
      ) u_four (
        .index_i(2'(bank_i)),
        .word_i,
        .word_o(last[i])
      );
    end
    for (genvar i = Fours; i < Last; i++) begin : gen_left
      assign last[i] = word_i[i+3*Fours];
    end

    logic [1:0] which;
    assign which = 2'(32'(bank_i) + 1 <= 4 * Fours ? 32'(bank_i) / 4 : 32'(bank_i) - 3 * Fours);
    rs_mux_four #(
      .Width(Width),
      .Words(Last)
    ) u_last (
      .index_i(which),
      .word_i(last),
      .word_o
    );
  end
endmodule
