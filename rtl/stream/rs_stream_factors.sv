// Factors of all butterflies of a stage, in the order in which they are needed.
//
// first_i comes with the first read of a frame's factors, which stand at factors_o from RamLatency
// cycles later on, one a butterfly and cycle. The other inputs are the generator's, to all stages.
module rs_stream_factors
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Stage = 11,
  parameter  bit          Inverse = 1'b0,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [SlotWidth-1:0] start_slot_i,
  input  logic                 we_i,
  input  logic [SlotWidth-1:0] slot_i,
  input  logic [LogPeriod-1:0] group_i,
  input  logic [Width-1:0]     words_i [Lanes],
  input  logic                 first_i,
  output logic [Width-1:0]     factors_o [Lanes/2]
);
  localparam int unsigned Banks = banks(Cfg, Stage, Inverse);
  localparam int unsigned BankWidth = $clog2(Banks);
  logic                 reading;
  logic [BankWidth-1:0] wbank, rbank;
  logic [LogPeriod-1:0] rtime;
  rs_stream_banks #(
    .Cfg(Cfg),
    .Banks(Banks)
  ) u_banks (
    .clk_i,
    .rst_ni,
    .start_i,
    .start_slot_i,
    .slot_i,
    .wbank_o(wbank),
    .first_i,
    .active_o(reading),
    .rbank_o(rbank),
    .time_o(rtime)
  );
  for (genvar unit = 0; unit < Lanes / 2; unit++) begin : gen_unit
    rs_stream_twiddles #(
      .Cfg(Cfg),
      .Stage(Stage),
      .Unit(unit),
      .Inverse(Inverse),
      .Banks(Banks)
    ) u_twiddles (
      .clk_i,
      .we_i,
      .wbank_i(wbank),
      .group_i,
      .words_i,
      .re_i(reading),
      .rbank_i(rbank),
      .rtime_i(rtime),
      .rdata_o(factors_o[unit])
    );
  end
endmodule
