// What test_proofs.py proves of rs_program_window, for any accesses at any time.
//
// An instruction reaches the store in the cycle after its upper half, at the address that the
// register held then, exactly if the device was ready and the address exists. Each counts the
// address up once; nothing else does; and what is refused is neither counted nor stored.
module rs_program_window_proof
  import rs_shell_pkg::*;
#(
  parameter  int unsigned ProgramWords = 24,
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic        ready_i,
  input logic [16:0] address_i,
  input access_t     access_i
);
  logic                 advance, we;
  refused_t             refused;
  logic [AddrWidth-1:0] addr;
  logic [63:0]          data;
  rs_program_window #(
    .ProgramWords(ProgramWords)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .ready_i,
    .address_i,
    .advance_o(advance),
    .access_i,
    .refused_o(refused),
    .program_we_o(we),
    .program_addr_o(addr),
    .program_data_o(data)
  );

  logic        write, lower_first_q, complete;
  logic [31:0] lower_q;
  logic        stored_q;  // a word went to the store in the cycle before
  logic [16:0] address_q;
  logic [63:0] word_q;
  assign write    = access_i.valid && access_i.write;
  assign complete = write && access_i.upper && access_i.whole && lower_first_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i) begin
      lower_first_q <= 1'b0;
    end else if (write) begin
      lower_first_q <= !access_i.upper && access_i.whole;
    end
    if (write && !access_i.upper) lower_q <= access_i.data;
    stored_q  <= rst_ni && ready_i && complete && address_i < 17'(ProgramWords);
    address_q <= address_i;
    word_q    <= {access_i.data, lower_q};
  end

  always_comb begin
    assert (advance == (ready_i && complete && address_i < 17'(ProgramWords)));
    assert (!(advance && refused != '0));
    if (access_i.valid && !ready_i) assert (refused.busy);
    if (write && access_i.upper) assert (advance || refused != '0);
    assert (we == stored_q);
    if (we) assert (17'(addr) == address_q && 32'(addr) < ProgramWords && data == word_q);
    // What the induction needs to know of the half that is kept.
    assert (u_dut.u_halves.lower_valid_q == lower_first_q);
    assert (!lower_first_q || u_dut.u_halves.lower_q == lower_q);
  end
endmodule
