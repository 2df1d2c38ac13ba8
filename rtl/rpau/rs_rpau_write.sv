// Results of the main unit's lanes on their way to the memory's words.
//
// step_i comes with lane_i, and step_o says what to write a cycle later, word_o then being its
// words: step_i itself, but with pair_i. Then lanes hold halves of rows of two polynomials
// (rs_pair_rows): the row of the first is written with its upper half, half_i, and that of the
// second a cycle later, with second_o. Bit StepWidth - 1 of a step says that there is one.
// upper_i says a cycle ahead that a step is there, and of upper halves.
module rs_rpau_write
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned StepWidth = 8,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   pair_i,
  input  logic                   upper_i,    // of step_i, a cycle ahead
  input  logic [StepWidth-1:0]   step_i,
  input  logic [Width-1:0]       lane_i [Lanes],
  input  logic                   swap_i,     // of step_o
  input  logic [PatternBits-1:0] pattern_i,  // likewise
  output logic [StepWidth-1:0]   step_o,
  output logic                   second_o,
  output logic [Width-1:0]       word_o [Lanes]
);
  logic                 upper_q, waits_q;
  logic [StepWidth-2:0] step_q;
  always_ff @(posedge clk_i) begin
    upper_q <= upper_i;
    waits_q <= rst_ni && upper_q;
    step_q  <= step_i[StepWidth-2:0];
  end
  assign second_o = pair_i && !upper_q;
  assign step_o   = second_o ? {waits_q, step_q} : step_i;

  logic [Width-1:0] lanes [Lanes];
  rs_pair_rows #(
    .Cores(Cfg.Cores),
    .Width(Cfg.Width)
  ) u_pair_rows (
    .clk_i,
    .pair_i,
    .upper_i,
    .lane_i,
    .lane_o(lanes)
  );
  rs_lane_scatter #(
    .Cores(Cfg.Cores),
    .Width(Cfg.Width)
  ) u_scatter (
    .clk_i,
    .swap_i,
    .pattern_i,
    .lane_i(lanes),
    .word_o
  );
endmodule
