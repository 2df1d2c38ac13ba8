// Converts words from the interconnect to the word width of an RPAU.
//
// A word that arrives is a residue of any prime. Its residue modulo the RPAU's own prime does not
// change. If the widths are equal, this is a wire; else the words come
// rs_arith_pkg::mod_shorten_latency() cycles later. mu_i is that of a folded reduction, and holds
// still while words arrive.
module rs_rpau_arrival
  import rs_arith_pkg::*;
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned LinkWidth = 48,
  localparam int unsigned Lanes = 2 * Cfg.Cores
) (
  input  logic                 clk_i,
  input  logic [Width-1:0]     mu_i,
  input  logic                 valid_i,
  input  logic [LinkWidth-1:0] words_i [Lanes],
  output logic                 valid_o,
  output logic [Width-1:0]     words_o [Lanes]
);
  if (LinkWidth == Width) begin : gen_equal
    assign valid_o = valid_i;
    assign words_o = words_i;
  end else begin : gen_shorter
    localparam int unsigned ScaledBits = folded_scaled_bits(Width);
    logic signed [ScaledBits:0] scaled_q;
    logic [Width-1:0]           correction_q;
    always_ff @(posedge clk_i) begin
      scaled_q     <= mu_i[ScaledBits:0];
      correction_q <= scaled_q[ScaledBits] ? (Width'(1) << (Width - 1)) - Width'(scaled_q >>> 1)
                                           : Width'(scaled_q);
    end
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      rs_mod_shorten #(
        .Width(Cfg.Width),
        .FromWidth(LinkWidth)
      ) u_shorten (
        .clk_i,
        .x_i(words_i[l]),
        .scaled_i(scaled_q),
        .correction_i(correction_q),
        .y_o(words_o[l])
      );
    end
    rs_delay #(
      .Width(1),
      .Depth(mod_shorten_latency())
    ) u_valid (
      .clk_i,
      .d_i(valid_i),
      .d_o(valid_o)
    );
  end
endmodule
