// Exchanges the bit that distinguishes two lanes with a bit of the time: a delay commutator.
//
// Of the four words of times t (swap_i low) and t + Distance (swap_i high) in two lanes, the second
// lane's at t and the first lane's at t + Distance are exchanged. Latency: Distance + 1. swap_i
// stands with its words, and is low between frames.
//
// Cost: 2 * Distance words, the least that a permutation of this latency can do with.
module rs_stream_exchange
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned Distance = 1024
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             swap_i,
  input  logic [Width-1:0] x0_i,
  input  logic [Width-1:0] x1_i,
  output logic [Width-1:0] x0_o,
  output logic [Width-1:0] x1_o
);
  logic [Width-1:0] x1_late, x0_q, x1_q;
  rs_stream_delay #(
    .Cfg(Cfg),
    .Depth(Distance)
  ) u_before (
    .clk_i,
    .rst_ni,
    .d_i(x1_i),
    .d_o(x1_late)
  );
  always_ff @(posedge clk_i) begin
    x0_q <= swap_i ? x1_late : x0_i;
    x1_q <= swap_i ? x0_i : x1_late;
  end
  rs_stream_delay #(
    .Cfg(Cfg),
    .Depth(Distance)
  ) u_behind (
    .clk_i,
    .rst_ni,
    .d_i(x0_q),
    .d_o(x0_o)
  );
  assign x1_o = x1_q;
endmodule
