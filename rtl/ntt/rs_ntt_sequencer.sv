// Order of an NTT: which rows meet in each cycle, and which twiddle factors they need.
//
// A polynomial of N = 2^LogN words lies in rows of 2*Cores words. A stage joins words whose indices
// differ in one bit, the stage's stride (a power of two): forward from N/2 down to 1 (decimation in
// time), inverse from 1 up (decimation in frequency). Each stage takes N / (2*Cores) cycles, Cores
// butterflies a cycle, and Gap idle cycles lie between two stages.
//
//   stride >= 2*Cores  two rows meet: their lower halves in one cycle, the upper in the next
//   stride <  2*Cores  the words of one row meet each other
//
// Words u and t = u + stride of block b (the index bits above the stride) take the factor psi^e,
// with e = brev(N / (2*stride) + b) (brev reverses LogN bits): e is the stride's own bit, and the
// block reversed above it. block_o, common to all cores, has the row's part of b.
//
// Ports of the same cycle belong to one step. The row ports are one cycle later than block_o and
// stride_o: their register. start_i: one cycle, while idle; the first block_o is there in the next.
module rs_ntt_sequencer #(
  parameter  int unsigned LogN    = 13,
  parameter  int unsigned Cores   = 4,
  parameter  int unsigned Gap     = 0,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes,
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   start_i,
  input  logic                   inverse_i,  // still while busy
  output logic [LogN-1:0]        block_o,
  output logic [LogN-1:0]        stride_o,   // one bit set
  output logic                   valid_o,
  output logic                   again_o,    // a stage behind the first
  output logic                   last_o,     // the last step of all
  output logic [RowBits-1:0]     row_u_o,    // row of the first words, and of the second
  output logic [RowBits-1:0]     row_t_o,
  output logic                   half_o,     // half of the rows that meets; 0 within a row
  output logic [PatternBits-1:0] pattern_o   // log2 of the stride in a row; LogLanes-1 across
);
  localparam int unsigned GapBits = (Gap > 0) ? $clog2(Gap + 1) : 1;

  // ---- counters ---------------------------------------------------------------------------------
  logic               active_d, active_q;
  logic [LogN-1:0]    stride_d, stride_q;
  logic [LogN-1:0]    block_d, block_q;
  logic [RowBits-1:0] step_d, step_q;
  logic [GapBits-1:0] gap_d, gap_q;

  logic [RowBits-1:0] row_stride;  // 0 where the stride lies within a row
  logic               across, stage_end, last_stage, in_gap;
  assign row_stride = stride_q[LogN-1:LogLanes];
  assign across     = |row_stride;
  assign stage_end  = &step_q;
  assign last_stage = inverse_i ? stride_q[LogN-1] : stride_q[0];
  assign in_gap     = (gap_q != '0);

  // Across rows: pairs of rows count through step_q[RowBits-1:1], the half is step_q[0].
  logic [RowBits-1:0] pair, below;  // `below` masks the pair's bits under the stride
  logic               block_end;
  assign pair      = step_q >> 1;
  assign below     = row_stride - 1'b1;
  assign block_end = !across || (step_q[0] && ((pair & below) == below));

  // Within a row the row's number stands above the LogLanes-1-pattern bits that differ by core.
  logic [LogN-1:0] block_step;
  always_comb begin
    block_step = LogN'(across);
    for (int unsigned k = 0; k < LogLanes; k++) begin
      if (stride_q[k]) block_step[LogLanes-1-k] = 1'b1;
    end
  end

  always_comb begin
    active_d = active_q;
    stride_d = stride_q;
    block_d  = block_q;
    step_d   = step_q;
    gap_d    = gap_q;
    if (start_i) begin
      active_d = 1'b1;
      stride_d = inverse_i ? LogN'(1) : LogN'(1) << (LogN - 1);
      block_d  = '0;
      step_d   = '0;
      gap_d    = '0;
    end else if (in_gap) begin
      gap_d = gap_q - 1'b1;
    end else if (active_q) begin
      step_d = step_q + 1'b1;
      if (block_end) block_d = block_q + block_step;
      if (stage_end) begin
        block_d  = '0;
        stride_d = inverse_i ? stride_q << 1 : stride_q >> 1;
        gap_d    = GapBits'(Gap);
        if (last_stage) begin
          active_d = 1'b0;
          gap_d    = '0;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
      gap_q    <= '0;
    end else begin
      active_q <= active_d;
      gap_q    <= gap_d;
    end
    stride_q <= stride_d;
    block_q  <= block_d;
    step_q   <= step_d;
  end

  assign block_o  = block_q;
  assign stride_o = stride_q;

  // ---- rows -------------------------------------------------------------------------------------
  logic [RowBits-1:0]     row_u, row_u_q, row_t_q;
  logic                   valid_q, again_q, last_q, half_q;
  logic [PatternBits-1:0] pattern, pattern_q;

  // A zero is put into the pair's number at the stride's place.
  assign row_u = across ? (((pair & ~below) << 1) | (pair & below)) : step_q;

  always_comb begin
    pattern = PatternBits'(LogLanes - 1);
    for (int unsigned k = 0; k < LogLanes; k++) begin
      if (stride_q[k]) pattern = PatternBits'(k);
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && active_q && !in_gap;
    last_q  <= active_q && !in_gap && stage_end && last_stage;
    if (active_q) begin
      again_q   <= inverse_i ? !stride_q[0] : !stride_q[LogN-1];
      row_u_q   <= row_u;
      row_t_q   <= row_u | row_stride;
      half_q    <= across && step_q[0];
      pattern_q <= pattern;
    end
  end

  assign valid_o   = valid_q;
  assign again_o   = again_q;
  assign last_o    = last_q;
  assign row_u_o   = row_u_q;
  assign row_t_o   = row_t_q;
  assign half_o    = half_q;
  assign pattern_o = pattern_q;
endmodule
