// The forward transform of Polys polynomials side by side: negacyclic NTTs, LogN stages.
//
// Words enter with their first LogLanes index bits (from the highest) as lanes and the others as
// time, and leave with index bits LogLanes ... LogN-1, from the highest, as time and the others as
// lanes: the first LogLanes - 1 as the lane's upper bits, the last as its lowest. Indices of results
// are in bit-reversed order, as everywhere. Latency: rs_stream_pkg::forward_offset(..., LogN). q_i
// stands from the cycle behind first_i on; q_o from before first_o on.
module rs_stream_forward #(
  parameter  int unsigned LogN = 12,
  parameter  int unsigned LogLanes = 1,
  parameter  int unsigned Width = 30,
  parameter  int unsigned Slots = 2,
  parameter  int unsigned Polys = 2,
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
  input  logic [Width-1:0]     x_i [Polys*Lanes],
  output logic                 first_o,
  output logic [Width-1:0]     q_o,
  output logic [Width-1:0]     x_o [Polys*Lanes]
);
  logic [LogN:0]    first;
  logic [Width-1:0] q [LogN+1];
  logic [Width-1:0] x [LogN+1][Polys*Lanes];
  assign first[0] = first_i;
  assign q[0]     = q_i;
  assign x[0]     = x_i;
  for (genvar s = 0; s < LogN; s++) begin : gen_stage
    rs_stream_forward_stage #(
      .LogN(LogN),
      .LogLanes(LogLanes),
      .Width(Width),
      .Slots(Slots),
      .Polys(Polys),
      .Stage(s)
    ) u_stage (
      .clk_i,
      .rst_ni,
      .start_i,
      .start_slot_i,
      .we_i,
      .slot_i,
      .group_i,
      .words_i,
      .first_i(first[s]),
      .q_i(q[s]),
      .x_i(x[s]),
      .first_o(first[s+1]),
      .q_o(q[s+1]),
      .x_o(x[s+1])
    );
  end
  assign first_o = first[LogN];
  assign q_o     = q[LogN];
  assign x_o     = x[LogN];
endmodule
