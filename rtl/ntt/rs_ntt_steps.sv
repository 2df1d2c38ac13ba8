// Stages and steps of an in-place NTT, counted.
//
// As many stages as the ring's polynomials have words in bits follow one another, of a step for
// each row, a step a cycle, with the ring's gap between two stages. Forward, the stage's stride
// goes from half a polynomial down to 1, inverse from 1 up.
//
// start_i: one cycle, while idle. In the next cycle there is step 0 of the first stage.
module rs_ntt_steps
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  ring_t              ring_i,
  input  logic               start_i,
  input  logic               inverse_i,    // still while busy
  output logic               valid_o,      // there is a step
  output logic [LogN-1:0]    stride_o,     // one bit set
  output logic [RowBits-1:0] step_o,
  output logic               stage_end_o,  // the last step of its stage
  output logic               last_o        // the last step of all
);
  logic [LogN-1:0] top;
  assign top = ring_i.top_stride[LogN-1:0];

  logic               active_d, active_q;
  logic [LogN-1:0]    stride_d, stride_q;
  logic [RowBits-1:0] step_d, step_q;
  logic [7:0]         gap_d, gap_q;

  logic stage_end, last_stage, in_gap, valid;
  assign stage_end  = step_q == ring_i.last_row[RowBits-1:0];
  assign last_stage = inverse_i ? |(stride_q & top) : stride_q[0];
  assign in_gap     = (gap_q != '0);
  assign valid      = active_q && !in_gap;

  always_comb begin
    active_d = active_q;
    stride_d = stride_q;
    step_d   = step_q;
    gap_d    = gap_q;
    if (start_i) begin
      active_d = 1'b1;
      stride_d = inverse_i ? LogN'(1) : top;
      step_d   = '0;
      gap_d    = '0;
    end else if (in_gap) begin
      gap_d = gap_q - 1'b1;
    end else if (active_q) begin
      step_d = step_q + 1'b1;
      if (stage_end) begin
        stride_d = inverse_i ? stride_q << 1 : stride_q >> 1;
        step_d   = '0;
        gap_d    = ring_i.gap;
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
    step_q   <= step_d;
  end

  assign valid_o     = valid;
  assign stride_o    = stride_q;
  assign step_o      = step_q;
  assign stage_end_o = stage_end;
  assign last_o      = valid && stage_end && last_stage;
endmodule
