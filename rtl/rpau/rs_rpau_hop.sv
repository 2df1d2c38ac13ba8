// A hop of the interconnect: a row of words Cycles cycles later, in as many rows of registers.
//
// rst_ni clears valid_o. Registers of words are loaded only where words are valid.
module rs_rpau_hop
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Cycles = Cfg.HopCycles
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  input  logic [Width-1:0] words_i [Lanes],
  output logic             valid_o,
  output logic [Width-1:0] words_o [Lanes]
);
  for (genvar c = 0; c < Cycles; c++) begin : gen_cycle
    logic             valid, valid_q;
    logic [Width-1:0] words [Lanes];
    logic [Width-1:0] words_q [Lanes];
    if (c == 0) begin : gen_first
      assign valid = valid_i;
      assign words = words_i;
    end else begin : gen_later
      assign valid = gen_cycle[c-1].valid_q;
      assign words = gen_cycle[c-1].words_q;
    end
    always_ff @(posedge clk_i) begin
      valid_q <= rst_ni && valid;
      if (valid) words_q <= words;
    end
  end
  assign valid_o = gen_cycle[Cycles-1].valid_q;
  assign words_o = gen_cycle[Cycles-1].words_q;
endmodule
