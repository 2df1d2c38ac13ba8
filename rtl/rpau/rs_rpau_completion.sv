// Tells when the main unit of an RPAU is busy, and when its instruction is done.
//
// start_i: an instruction begins; only while busy_o is low. last_i: the last row's address is at
// the memory. ending_o: the last write is at the memory's port; busy_o ends with it, and done_o
// follows. From last_i to ending_o: Drain cycles, one more with pair_i, SumDrain with sum_i,
// BroadcastDrain in a broadcast.
`include "rs_assert.svh"

module rs_rpau_completion #(
  parameter int unsigned Drain = 31,
  parameter int unsigned SumDrain = 12,
  parameter int unsigned BroadcastDrain = 60  // above Drain
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  input  logic last_i,
  input  logic broadcast_i,
  input  logic pair_i,
  input  logic sum_i,
  output logic busy_o,
  output logic ending_o,
  output logic done_o
);
  localparam int unsigned DrainBits = $clog2(BroadcastDrain + 1);
  logic [DrainBits-1:0] drain_q;
  logic                 busy_q, done_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      drain_q <= '0;
    end else begin
      if (start_i) busy_q <= 1'b1;
      else if (ending_o) busy_q <= 1'b0;
      if (busy_q && last_i) begin
        drain_q <= DrainBits'(broadcast_i ? BroadcastDrain
                                          : Drain + 32'(pair_i) - 32'(sum_i) * (Drain - SumDrain));
      end else if (drain_q != '0) begin
        drain_q <= drain_q - 1'b1;
      end
    end
    done_q <= rst_ni && ending_o;
  end
  assign busy_o   = busy_q;
  assign ending_o = (drain_q == DrainBits'(1));
  assign done_o   = done_q;

  `RS_ASSERT(StartWhileIdle_A, !(start_i && busy_q), "an instruction starts while another runs")
endmodule
