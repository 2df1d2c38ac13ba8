// The negacyclic NTT of Polys polynomials in parallel, or its inverse, N times as large: LogN
// stages.
//
// Forward, words enter with their first LogLanes index bits (from the highest) as lanes and the
// others as time, and leave with index bits LogLanes ... LogN-1, from the highest, as time and the
// others as lanes: the first LogLanes - 1 as the lane's upper bits, the last as its lowest. Indices
// of results are in bit-reversed order, as everywhere. The inverse undoes the forward stages, the
// last one first: words enter as they leave there, and leave as they enter.
//
// Latency: rs_stream_pkg::forward_offset or inverse_offset of LogN stages. modulus_i stands from
// the cycle behind first_i on (forward) or in the cycle of first_i (inverse); modulus_o from before
// first_o on.
module rs_stream_transform
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Polys = 2,
  parameter  bit          Inverse = 1'b0,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned ModulusWidth = modulus_width(Cfg),
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    start_i,
  input  logic [SlotWidth-1:0]    start_slot_i,
  input  logic                    we_i,
  input  logic [SlotWidth-1:0]    slot_i,
  input  logic [LogPeriod-1:0]    group_i,
  input  logic [Width-1:0]        words_i [Lanes],
  input  logic                    first_i,
  input  logic [ModulusWidth-1:0] modulus_i,
  input  logic [Width-1:0]        x_i [Polys*Lanes],
  output logic                    first_o,
  output logic [ModulusWidth-1:0] modulus_o,
  output logic [Width-1:0]        x_o [Polys*Lanes]
);
  logic [LogN:0]           first;
  logic [ModulusWidth-1:0] modulus [LogN+1];
  logic [Width-1:0]        x [LogN+1][Polys*Lanes];
  assign first[0]   = first_i;
  assign modulus[0] = modulus_i;
  assign x[0]       = x_i;
  for (genvar i = 0; i < LogN; i++) begin : gen_stage
    logic run;
    rs_copy u_run (
      .clk_i,
      .d_i(rst_ni),
      .q_o(run)
    );
    rs_stream_stage #(
      .Cfg(Cfg),
      .Polys(Polys),
      .Stage(Inverse ? LogN - 1 - i : i),
      .Inverse(Inverse)
    ) u_stage (
      .clk_i,
      .rst_ni(run),
      .start_i,
      .start_slot_i,
      .we_i,
      .slot_i,
      .group_i,
      .words_i,
      .first_i(first[i]),
      .modulus_i(modulus[i]),
      .x_i(x[i]),
      .first_o(first[i+1]),
      .modulus_o(modulus[i+1]),
      .x_o(x[i+1])
    );
  end
  assign first_o   = first[LogN];
  assign modulus_o = modulus[LogN];
  assign x_o       = x[LogN];
endmodule
