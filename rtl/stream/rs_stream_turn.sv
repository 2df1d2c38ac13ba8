// Frames turned from one order of words to the other, in a memory a lane.
//
//   natural   cycle t has the words Lanes * t ... Lanes * t + Lanes - 1
//   by lanes  lane l has the words l * Period ... l * Period + Period - 1
//
// ToLanes: written in natural order and read by lanes; otherwise the other way round. Word i lies
// in row i / Lanes of bank (i mod Lanes) xor (i / Period): any cycle of either order touches each
// bank once. Rows are read and written by frame and time, rdata_o comes RamLatency cycles after
// re_i.
//
// Cost: Lanes memories of Frames * Period words.
module rs_stream_turn
  import rs_mem_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Frames = 2,
  parameter  bit          ToLanes = 1'b1,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogPeriod = Cfg.LogN - Cfg.LogLanes,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned FrameWidth = $clog2(Frames)
) (
  input  logic                  clk_i,
  input  logic                  we_i,
  input  logic [FrameWidth-1:0] wframe_i,
  input  logic [LogPeriod-1:0]  wtime_i,
  input  logic [Width-1:0]      wdata_i [Lanes],
  input  logic                  re_i,
  input  logic [FrameWidth-1:0] rframe_i,
  input  logic [LogPeriod-1:0]  rtime_i,
  output logic [Width-1:0]      rdata_o [Lanes]
);
  if (LogPeriod <= LogLanes) begin : gen_bad_period
    $error("rs_stream_turn: a period of 2^%0d is not above 2^%0d lanes", LogPeriod, LogLanes);
  end

  // Index bits that distinguish lanes: the lowest bits of the time by lanes, the highest in natural
  // order.
  logic [LogLanes-1:0] wturn, rturn, rturn_late;
  assign wturn = ToLanes ? wtime_i[LogPeriod-1-:LogLanes] : wtime_i[LogLanes-1:0];
  assign rturn = ToLanes ? rtime_i[LogLanes-1:0] : rtime_i[LogPeriod-1-:LogLanes];
  rs_delay #(
    .Width(Cfg.LogLanes),
    .Depth(RamLatency)
  ) u_turn (
    .clk_i,
    .d_i(rturn),
    .d_o(rturn_late)
  );

  logic [Width-1:0] read [Lanes];
  for (genvar bank = 0; bank < Lanes; bank++) begin : gen_bank
    localparam logic [LogLanes-1:0] Bank = LogLanes'(bank);
    logic [LogPeriod-1:0] wrow, rrow;
    assign wrow = ToLanes ? wtime_i : {Bank ^ wturn, wtime_i[LogPeriod-1:LogLanes]};
    assign rrow = ToLanes ? {Bank ^ rturn, rtime_i[LogPeriod-1:LogLanes]} : rtime_i;
    rs_ram_1r1w #(
      .Width(Cfg.Width),
      .Depth(Frames << LogPeriod),
      .ReadLatency(RamLatency)
    ) u_ram (
      .clk_i,
      .we_i,
      .waddr_i({wframe_i, wrow}),
      .wdata_i(wdata_i[Bank^wturn]),
      .re_i,
      .raddr_i({rframe_i, rrow}),
      .rdata_o(read[bank])
    );
    assign rdata_o[bank] = read[Bank^rturn_late];
  end
endmodule
