// What test_proofs.py proves of rs_word_halves, for any accesses at any time, resets included.
//
// A model remembers the half that was written last. A word is complete with its upper
// half, exactly where the whole lower one was written just before; it then holds both halves; and
// every write that does not count is refused for one reason.
module rs_word_halves_proof
  import rs_shell_pkg::*;
(
  input logic    clk_i,
  input logic    rst_ni,
  input logic    clear_i,
  input access_t access_i
);
  logic        complete;
  logic [63:0] word;
  refused_t    refused;
  rs_word_halves u_dut (
    .clk_i,
    .rst_ni,
    .clear_i,
    .access_i,
    .complete_o(complete),
    .word_o(word),
    .refused_o(refused)
  );

  logic        write, lower_first_q;  // the last write was of a whole lower half
  logic [31:0] lower_q;
  assign write = access_i.valid && access_i.write;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      lower_first_q <= 1'b0;
    end else if (write) begin
      lower_first_q <= !access_i.upper && access_i.whole;
    end
    if (write && !access_i.upper) lower_q <= access_i.data;
  end

  always_comb begin
    assert (complete == (write && access_i.upper && access_i.whole && lower_first_q));
    if (complete) assert (word == {access_i.data, lower_q});
    assert ((refused != '0) == (write && !complete && (access_i.upper || !access_i.whole)));
    assert ($onehot0(refused));
    assert (!refused.busy && !refused.place);
  end
endmodule
