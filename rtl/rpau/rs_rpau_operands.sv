// Brings operands from work memory, key store and interconnect to the lanes of the main unit.
//
// The controls come with the rows' addresses. The words come rs_ntt_pkg::memory_read_latency()
// cycles after them, and the outputs one cycle after the words. Operand a is arranged by
// rs_lane_gather. With pair_i its upper lanes take a half of operand b: half 1 with swap_i, half 0
// without. Operands b and c keep the order of the memory. The key store's row is brought into the
// same order: odd_i swaps its halves.
module rs_rpau_operands
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1
) (
  input  logic                   clk_i,
  input  logic                   swap_i,
  input  logic                   odd_i,
  input  logic [PatternBits-1:0] pattern_i,
  input  logic                   permute_i,   // still while busy, as element_i and the four below
  input  logic [LogLanes-1:0]    element_i,
  input  logic [LogLanes-1:0]    offset_i,
  input  logic                   pair_i,
  input  logic                   use_key_i,   // operand b is key_i
  input  logic [Width-1:0]       a_i [Lanes],
  input  logic [Width-1:0]       b_i [Lanes],
  input  logic [Width-1:0]       c_i [Lanes],
  input  logic [Width-1:0]       key_i [Lanes],
  output logic [Width-1:0]       a_o [Lanes],
  output logic [Width-1:0]       b_o [Lanes],
  output logic [Width-1:0]       c_o [Lanes]
);
  // Controls, delayed to the words. Those of rs_lane_gather come a cycle earlier, as it registers
  // them.
  logic                   gather_swap, gather_b_swap;
  logic [PatternBits-1:0] gather_pattern;
  logic [LogLanes-1:0]    gather_offset;
  rs_delay #(
    .Width(2 + PatternBits + LogLanes),
    .Depth(memory_read_latency() - 1)
  ) u_controls (
    .clk_i,
    .d_i({swap_i, use_key_i ? odd_i : swap_i, pattern_i, offset_i}),
    .d_o({gather_swap, gather_b_swap, gather_pattern, gather_offset})
  );

  logic [Width-1:0] gathered [Lanes];
  rs_lane_gather #(
    .Cores(Cfg.Cores),
    .Width(Cfg.Width)
  ) u_gather (
    .clk_i,
    .swap_i(gather_swap),
    .permute_i,
    .pattern_i(gather_pattern),
    .element_i,
    .offset_i(gather_offset),
    .word_i(a_i),
    .lane_o(gathered)
  );

  logic [Width-1:0] b_q [Lanes];
  logic [Width-1:0] c_q [Lanes];
  always_ff @(posedge clk_i) c_q <= c_i;
  assign b_o = b_q;
  assign c_o = c_q;
  for (genvar i = 0; i < Cores; i++) begin : gen_core
    logic             pair, use_key, b_swap;
    logic [Width-1:0] b_low;
    rs_copy #(
      .Width(3)
    ) u_controls (
      .clk_i,
      .d_i({pair_i, use_key_i, gather_b_swap}),
      .q_o({pair, use_key, b_swap})
    );
    rs_mux #(
      .Width(Cfg.Width),
      .Words(4)
    ) u_b (
      .index_i({use_key, b_swap}),
      .word_i('{b_i[i], b_i[i+Cores], key_i[i], key_i[i+Cores]}),
      .word_o(b_low)
    );
    always_ff @(posedge clk_i) begin
      b_q[i] <= b_low;
      if (use_key) b_q[i+Cores] <= b_swap ? key_i[i] : key_i[i+Cores];
      else b_q[i+Cores] <= b_i[i+Cores];
    end
    assign a_o[i]       = gathered[i];
    assign a_o[i+Cores] = pair ? b_q[i] : gathered[i+Cores];
  end
endmodule
