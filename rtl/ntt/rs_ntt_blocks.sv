// Which twiddle factors the steps of an in-place NTT need: the walk of rs_ntt_sequencer, or Ahead
// of it.
//
// Words u and t = u + stride of block b (the index bits above the stride) take the factor psi^e,
// with e = brev(N / (2*stride) + b) (brev reverses LogN bits): e is the stride's own bit, and the
// block reversed above it. block_o, common to all cores, has the row's part of b.
//
// start_i: one cycle, while idle. The block and stride of step s are there 1 + s - Ahead cycles
// later, with the gaps before that step on top; those of the first Ahead steps never come.
module rs_ntt_blocks #(
  parameter  int unsigned LogN    = 13,
  parameter  int unsigned Cores   = 4,
  parameter  int unsigned Gap     = 0,
  parameter  int unsigned Ahead   = 0
) (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            start_i,
  input  logic            inverse_i,  // still while busy
  output logic [LogN-1:0] block_o,
  output logic [LogN-1:0] stride_o    // one bit set
);
  localparam int unsigned LogLanes = $clog2(2 * Cores);
  localparam int unsigned RowBits  = LogN - LogLanes;

  logic               valid, stage_end, unused_last;
  logic [LogN-1:0]    stride;
  logic [RowBits-1:0] step;
  rs_ntt_steps #(
    .LogN(LogN),
    .Cores(Cores),
    .Gap(Gap),
    .Ahead(Ahead)
  ) u_steps (
    .clk_i,
    .rst_ni,
    .start_i,
    .inverse_i,
    .valid_o(valid),
    .stride_o(stride),
    .step_o(step),
    .stage_end_o(stage_end),
    .last_o(unused_last)
  );

  // Across rows a block ends with the upper halves of its last pair of rows.
  logic [RowBits-1:0] row_stride, below;  // row_stride: 0 within a row
  logic               across, block_end;
  assign row_stride = stride[LogN-1:LogLanes];
  assign across     = |row_stride;
  assign below      = row_stride - 1'b1;
  assign block_end  = !across || (step[0] && (((step >> 1) & below) == below));

  // Within a row the row's number stands above the LogLanes-1-pattern bits that differ by core.
  logic [LogN-1:0] block_step;
  always_comb begin
    block_step = LogN'(across);
    for (int unsigned k = 0; k < LogLanes; k++) begin
      if (stride[k]) block_step[LogLanes-1-k] = 1'b1;
    end
  end

  // The first stage has one block forward, and Cores blocks a step inverse.
  localparam int unsigned FirstBlock = (Ahead < 1 << RowBits) ? Ahead * Cores : 0;
  logic [LogN-1:0] block_q;
  always_ff @(posedge clk_i) begin
    if (start_i) block_q <= inverse_i ? LogN'(FirstBlock) : '0;
    else if (valid && stage_end) block_q <= '0;
    else if (valid && block_end) block_q <= block_q + block_step;
  end

  assign block_o  = block_q;
  assign stride_o = stride;
endmodule
