// Takes descriptors word by word, answers each, and hands on those that hold.
//
// The words are q, unit, scale and powers (rs_stream_core), with last_i at the last one. Words have
// WordBits bits; the device uses Width of them. A descriptor's answer comes after its last word
// (answer_e of rs_stream_pkg); one that is refused leaves no trace, and no frame belongs to it. It
// does not check that q is a prime and psi a root of unity.
module rs_stream_queue
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned WordBits = 32,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Multiplier = Cfg.Multiplier,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic                   last_i,
  input  logic [WordBits-1:0]    word_i,
  output logic                   answer_valid_o,
  input  logic                   answer_ready_i,
  output logic [AnswerWidth-1:0] answer_o,
  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Width-1:0]       q_o,
  output logic [Width-1:0]       unit_o,
  output logic [Width-1:0]       scale_o,
  output logic [Width-1:0]       powers_o [Lanes]
);
  localparam int unsigned Words = 3 + Lanes;
  localparam int unsigned CountWidth = $clog2(Words + 1);

  typedef enum logic [1:0] {
    StCollect,
    StAnswer,
    StHandOn
  } state_e;
  state_e                state_q;
  answer_e               answer_q, found;
  logic [CountWidth-1:0] count_q;  // words that came; stays at Words
  logic [Width-1:0]      words_q [Words];  // the last Words words, the latest one last

  // Barrett's multiplier takes primes of Width bits, and a reciprocal behind q, of any value.
  localparam bit Barrett = Multiplier == MultiplierBarrett;

  // The answer after a word: the first error stays.
  logic [Width-1:0] q_q;  // the first word of those that come
  always_comb begin
    found = answer_q;
    if (answer_q == AnswerTaken) begin
      if (count_q == '0 && (WordBits'(word_i[Width-1:0]) != word_i || word_i == WordBits'(1) ||
          Barrett && !word_i[Width-1])) begin
        found = AnswerSize;
      end else if (count_q == '0 && word_i[LogN:0] != (LogN + 1)'(1)) found = AnswerModulus;
      else if (count_q == CountWidth'(Words) || last_i != (count_q == CountWidth'(Words - 1))) begin
        found = AnswerLength;
      end else if (Barrett && count_q == CountWidth'(1)) begin
        if (WordBits'(word_i[Width-1:0]) != word_i) found = AnswerRange;
      end else if (count_q != '0 && word_i >= WordBits'(q_q)) found = AnswerRange;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StCollect;
      answer_q <= AnswerTaken;
      count_q  <= '0;
    end else begin
      case (state_q)
        StCollect:
        if (valid_i) begin
          answer_q <= found;
          if (count_q != CountWidth'(Words)) count_q <= count_q + 1'b1;
          if (last_i) state_q <= StAnswer;
        end
        StAnswer:
        if (answer_ready_i) begin
          state_q  <= (answer_q == AnswerTaken) ? StHandOn : StCollect;
          answer_q <= AnswerTaken;
          count_q  <= '0;
        end
        default: if (ready_i) state_q <= StCollect;
      endcase
    end
    if (state_q == StCollect && valid_i) begin
      if (count_q == '0) q_q <= word_i[Width-1:0];
      for (int unsigned i = 0; i + 1 < Words; i++) words_q[i] <= words_q[i+1];
      words_q[Words-1] <= word_i[Width-1:0];
    end
  end

  assign ready_o        = rst_ni && state_q == StCollect;
  assign answer_valid_o = state_q == StAnswer;
  assign answer_o       = answer_q;
  assign valid_o        = state_q == StHandOn;
  assign q_o            = words_q[0];
  assign unit_o         = words_q[1];
  assign scale_o        = words_q[2];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign powers_o[l] = words_q[3+l];
  end
endmodule
