// What test_proofs.py proves of rs_dma_order, for turns that end at any time, several at once too.
//
// The chosen channel requests, if any does. The proof watches any two channels: while one requests
// and waits, at most one turn of the other begins. The channels stand in one order.
module rs_dma_order_proof #(
  parameter  int unsigned Channels = 3,
  localparam int unsigned IdBits = (Channels > 1) ? $clog2(Channels) : 1
) (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [Channels-1:0] asks_i,
  input logic [Channels-1:0] turn_i,
  input logic [IdBits-1:0]   waits_i,  // the watched channels
  input logic [IdBits-1:0]   other_i
);
  logic [IdBits-1:0] chosen;
  rs_dma_order #(.Channels(Channels)) u_dut (
    .clk_i,
    .rst_ni,
    .asks_i,
    .turn_i,
    .chosen_o(chosen)
  );

  logic              known_q, overtaken_q;
  logic [IdBits-1:0] waits_q, other_q;
  always_ff @(posedge clk_i) begin
    known_q <= rst_ni;
    waits_q <= waits_i;
    other_q <= other_i;
    // A turn of the other one has ended since the one that waits had its own last turn.
    if (!rst_ni || turn_i[waits_i]) overtaken_q <= 1'b0;
    else if (turn_i[other_i]) overtaken_q <= 1'b1;
  end
  always_comb begin
    assume (32'(waits_i) < Channels && 32'(other_i) < Channels && waits_i != other_i);
    if (known_q) assume (waits_i == waits_q && other_i == other_q);
  end

  always_comb begin
    if (rst_ni) begin
      assert (32'(chosen) < Channels);
      if (asks_i != '0) assert (asks_i[chosen]);
      else assert (chosen == '0);
      if (overtaken_q && asks_i[waits_i]) assert (chosen != other_i);

      // What the induction needs to know: the order is one.
      if (overtaken_q) assert (!u_dut.before_q[other_i][waits_i]);
      for (int unsigned a = 0; a < Channels; a++) begin
        for (int unsigned b = 0; b < Channels; b++) begin
          assert (a == b || u_dut.before_q[a][b] != u_dut.before_q[b][a]);
          for (int unsigned c = 0; c < Channels; c++) begin
            assert (a == b || b == c || a == c || !u_dut.before_q[a][b] || !u_dut.before_q[b][c]
                    || u_dut.before_q[a][c]);
          end
        end
        assert (!u_dut.before_q[a][a]);
      end
    end
  end
endmodule
