// What test_proofs.py proves of rs_ntt_sequencer, for every ring of the device and every gap.
//
// A polynomial's memory has two physical halves, of a word of each row a lane: a step reads one row
// of each. The proof watches any one of their places: each stage reads it once, so that no stage
// misses a word, and no step wants two rows of one half. The words that meet differ in the bit of
// the stage's stride alone: both rows have it or not, and the halves of a row stand in the order
// that its number's parity says. The strides are a transform's, in order, and last_o ends it.
module rs_ntt_sequencer_proof
  import rs_rpau_pkg::*;
#(
  parameter  int unsigned LogN    = 6,
  parameter  int unsigned Cores   = 2,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes,
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input logic               clk_i,
  input logic               rst_ni,
  input ring_t              ring_i,
  input logic               start_i,
  input logic               inverse_i,
  input logic [RowBits-1:0] row_i,   // the watched place
  input logic               half_i
);
  logic                   valid, again, last, swap;
  logic [RowBits-1:0]     row_u, row_t;
  logic [PatternBits-1:0] pattern;
  rs_ntt_sequencer #(
    .LogN(LogN),
    .Cores(Cores)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i,
    .inverse_i,
    .valid_o(valid),
    .again_o(again),
    .last_o(last),
    .row_u_o(row_u),
    .row_t_o(row_t),
    .swap_o(swap),
    .pattern_o(pattern)
  );

  // ---- what the block may assume ----------------------------------------------------------------
  // A ring of 2 rows or more, up to the device's. Ring and direction stay while it is busy.
  logic [LogN-1:0]    top;
  logic [RowBits-1:0] last_row;
  assign top      = ring_i.top_stride[LogN-1:0];
  assign last_row = ring_i.last_row[RowBits-1:0];
  ring_t              ring_q;
  logic               inverse_q, half_q, known_q, busy_q;
  logic [RowBits-1:0] row_q;
  always_ff @(posedge clk_i) begin
    ring_q    <= ring_i;
    inverse_q <= inverse_i;
    row_q     <= row_i;
    half_q    <= half_i;
    known_q   <= rst_ni;
    busy_q    <= rst_ni && (start_i || u_dut.u_steps.active_q);
  end
  always_comb begin
    assume ($countones(ring_i.top_stride) == 1 && (top >> LogLanes) != '0);
    assume ({1'b0, last_row} == (RowBits + 1)'({top, 1'b0} >> LogLanes) - 1'b1);
    assume (ring_i.last_row >> RowBits == '0);
    assume (row_i <= last_row);
    assume (!(start_i && (u_dut.u_steps.active_q || valid)));
    if (busy_q || valid) assume (ring_i == ring_q && inverse_i == inverse_q);
    if (known_q) assume (row_i == row_q && half_i == half_q);
  end

  // ---- the model --------------------------------------------------------------------------------
  logic [LogN-1:0]    stride_q;  // the stage's, of the outputs' step
  logic               first_q;   // the stage is the transform's first
  logic [RowBits-1:0] step_q;    // which step of the stage they are
  logic               met_q;     // the watched place was read in this stage
  logic               met, hit_u, hit_t, end_of_stage, last_stage;
  assign end_of_stage = step_q == last_row;
  assign last_stage   = inverse_i ? stride_q == top : stride_q == LogN'(1);
  assign hit_u        = row_u == row_i && swap == half_i;
  assign hit_t        = row_t == row_i && swap != half_i;
  assign met          = (step_q == '0) ? 1'b0 : met_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) begin
      stride_q <= inverse_i ? LogN'(1) : top;
      step_q   <= '0;
      first_q  <= 1'b1;
    end else if (valid) begin
      met_q   <= met || hit_u || hit_t;
      step_q  <= end_of_stage ? '0 : step_q + 1'b1;
      if (end_of_stage) begin
        stride_q <= inverse_i ? stride_q << 1 : stride_q >> 1;
        first_q  <= 1'b0;
      end
    end
  end

  // The step in which the watched place is read, by the header's rule.
  logic [RowBits-1:0] row_stride, below, due;
  assign row_stride = stride_q[LogN-1:LogLanes];
  assign below      = row_stride - 1'b1;
  assign due        = (row_stride == '0) ? row_i
                    : (((row_i >> 1) & ~below | row_i & below) << 1) | RowBits'(half_i ^ (^row_i));

  always_comb begin
    if (valid) begin
      // Each place once.
      assert (!(met && (hit_u || hit_t)) && !(hit_u && hit_t));
      if (end_of_stage) assert (met || hit_u || hit_t);
      // The words that meet.
      assert (row_t == (row_u ^ row_stride) && (row_u & row_stride) == '0);
      assert (row_u <= last_row && row_t <= last_row);
      if (row_stride != '0) begin
        assert ((swap ^ (^row_u)) == (!swap ^ (^row_t)));
        assert (32'(pattern) == LogLanes - 1);
      end else begin
        assert (stride_q == LogN'(1) << pattern);
        if (32'(pattern) == LogLanes - 1) assert (swap == ^row_u);
        else assert (!swap);
      end
      // The stages.
      assert ($countones(stride_q) == 1 && stride_q <= top);
      assert (again == !first_q);
      assert (last == (end_of_stage && last_stage));
    end

    // What the induction needs to know.
    if (valid) begin
      assert (step_q <= last_row && due <= last_row);
      if (step_q != '0) assert (met_q == (due < step_q));
      assert ((hit_u || hit_t) == (due == step_q));
    end
    if (u_dut.u_steps.active_q || valid) begin
      assert (busy_q && first_q == (stride_q == (inverse_i ? LogN'(1) : top)));
    end
    if (u_dut.u_steps.active_q) begin
      assert ($countones(u_dut.u_steps.stride_q) == 1 && u_dut.u_steps.stride_q <= top);
      assert (u_dut.u_steps.step_q <= last_row);
      if (u_dut.u_steps.gap_q != '0) assert (u_dut.u_steps.step_q == '0);
      // The model is a step behind the counters, which a valid output is.
      if (valid) begin
        if (end_of_stage) begin
          assert (u_dut.u_steps.step_q == '0);
          assert (u_dut.u_steps.stride_q == (inverse_i ? stride_q << 1 : stride_q >> 1));
        end else begin
          assert (u_dut.u_steps.step_q == step_q + 1'b1 && u_dut.u_steps.stride_q == stride_q);
          assert (u_dut.u_steps.gap_q == '0);
        end
      end else begin
        assert (u_dut.u_steps.step_q == step_q && u_dut.u_steps.stride_q == stride_q);
        assert (step_q == '0);
      end
    end else begin
      assert (u_dut.u_steps.gap_q == '0 && (!valid || (end_of_stage && last_stage)));
    end
  end
endmodule
