// Coefficient unit of an RPAU: takes polynomials word by word.
//
// convert, convert_own   Words go to the converters that all RPAUs share (rs_rpau_converters):
//                        Converters adjacent words of a row in every Rpaus-th cycle. Results are
//                        collected into rows. RPAUs first to last send words of a; if outputs have
//                        inputs of their own, every RPAU also sends words of b. All RPAUs swap the
//                        halves of the same rows, so rows keep the order of the work memory.
// permute                Word i of dst is word i * element of a, where word N + j is word j
//                        negated: one word a cycle, because each is in another row.
//
// start_i: one cycle, while the unit is idle; command_i belongs to it. done_o: one cycle, when all
// is in memory; after a conversion in all RPAUs at once. q_i is the modulus of the command's
// modulus bank, from the second cycle after start_i on. x_o and own_o are zero while no word is
// sent. word_i, with word_valid_i, are outputs for this RPAU.
`include "rs_assert.svh"

module rs_rpau_coefficient
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Rpaus = 5,
  parameter  int unsigned HopCycles = 1,
  parameter  int unsigned Converters = 1,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned RowBits = LogN - LogLanes,
  localparam int unsigned PartBits = part_bits(Lanes, Converters)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [RpauWidth-1:0] rpau_i,       // number of this RPAU, constant

  input  ring_t                ring_i,       // still while a program runs
  input  logic                 start_i,
  input  command_t             command_i,
  output logic                 done_o,
  input  logic [Width-1:0]     q_i,

  output work_read_t           read_o,
  output logic [PartBits-1:0]  part_o,       // of a row, with or after its read
  input  logic [Width-1:0]     operand_i [3][Converters],
  output work_write_t          write_o,
  output logic [Width-1:0]     wdata_o [Lanes],

  output logic [Width-1:0]     x_o [Converters],
  output logic [Width-1:0]     own_o [Converters],
  input  logic                 word_valid_i,
  input  logic [Width-1:0]     word_i [Converters]
);
  localparam int unsigned LogConverters = $clog2(Converters);
  localparam int unsigned PositionBits = (LogConverters > 0) ? LogConverters : 1;

  // ---- the running instruction ------------------------------------------------------------------
  logic [DstWidth-1:0]     wsel_q, a_sel_q, b_sel_q;
  logic [LogN:0]           element_q;
  logic                    started_q, permute_q, sends_q, own_q;
  always_ff @(posedge clk_i) begin
    started_q <= rst_ni && start_i;
    if (start_i) begin
      wsel_q    <= command_i.word[DstLsb+:DstWidth];
      a_sel_q   <= command_i.word[ALsb+:AWidth];
      b_sel_q   <= command_i.word[BLsb+:BWidth];
      element_q <= command_i.word[ElementLsb+:LogN+1];
      permute_q <= command_i.decoded.opcode == OpPermute;
      own_q     <= command_i.decoded.opcode == OpConvertOwn;
      sends_q   <= command_i.decoded.opcode == OpPermute ||
                   (rpau_i >= command_i.word[FirstLsb+:FirstWidth] &&
                    rpau_i <= command_i.word[LastLsb+:LastWidth]);
    end
  end

  // ---- steps: Converters words of a row to convert, or one to permute ---------------------------
  // In a conversion, RPAUs that are nearer to the converter wait first.
  localparam int unsigned MostWait = (Rpaus - 1) * (HopCycles > 1 ? HopCycles - 1 : 1);
  localparam int unsigned WaitBits = $clog2(MostWait + 1);
  logic [WaitBits-1:0] offset, wait_q;  // cycles to the next step
  logic                active_q, step, last_step, row_ends;
  logic [LogLanes-1:0] word_q;          // of a row, the first one of the step
  logic [RowBits-1:0]  row_q, last_row;
  assign offset    = WaitBits'((Rpaus - 1 - 32'(rpau_i)) * (HopCycles - 1));
  assign last_row  = ring_i.last_row[RowBits-1:0];
  assign step      = active_q && wait_q == '0;
  assign row_ends  = word_q == (permute_q ? LogLanes'(Lanes - 1) : LogLanes'(Lanes - Converters));
  assign last_step = step && row_ends && row_q == last_row;

  // The number of the word to permute, modulo twice the degree, at the upper end of its bits: with
  // the top bit set, the word is negated.
  logic [LogN:0] source_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (started_q) active_q <= 1'b1;
    else if (last_step) active_q <= 1'b0;

    if (permute_q) wait_q <= '0;
    else if (started_q) wait_q <= offset;
    else if (step) wait_q <= WaitBits'(Rpaus - 1);
    else wait_q <= wait_q - 1'b1;

    if (started_q) begin
      word_q   <= '0;
      row_q    <= '0;
      source_q <= '0;
    end else if (step) begin
      word_q   <= word_q + (permute_q ? LogLanes'(1) : LogLanes'(Converters));
      row_q    <= row_q + RowBits'(row_ends);
      source_q <= source_q + (element_q << ring_i.skip);
    end
  end

  // ---- reads ------------------------------------------------------------------------------------
  typedef struct packed {
    logic                 valid;
    logic                 negate;
    logic [PositionBits-1:0] position;  // of the word among those that are read together, permuted
  } taken_t;
  logic [LogN-1:0]     number;
  logic [RowBits-1:0]  source_row;
  logic [LogLanes-1:0] lane, swapped;
  taken_t              taken_q, taken;
  logic                read_q;
  logic [RowBits-1:0]  read_row_q;
  logic [PartBits-1:0] part_q;
  assign number     = source_q[LogN-1:0] >> ring_i.skip;
  assign source_row = number[LogN-1:LogLanes];
  assign swapped    = number[LogLanes-1:0] ^ (^source_row ? LogLanes'(Cores) : '0);
  assign lane       = permute_q ? swapped : word_q;
  always_ff @(posedge clk_i) begin
    read_q         <= rst_ni && step && (permute_q || word_q == '0);
    taken_q.valid  <= rst_ni && step;
    taken_q.negate <= source_q[LogN];
    taken_q.position  <= PositionBits'(32'(lane) % Converters);
    if (step) begin
      read_row_q <= permute_q ? source_row : row_q;
      part_q     <= PartBits'(lane >> LogConverters);
    end
  end
  assign read_o = '{
          valid: read_q && (sends_q || own_q),
          uses: {1'b0, own_q, sends_q},
          poly: {a_sel_q, b_sel_q, a_sel_q},
          row: {2{RowWidth'(read_row_q)}}
      };
  assign part_o = part_q;
  rs_delay #(
    .Width($bits(taken_t)),
    .Depth(memory_read_latency())
  ) u_taken (
    .clk_i,
    .d_i(taken_q),
    .d_o(taken)
  );

  // ---- words to the converters ------------------------------------------------------------------
  for (genvar k = 0; k < Converters; k++) begin : gen_word
    assign x_o[k]   = (taken.valid && sends_q && !permute_q) ? operand_i[0][k] : '0;
    assign own_o[k] = (taken.valid && own_q) ? operand_i[1][k] : '0;
  end

  // ---- a permuted word --------------------------------------------------------------------------
  logic [Width-1:0] source_word_q, permuted_q;
  logic             source_valid_q, negate_q, permuted_valid_q;
  always_ff @(posedge clk_i) begin
    source_valid_q    <= rst_ni && taken.valid && permute_q;
    negate_q   <= taken.negate && operand_i[0][taken.position] != '0;
    source_word_q     <= operand_i[0][taken.position];
    permuted_valid_q <= rst_ni && source_valid_q;
    permuted_q       <= negate_q ? q_i - source_word_q : source_word_q;
  end

  // ---- rows of results --------------------------------------------------------------------------
  logic                take, row_whole, stored_q;
  logic [LogLanes-1:0] put_q, put_lane;  // word of a row that comes next
  logic [RowBits-1:0]  put_row_q;
  logic [Width-1:0]    words_q [Lanes];
  assign take      = permute_q ? permuted_valid_q : word_valid_i;
  assign put_lane  = permute_q ? put_q ^ (^put_row_q ? LogLanes'(Cores) : '0) : put_q;
  assign row_whole = take && put_q == (permute_q ? LogLanes'(Lanes - 1)
                                                 : LogLanes'(Lanes - Converters));
  always_ff @(posedge clk_i) begin
    stored_q <= rst_ni && row_whole;
    if (started_q) begin
      put_q     <= '0;
      put_row_q <= '0;
    end else if (take) begin
      put_q     <= put_q + (permute_q ? LogLanes'(1) : LogLanes'(Converters));
      put_row_q <= put_row_q + RowBits'(row_whole);
    end
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (permute_q ? take && put_lane == LogLanes'(l)
                    : take && put_lane == LogLanes'(l - l % Converters)) begin
        words_q[l] <= permute_q ? permuted_q : word_i[l%Converters];
      end
    end
  end
  assign write_o = '{valid: stored_q, poly: wsel_q, row: {2{RowWidth'(put_row_q)}}};
  assign wdata_o = words_q;

  // ---- completion: with the last row, of a conversion that of the last RPAU ---------------------
  localparam int unsigned LeftBits = $clog2((Rpaus - 1) * (1 + HopCycles) + 2);
  logic [LeftBits-1:0] left_q, later;
  logic                done_q;
  assign later = permute_q ? '0 : LeftBits'((Rpaus - 1 - 32'(rpau_i)) * (1 + HopCycles));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) left_q <= '0;
    else if (row_whole && put_row_q == last_row) left_q <= later + 1'b1;
    else if (left_q != '0) left_q <= left_q - 1'b1;
    done_q <= rst_ni && left_q == LeftBits'(1);
  end
  assign done_o = done_q;

  `RS_ASSERT(StartWhileIdle_A, !(start_i && (active_q || started_q || left_q != '0)),
             "an instruction starts while another runs")
  `RS_ASSERT(WholePolynomial_A,
             !(start_i && command_i.decoded.opcode == OpPermute) || ring_i.log_sub_polys == '0,
             "a polynomial in sub-polynomials is permuted")
endmodule
