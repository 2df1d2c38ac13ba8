// What test_proofs.py proves of rs_rpau_completion, of a controller that starts one instruction at
// a time and names the last row once an instruction.
//
// An instruction ends Drain cycles after its last row, SumDrain with sum_i, one more with pair_i,
// BroadcastDrain in a broadcast: not earlier, not later, once. The unit is busy from the cycle after its start to that
// one, and done_o follows it.
module rs_rpau_completion_proof #(
  parameter int unsigned Drain = 31,
  parameter int unsigned SumDrain = 12,
  parameter int unsigned BroadcastDrain = 60
) (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic last_i,
  input logic broadcast_i,
  input logic pair_i,
  input logic sum_i
);
  logic busy, ending, done;
  rs_rpau_completion #(
    .Drain(Drain),
    .SumDrain(SumDrain),
    .BroadcastDrain(BroadcastDrain)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .start_i,
    .last_i,
    .broadcast_i,
    .pair_i,
    .sum_i,
    .busy_o(busy),
    .ending_o(ending),
    .done_o(done)
  );

  logic        under_way_q, draining_q, ended_q;
  int unsigned since_q, wait_q;  // cycles after the last row's, and how many there are to be
  always_comb begin
    assume (!(start_i && under_way_q));
    assume (!last_i || (under_way_q && !draining_q));
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      under_way_q <= 1'b0;
      draining_q  <= 1'b0;
    end else if (start_i) begin
      under_way_q <= 1'b1;
    end else if (draining_q && since_q == wait_q) begin
      under_way_q <= 1'b0;
      draining_q  <= 1'b0;
    end else if (last_i) begin
      draining_q <= 1'b1;
    end
    if (last_i) begin
      since_q <= 32'd1;
      wait_q  <= broadcast_i ? BroadcastDrain : (sum_i ? SumDrain : Drain) + 32'(pair_i);
    end else begin
      since_q <= since_q + 32'd1;
    end
    ended_q <= rst_ni && draining_q && since_q == wait_q;
  end

  always_comb begin
    assert (busy == under_way_q);
    assert (ending == (draining_q && since_q == wait_q));
    assert (done == ended_q);
    // What the induction needs to know of the counter.
    assert (!draining_q || (under_way_q && since_q >= 32'd1 && since_q <= wait_q));
    assert (!draining_q || wait_q <= BroadcastDrain);
    assert (32'(u_dut.drain_q) == (draining_q ? wait_q - since_q + 32'd1 : 32'd0));
  end
endmodule
