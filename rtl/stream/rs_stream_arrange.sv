// The exchange of a stage in all its pairs of lanes, or a wait of Wait cycles where both words of
// each butterfly are in lanes already.
//
// Undoes itself. first_i comes with a frame's first words; latency: rs_stream_pkg::exchange_cycles,
// or Wait.
module rs_stream_arrange
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned Polys = 2,
  parameter  int unsigned Stage = 11,
  parameter  int unsigned Wait = 0,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             first_i,
  input  logic [Width-1:0] x_i [Polys*Lanes],
  output logic [Width-1:0] x_o [Polys*Lanes]
);
  if (Stage < LogLanes) begin : gen_wait
    for (genvar l = 0; l < Polys * Lanes; l++) begin : gen_lane
      rs_delay #(
        .Width(Cfg.Width),
        .Depth(Wait)
      ) u_wait (
        .clk_i,
        .d_i(x_i[l]),
        .d_o(x_o[l])
      );
    end
  end else begin : gen_exchange
    logic [LogPeriod-1:0] frame_time;
    rs_stream_clock #(
      .Cfg(Cfg)
    ) u_clock (
      .clk_i, .rst_ni, .first_i, .active_o(), .last_o(), .time_o(frame_time)
    );
    for (genvar pair = 0; pair < Polys * Lanes / 2; pair++) begin : gen_pair
      rs_stream_exchange #(
        .Cfg(Cfg),
        .Distance(2 ** log_distance(LogN, Stage))
      ) u_exchange (
        .clk_i,
        .rst_ni,
        .swap_i(frame_time[log_distance(LogN, Stage)]),
        .x0_i(x_i[2*pair]),
        .x1_i(x_i[2*pair+1]),
        .x0_o(x_o[2*pair]),
        .x1_o(x_o[2*pair+1])
      );
    end
  end
endmodule
