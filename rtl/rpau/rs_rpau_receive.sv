// Rows of a polynomial that the interconnect brings, in the order in which its source reads them.
//
// The bits of a counter, reversed: of polynomials shorter than 2^RowBits rows its upper ones.
// start_i begins anew; row_o is that of the words that come with valid_i, and all_o says that none
// is missing.
module rs_rpau_receive
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned RowBits = Cfg.LogN - $clog2(2 * Cfg.Cores)
) (
  input  logic               clk_i,
  input  logic               start_i,
  input  logic [3:0]         skip_i,   // rs_ntt_pkg::ring_t
  input  logic               valid_i,
  output logic [RowBits-1:0] row_o,
  output logic               all_o
);
  logic [RowBits:0] count_q;  // its upper bit tells all rows from none
  always_ff @(posedge clk_i) begin
    if (start_i) count_q <= '0;
    else if (valid_i) count_q <= count_q + ((RowBits + 1)'(1) << skip_i);
  end
  always_comb begin
    for (int unsigned b = 0; b < RowBits; b++) row_o[b] = count_q[RowBits-1-b];
  end
  assign all_o = count_q == (RowBits + 1)'(1) << RowBits;
endmodule
