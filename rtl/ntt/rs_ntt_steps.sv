// Stages and steps of an in-place NTT, counted.
//
// LogN stages of N / (2*Cores) steps follow one another, a step a cycle, with Gap idle cycles
// between two stages. Forward, the stage's stride goes from N/2 down to 1, inverse from 1 up.
//
// start_i: one cycle, while idle. In the next cycle there is step 0 of the first stage, or, with
// Ahead, what would be there Ahead cycles later: a step of the first stage, or of the gap behind it.
module rs_ntt_steps #(
  parameter  int unsigned LogN    = 13,
  parameter  int unsigned Cores   = 4,
  parameter  int unsigned Gap     = 0,
  parameter  int unsigned Ahead   = 0,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               start_i,
  input  logic               inverse_i,    // still while busy
  output logic               valid_o,      // there is a step
  output logic [LogN-1:0]    stride_o,     // one bit set
  output logic [RowBits-1:0] step_o,
  output logic               stage_end_o,  // the last step of its stage
  output logic               last_o        // the last step of all
);
  localparam int unsigned Rows = 1 << RowBits;
  localparam int unsigned GapBits = (Gap > 0) ? $clog2(Gap + 1) : 1;

  if (Ahead >= Rows + Gap) begin : gen_too_far_ahead
    $error("rs_ntt_steps: Ahead = %0d is behind a stage of %0d steps and its gap of %0d",
           Ahead, Rows, Gap);
  end

  // Where a start begins: in the first stage, or in the gap, in which the second one's stride is up.
  localparam bit          InGap     = Ahead >= Rows;
  localparam int unsigned FirstStep = InGap ? 0 : Ahead;
  localparam int unsigned FirstGap  = InGap ? Gap - (Ahead - Rows) : 0;

  logic               active_d, active_q;
  logic [LogN-1:0]    stride_d, stride_q;
  logic [RowBits-1:0] step_d, step_q;
  logic [GapBits-1:0] gap_d, gap_q;

  logic stage_end, last_stage, in_gap, valid;
  assign stage_end  = &step_q;
  assign last_stage = inverse_i ? stride_q[LogN-1] : stride_q[0];
  assign in_gap     = (gap_q != '0);
  assign valid      = active_q && !in_gap;

  always_comb begin
    active_d = active_q;
    stride_d = stride_q;
    step_d   = step_q;
    gap_d    = gap_q;
    if (start_i) begin
      active_d = 1'b1;
      stride_d = inverse_i ? LogN'(1) << InGap : LogN'(1) << (LogN - 1 - 32'(InGap));
      step_d   = RowBits'(FirstStep);
      gap_d    = GapBits'(FirstGap);
    end else if (in_gap) begin
      gap_d = gap_q - 1'b1;
    end else if (active_q) begin
      step_d = step_q + 1'b1;
      if (stage_end) begin
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
    step_q   <= step_d;
  end

  assign valid_o     = valid;
  assign stride_o    = stride_q;
  assign step_o      = step_q;
  assign stage_end_o = stage_end;
  assign last_o      = valid && stage_end && last_stage;
endmodule
