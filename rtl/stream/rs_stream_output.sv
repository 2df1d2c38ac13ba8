// Takes products from the pipeline, which cannot wait, and hands them out word by word in natural
// order.
//
// A frame has its buffer from launch_i on; buffer_free_o: one more is free. first_i and words_i
// are the pipeline's. valid_o does not wait for ready_i, and neither it nor the words change before
// ready_i.
`include "rs_assert.svh"

module rs_stream_output
  import rs_mem_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Frames = 5,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogPeriod = Cfg.LogN - Cfg.LogLanes,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  output logic             buffer_free_o,
  input  logic             launch_i,
  input  logic             first_i,
  input  logic [Width-1:0] words_i [Lanes],
  output logic             valid_o,
  input  logic             ready_i,
  output logic             last_o,
  output logic [Width-1:0] words_o [Lanes]
);
  localparam int unsigned FrameWidth = $clog2(Frames);
  localparam int unsigned CountWidth = $clog2(Frames + 1);
  localparam int unsigned PlaceWidth = $clog2(OutputWords);
  localparam logic [FrameWidth-1:0] LastFrame = FrameWidth'(Frames - 1);

  // ---- frames -----------------------------------------------------------------------------------
  logic                  writing, issue, written, read;
  logic                  rlast_q;  // rtime_q is the last of a frame
  logic [LogPeriod-1:0]  wtime, rtime_q;
  logic [FrameWidth-1:0] wframe_q, rframe_q;
  logic                  room_q;  // used_q is not Frames
  logic [CountWidth-1:0] used;
  logic [CountWidth-1:0] used_q, whole_q;  // launched, and of those the ones that are whole
  logic [PlaceWidth:0]   free_q;  // words that may be read ahead
  rs_stream_clock #(
    .Cfg(Cfg)
  ) u_clock (
    .clk_i,
    .rst_ni,
    .first_i(first_i && rst_ni),
    .active_o(writing),
    .last_o(written),
    .time_o(wtime)
  );
  assign issue   = whole_q != '0 && free_q != '0;
  assign read    = issue && rlast_q;
  assign buffer_free_o = room_q;
  assign used          = used_q + CountWidth'(launch_i) - CountWidth'(read);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rtime_q  <= '0;
      rlast_q  <= 1'b0;
      wframe_q <= '0;
      rframe_q <= '0;
      used_q   <= '0;
      room_q   <= 1'b1;
      whole_q  <= '0;
    end else begin
      if (issue) rtime_q <= rtime_q + 1'b1;
      if (issue) rlast_q <= rtime_q == ~LogPeriod'(1);
      if (written) wframe_q <= (wframe_q == LastFrame) ? '0 : wframe_q + 1'b1;
      if (read) rframe_q <= (rframe_q == LastFrame) ? '0 : rframe_q + 1'b1;
      used_q  <= used;
      room_q  <= used != CountWidth'(Frames);
      whole_q <= whole_q + CountWidth'(written) - CountWidth'(read);
    end
  end

  logic [Width-1:0] words [Lanes];
  rs_stream_turn #(
    .Cfg(Cfg),
    .Frames(Frames),
    .ToLanes(1'b0)
  ) u_turn (
    .clk_i,
    .we_i(writing),
    .wframe_i(wframe_q),
    .wtime_i(wtime),
    .wdata_i(words_i),
    .re_i(issue && rst_ni),
    .rframe_i(rframe_q),
    .rtime_i(rtime_q),
    .rdata_o(words)
  );

  // ---- words that were read, in their order -----------------------------------------------------
  logic                push, push_last, pop;
  logic [PlaceWidth:0] pushed_q, popped_q;
  logic [Width:0]      waiting_q [OutputWords][Lanes];  // the lowest bit: last of its frame
  rs_delay #(.Width(2), .Depth(RamLatency)) u_read (
    .clk_i, .d_i({issue && rst_ni, read}), .d_o({push, push_last})
  );
  assign valid_o = pushed_q != popped_q;
  assign pop     = valid_o && ready_i;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pushed_q <= '0;
      popped_q <= '0;
      free_q   <= (PlaceWidth + 1)'(OutputWords);
    end else begin
      pushed_q <= pushed_q + (PlaceWidth + 1)'(push);
      popped_q <= popped_q + (PlaceWidth + 1)'(pop);
      free_q   <= free_q + (PlaceWidth + 1)'(pop) - (PlaceWidth + 1)'(issue);
    end
    if (push) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        waiting_q[pushed_q[PlaceWidth-1:0]][l] <= {words[l], push_last};
      end
    end
  end
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign words_o[l] = waiting_q[popped_q[PlaceWidth-1:0]][l][Width:1];
  end
  assign last_o = waiting_q[popped_q[PlaceWidth-1:0]][0][0];

  `RS_ASSERT(FrameHasRoom_A, !launch_i || buffer_free_o, "a frame was launched that has no buffer")
endmodule
