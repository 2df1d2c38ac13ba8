// What test_proofs.py proves of rs_stream_queue, for any words, pauses and resets.
//
// A model keeps the words of a descriptor in the order in which they were taken. Each
// descriptor has one answer, after its last word; one that is taken is handed on once, word by word
// what came, and before the next one's first word; one that is refused is not. Nothing is taken
// that cannot be kept; and neither an answer nor a descriptor changes, or goes, before it is
// accepted.
module rs_stream_queue_proof
  import rs_stream_pkg::*;
#(
  parameter  int unsigned LogN = 2,
  parameter  int unsigned LogLanes = 1,
  parameter  int unsigned Width = 5,
  parameter  int unsigned Multiplier = MultiplierMontgomery,
  parameter  int unsigned WordBits = 7,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Words = 3 + Lanes
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic                valid_i,
  input logic                last_i,
  input logic [WordBits-1:0] word_i,
  input logic                answer_ready_i,
  input logic                ready_i
);
  logic                   ready, answer_valid, valid;
  logic [AnswerWidth-1:0] answer;
  logic [Width-1:0]       handed [Words];
  rs_stream_queue #(
    .Cfg('{
        LogN: LogN,
        LogLanes: LogLanes,
        Width: Width,
        Multiplier: multiplier_e'(Multiplier),
        Slots: 2
    }),
    .WordBits(WordBits)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .valid_i,
    .ready_o(ready),
    .last_i,
    .word_i,
    .answer_valid_o(answer_valid),
    .answer_ready_i,
    .answer_o(answer),
    .valid_o(valid),
    .ready_i,
    .q_o(handed[0]),
    .unit_o(handed[1]),
    .scale_o(handed[2]),
    .powers_o(handed[3:Words-1])
  );

  logic [WordBits-1:0]    came_q [Words];  // the descriptor's first words
  logic [7:0]             count_q;  // of its words; stays at Words + 1
  logic                   whole_q;  // its last word came
  logic                   answered_q;  // taken, and to be handed on
  logic                   held_answer_q, held_q;  // offered in the cycle before, not accepted
  logic [AnswerWidth-1:0] answer_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      count_q    <= '0;
      whole_q    <= 1'b0;
      answered_q <= 1'b0;
    end else begin
      if (valid_i && ready) begin
        for (int unsigned i = 0; i < Words; i++) if (count_q == 8'(i)) came_q[i] <= word_i;
        if (count_q <= 8'(Words)) count_q <= count_q + 8'd1;
        whole_q <= last_i;
      end
      if (answer_valid && answer_ready_i) begin
        whole_q    <= 1'b0;
        answered_q <= answer == AnswerTaken;
        if (answer != AnswerTaken) count_q <= '0;
      end
      if (valid && ready_i) begin
        answered_q <= 1'b0;
        count_q    <= '0;
      end
    end
    held_answer_q <= rst_ni && answer_valid && !answer_ready_i;
    held_q        <= rst_ni && valid && !ready_i;
    answer_q      <= answer;
  end

  // The words so far hold: q is 1 modulo 2N and of the device's size, all others are below q, but
  // for Barrett's reciprocal, which is a word. A whole descriptor has as many as there should be.
  localparam logic [WordBits-1:0] Size = WordBits'(1) << Width;
  logic [Words-1:0] good;
  logic             holds;
  always_comb begin
    good[0] = came_q[0] < Size && came_q[0] != WordBits'(1) &&
        came_q[0][LogN:0] == (LogN + 1)'(1) &&
        (Multiplier == MultiplierMontgomery || came_q[0] >= Size >> 1);
    for (int unsigned i = 1; i < Words; i++) begin
      good[i] = came_q[i] < (i == 1 && Multiplier == MultiplierBarrett ? Size : came_q[0]);
    end
    for (int unsigned i = 0; i < Words; i++) if (8'(i) >= count_q) good[i] = 1'b1;
    holds = (&good) && (count_q == 8'(Words) ? whole_q : count_q < 8'(Words) && !whole_q);
  end

  always_comb begin
    assert (ready == (rst_ni && !whole_q && !answered_q));
    assert (answer_valid == whole_q);
    assert (valid == answered_q);
    if (answer_valid) assert ((answer == AnswerTaken) == holds);
    if (valid) begin
      assert (&good);
      for (int unsigned i = 0; i < Words; i++) assert (WordBits'(handed[i]) == came_q[i]);
    end
    if (held_answer_q) assert (answer_valid && answer == answer_q);
    if (held_q) assert (valid);
    // What the induction needs to know of the words that are kept.
    assert (count_q <= 8'(Words) + 8'd1);
    assert (!(whole_q && answered_q));
    assert (!whole_q || count_q != 8'd0);
    assert (u_dut.state_q == (whole_q ? 2'd1 : answered_q ? 2'd2 : 2'd0));
    assert (!answered_q || count_q == 8'(Words));
    assert ((u_dut.answer_q == AnswerTaken) == (answered_q || holds));
    assert (32'(u_dut.count_q) ==
            (answered_q ? 0 : count_q > 8'(Words) ? Words : 32'(count_q)));
    if (count_q != 8'd0 && !answered_q) assert (u_dut.q_q == came_q[0][Width-1:0]);
    for (int unsigned i = 0; i < Words; i++) begin
      if (8'(i) < count_q && count_q <= 8'(Words)) begin
        assert (u_dut.words_q[Words-32'(count_q)+i] == came_q[i][Width-1:0]);
      end
    end
  end
endmodule
