// Order of an NTT: which rows meet in each cycle.
//
// A polynomial of N = 2^LogN words lies in rows of 2*Cores words. A stage joins words whose indices
// differ in one bit, the stage's stride (a power of two): forward from N/2 down to 1 (decimation in
// time), inverse from 1 up (decimation in frequency). Each stage takes N / (2*Cores) cycles, Cores
// butterflies a cycle, and the ring's gap of idle cycles lies between two stages.
//
//   stride >= 2*Cores  two rows meet: their lower halves in one cycle, the upper in the next
//   stride <  2*Cores  the words of one row meet each other
//
// A stride below Cores joins words of one half, and halves are left where they stand (swap_o is 0):
// in odd rows cores whose numbers differ in the stride's bit have each other's words.
//
// Ports of the same cycle belong to one step. start_i: one cycle, while idle; the first step is
// there two cycles later. rs_ntt_blocks walks the same way and says which factors the steps need.
module rs_ntt_sequencer
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes,
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  ring_t                  ring_i,
  input  logic                   start_i,
  input  logic                   inverse_i,  // still while busy
  output logic                   valid_o,
  output logic                   again_o,    // a stage behind the first
  output logic                   last_o,     // the last step of all
  output logic [RowBits-1:0]     row_u_o,    // row of the first words, and of the second
  output logic [RowBits-1:0]     row_t_o,
  output logic                   swap_o,     // the words u stand in physical half 1, t in half 0
  output logic [PatternBits-1:0] pattern_o   // log2 of the stride in a row; LogLanes-1 across
);
  logic               valid, last;
  logic [LogN-1:0]    stride;
  logic [RowBits-1:0] step;
  rs_ntt_steps #(
    .Cfg(Cfg)
  ) u_steps (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i,
    .inverse_i,
    .valid_o(valid),
    .stride_o(stride),
    .step_o(step),
    .stage_end_o(),
    .last_o(last)
  );

  // Across rows: pairs of rows count through step[RowBits-1:1], the half is step[0]. A zero is
  // inserted into the pair's number at the stride's bit.
  logic [RowBits-1:0] row_stride, pair, below, row_u;  // row_stride: 0 within a row
  logic               across;
  assign row_stride = stride[LogN-1:LogLanes];
  assign across     = |row_stride;
  assign pair       = step >> 1;
  assign below      = row_stride - 1'b1;
  assign row_u      = across ? (((pair & ~below) << 1) | (pair & below)) : step;

  logic [PatternBits-1:0] pattern;
  always_comb begin
    pattern = PatternBits'(LogLanes - 1);
    for (int unsigned k = 0; k < LogLanes; k++) begin
      if (stride[k]) pattern = PatternBits'(k);
    end
  end

  logic [RowBits-1:0]     row_u_q, row_t_q;
  logic                   valid_q, again_q, last_q, in_order_q, half_q;
  logic [PatternBits-1:0] pattern_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && valid;
    last_q  <= last;
    if (valid) begin
      again_q    <= inverse_i ? !stride[0] : !(|(stride & ring_i.top_stride[LogN-1:0]));
      row_u_q    <= row_u;
      row_t_q    <= row_u | row_stride;
      half_q     <= across && step[0];
      in_order_q <= across || stride[LogLanes-1];
      pattern_q  <= pattern;
    end
  end

  assign valid_o   = valid_q;
  assign again_o   = again_q;
  assign last_o    = last_q;
  assign row_u_o   = row_u_q;
  assign row_t_o   = row_t_q;
  assign swap_o    = in_order_q && (half_q ^ (^row_u_q));
  assign pattern_o = pattern_q;
endmodule
