// Exponents of the twiddle factors that the steps of an in-place NTT need, in the order of
// rs_ntt_sequencer.
//
// A butterfly takes words u and t = u + stride. Block b is given by the index bits above the
// stride; a stage has m = N / (2 * stride) blocks. All butterflies of a block take the factor
// psi^e:
//
//   v = (P + p) * m + b     for sub-polynomial p of P
//   e = v with its bits reversed, within MaxLogN bits
//
// The exponent comes in two parts, both bit-reversed: mark_o from (P + p) * m, and block_o from the
// bits of b that all cores of a row share. odd_o is the row's parity in a stage within rows.
//
// start_i: one cycle, while idle. The outputs of step s come 1 + s cycles after it, plus the gaps
// before that step.
`include "rs_assert.svh"

module rs_ntt_blocks
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  ring_t              ring_i,
  input  logic               start_i,
  input  logic               inverse_i,  // still while busy
  input  logic [1:0]         sub_poly_i,    // likewise, as the ring
  output logic [LogN-1:0]    block_o,
  output logic [LogN-1:0]    stride_o,   // one bit set
  output logic [MaxLogN-1:0] mark_o,
  output logic               odd_o
);
  localparam int unsigned LogLanes = $clog2(2 * Cores);
  localparam int unsigned RowBits  = LogN - LogLanes;

  logic               valid, stage_end;
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
    .stage_end_o(stage_end),
    .last_o()
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

  logic [LogN-1:0] block_q;
  always_ff @(posedge clk_i) begin
    if (start_i || (valid && stage_end)) block_q <= '0;
    else if (valid && block_end) block_q <= block_q + block_step;
  end

  // P + p, reversed, is the mark of the forward transform's first stage.
  logic [2:0]         node;
  logic [MaxLogN-1:0] top_mark, mark_q;
  assign node = (3'd1 << ring_i.log_sub_polys) | 3'(sub_poly_i);
  always_comb begin
    top_mark = '0;
    for (int unsigned b = 0; b < 3; b++) top_mark[MaxLogN-1-b] = node[b];
  end
  always_ff @(posedge clk_i) begin
    if (start_i) mark_q <= inverse_i ? top_mark >> (4'(LogN - 1) - ring_i.skip) : top_mark;
    else if (valid && stage_end) mark_q <= inverse_i ? mark_q << 1 : mark_q >> 1;
  end

  assign block_o  = block_q;
  assign stride_o = stride;
  assign mark_o   = mark_q;
  assign odd_o    = !across && ^step;

  `RS_ASSERT(SubPolyOfRing_A, !start_i || 3'(sub_poly_i) < (3'd1 << ring_i.log_sub_polys),
             $sformatf("sub-polynomial %0d of a polynomial in 2^%0d", sub_poly_i,
                 ring_i.log_sub_polys))
endmodule
