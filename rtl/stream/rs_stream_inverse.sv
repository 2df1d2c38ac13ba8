// The inverse transform, N times as large: the forward stages undone, the last one first.
//
// Words enter as rs_stream_forward's leave, and leave as they enter there. Latency:
// rs_stream_pkg::inverse_offset(..., LogN). q_i stands in the cycle of first_i.
module rs_stream_inverse #(
  parameter  int unsigned LogN = 12,
  parameter  int unsigned LogLanes = 1,
  parameter  int unsigned Width = 30,
  parameter  int unsigned Slots = 2,
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
  input  logic [Width-1:0]     q_i,
  input  logic [Width-1:0]     x_i [Lanes],
  output logic                 first_o,
  output logic [Width-1:0]     x_o [Lanes]
);
  logic [LogN:0]    first;
  logic [Width-1:0] q [LogN+1];
  logic [Width-1:0] x [LogN+1][Lanes];
  assign first[0] = first_i;
  assign q[0]     = q_i;
  assign x[0]     = x_i;
  for (genvar i = 0; i < LogN; i++) begin : gen_stage
    rs_stream_inverse_stage #(
      .LogN(LogN),
      .LogLanes(LogLanes),
      .Width(Width),
      .Slots(Slots),
      .Stage(LogN - 1 - i)
    ) u_stage (
      .clk_i,
      .rst_ni,
      .start_i,
      .start_slot_i,
      .we_i,
      .slot_i,
      .group_i,
      .words_i,
      .first_i(first[i]),
      .q_i(q[i]),
      .x_i(x[i]),
      .first_o(first[i+1]),
      .q_o(q[i+1]),
      .x_o(x[i+1])
    );
  end
  logic unused_q;
  assign unused_q = ^q[LogN];
  assign first_o  = first[LogN];
  assign x_o      = x[LogN];
endmodule
