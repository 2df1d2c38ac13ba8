// The time within a frame: 0 in the cycle of first_i, then counting to the frame's end.
//
// time_o is 0, and active_o low, between frames; last_o is high in a frame's last cycle, and comes
// from a register. At least Period = 2^LogPeriod cycles lie between
// two first_i.
`include "rs_assert.svh"

module rs_stream_clock
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogPeriod = Cfg.LogN - Cfg.LogLanes
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 first_i,
  output logic                 active_o,
  output logic                 last_o,
  output logic [LogPeriod-1:0] time_o
);
  logic [LogPeriod-1:0] time_q;  // of this cycle, but in a frame's first; 0: no frame
  always_ff @(posedge clk_i) begin
    if (!rst_ni) time_q <= '0;
    else if (first_i) time_q <= LogPeriod'(1);
    else if (time_q != '0) time_q <= time_q + 1'b1;
  end
  assign active_o = rst_ni && (first_i || time_q != '0);
  assign last_o   = &time_q;
  assign time_o   = first_i ? '0 : time_q;

  `RS_ASSERT(FramesApart_A, !first_i || time_q == '0,
             $sformatf("a frame began in cycle %0d of the one before", time_q))
endmodule
