// What test_proofs.py proves of rs_dma_fifo.
//
// The proof watches any one of the words taken since the last reset: it leaves in order, with its
// content, and once. No word leaves that was not there, and no word enters a full FIFO. A word that
// is offered stays until it is taken.
module rs_dma_fifo_proof #(
  parameter int unsigned Width = 2,
  parameter int unsigned LogDepth = 2
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             watch_i,
  input logic [Width-1:0] data_i,
  input logic             ready_i
);
  localparam int unsigned Depth = 2 ** LogDepth;
  typedef logic [LogDepth:0] pointer_t;
  logic             ready, valid;
  logic [Width-1:0] data;
  rs_dma_fifo #(
    .Width(Width),
    .LogDepth(LogDepth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o(ready),
    .data_i,
    .valid_o(valid),
    .ready_i,
    .data_o(data)
  );

  // ---- the model --------------------------------------------------------------------------------
  logic                watched_q, held_q;
  logic [LogDepth+1:0] count_q, ahead_q;  // words inside, and those of them before the watched one
  logic [Width-1:0]    word_q, held_data_q;
  logic                push, pop;
  assign push = valid_i && ready;
  assign pop  = valid && ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q   <= '0;
      watched_q <= 1'b0;
      held_q    <= 1'b0;
    end else begin
      count_q <= count_q + (LogDepth + 2)'(push) - (LogDepth + 2)'(pop);
      held_q  <= valid && !ready_i;
      if (watched_q) begin
        if (pop && ahead_q == '0) watched_q <= 1'b0;
        if (pop) ahead_q <= ahead_q - 1'b1;
      end else if (push && watch_i) begin
        watched_q <= 1'b1;
        ahead_q   <= count_q - (LogDepth + 2)'(pop);
        word_q    <= data_i;
      end
    end
    held_data_q <= data;
  end

  pointer_t there, at;  // words in the memory; where the watched one is
  assign there = u_dut.wptr_q - u_dut.rptr_q;
  assign at    = u_dut.rptr_q + pointer_t'(ahead_q) - pointer_t'(u_dut.valid_q);
  always_comb begin
    if (rst_ni) begin
      assert (count_q <= (LogDepth + 2)'(Depth + 1));
      if (valid) assert (count_q != '0);
      if (count_q == (LogDepth + 2)'(Depth + 1)) assert (!ready);
      if (count_q < (LogDepth + 2)'(Depth)) assert (ready);
      if (valid && watched_q && ahead_q == '0) assert (data == word_q);
      if (held_q) assert (valid && data == held_data_q);

      // What the induction needs to know.
      assert (there <= pointer_t'(Depth));
      assert (count_q == (LogDepth + 2)'(there) + (LogDepth + 2)'(u_dut.valid_q));
      if (watched_q) begin
        assert (ahead_q < count_q);
        if (ahead_q == '0 && u_dut.valid_q) assert (u_dut.u_ram.read_q == word_q);
        else assert (u_dut.u_ram.gen_read_undefined.mem[at[LogDepth-1:0]] == word_q);
      end
    end
  end
endmodule
