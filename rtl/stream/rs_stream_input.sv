// Takes polynomials word by word, in natural order and with any pauses, and hands whole frames to
// the pipeline, by lanes and without a pause.
//
// There are two frames: while one is read the other is filled. full_o says that a frame may be
// launched; with launch_i in cycle c its first words stand at words_o in cycle c + input_cycles(),
// and at least Period cycles lie between two launches. fault_o is high for a cycle where last_i is
// not with a frame's last words: the sender has lost count.
`include "rs_assert.svh"

module rs_stream_input
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogPeriod = Cfg.LogN - Cfg.LogLanes,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic             last_i,
  input  logic [Width-1:0] words_i [Lanes],
  output logic             fault_o,
  output logic             full_o,
  input  logic             launch_i,
  output logic [Width-1:0] words_o [Lanes]
);
  logic                 reading, emptied;
  logic [LogPeriod-1:0] rtime, wtime_q;
  logic                 wframe_q, rframe_q, rframe;  // the frame that is read, once it is launched
  rs_stream_clock #(
    .Cfg(Cfg)
  ) u_clock (
    .clk_i, .rst_ni, .first_i(launch_i), .active_o(reading), .last_o(emptied), .time_o(rtime)
  );

  logic accept, filled;
  logic       full_q;  // whole_q is not 0
  logic [1:0] whole;
  logic [1:0] used_q, whole_q;  // frames that are whole, and of those the ones not launched
  assign ready_o = rst_ni && used_q != 2'd2;
  assign accept  = valid_i && ready_o;
  assign filled  = accept && &wtime_q;
  assign full_o  = full_q;
  assign whole   = whole_q + 2'(filled) - 2'(launch_i);
  assign fault_o = accept && last_i != &wtime_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wtime_q  <= '0;
      wframe_q <= 1'b0;
      rframe_q <= 1'b1;
      used_q   <= '0;
      whole_q  <= '0;
      full_q   <= 1'b0;
    end else begin
      if (accept) wtime_q <= wtime_q + 1'b1;
      if (filled) wframe_q <= !wframe_q;
      if (launch_i) rframe_q <= !rframe_q;
      used_q  <= used_q + 2'(filled) - 2'(emptied);
      whole_q <= whole;
      full_q  <= whole != 2'd0;
    end
  end
  assign rframe = rframe_q ^ launch_i;

  logic [Width-1:0] read [Lanes];
  logic [Width-1:0] words_q [Lanes];
  rs_stream_turn #(
    .Cfg(Cfg),
    .Frames(2),
    .ToLanes(1'b1)
  ) u_turn (
    .clk_i,
    .we_i(accept),
    .wframe_i(wframe_q),
    .wtime_i(wtime_q),
    .wdata_i(words_i),
    .re_i(reading),
    .rframe_i(rframe),
    .rtime_i(rtime),
    .rdata_o(read)
  );
  always_ff @(posedge clk_i) words_q <= read;
  assign words_o = words_q;

  `RS_ASSERT(LaunchFull_A, !launch_i || full_o, "a frame was launched that is not there")
endmodule
