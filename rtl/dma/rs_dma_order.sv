// Arbiter: of the channels that request, chooses the one whose last turn ended longest ago.
//
//   turn_i     A channel's turn ends: it goes to the end of the queue.
//   chosen_o   The chosen channel, in the cycle of asks_i; 0 where no channel requests. A turn that
//              ends has its effect from the next cycle on.
//
// A channel keeps its position in the queue until its turn ends, whether it requests or not. So it
// waits for at most one turn of each other channel. After reset the queue is in the order of the
// channels' numbers. Channels whose turns end in the same cycle keep their order.
module rs_dma_order #(
  parameter  int unsigned Channels = 2,
  localparam int unsigned IdBits = (Channels > 1) ? $clog2(Channels) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [Channels-1:0] asks_i,
  input  logic [Channels-1:0] turn_i,
  output logic [IdBits-1:0]   chosen_o
);
  logic [Channels-1:0][Channels-1:0] before_q;  // [a][b]: a stands before b
  always_comb begin
    chosen_o = '0;
    for (int unsigned c = 0; c < Channels; c++) begin
      logic first;
      first = asks_i[c];
      for (int unsigned d = 0; d < Channels; d++) first &= !(asks_i[d] && before_q[d][c]);
      if (first) chosen_o = IdBits'(c);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned a = 0; a < Channels; a++) begin
      for (int unsigned b = 0; b < Channels; b++) begin
        if (!rst_ni) before_q[a][b] <= a < b;
        else if (turn_i[a] != turn_i[b]) before_q[a][b] <= turn_i[b];
      end
    end
  end
endmodule
