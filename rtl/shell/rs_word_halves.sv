// Joins the two halves of a 64-bit register, which the bus writes one after the other.
//
// The lower half is written first and is kept for the upper one, which completes the word: word_o
// is there in the cycle of that access, with complete_o. Any other write is refused in its own
// cycle: a half without all of its bytes (value), or an upper half without a lower one just before
// it (order). clear_i forgets a lower half.
module rs_word_halves
  import rs_shell_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        clear_i,
  input  access_t     access_i,
  output logic        complete_o,
  output logic [63:0] word_o,
  output refused_t    refused_o
);
  logic        write, lower_valid_q;
  logic [31:0] lower_q;
  assign write = access_i.valid && access_i.write;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      lower_valid_q <= 1'b0;
    end else if (write) begin
      lower_valid_q <= access_i.whole && !access_i.upper;
    end
    if (write && !access_i.upper) lower_q <= access_i.data;
  end

  assign complete_o = write && access_i.upper && access_i.whole && lower_valid_q;
  assign word_o     = {access_i.data, lower_q};

  always_comb begin
    refused_o       = '0;
    refused_o.value = write && !access_i.whole;
    refused_o.order = write && access_i.whole && access_i.upper && !lower_valid_q;
  end
endmodule
