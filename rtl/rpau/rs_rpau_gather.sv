// Interconnect of the RPAUs, a star: words are gathered at the device's centre and sent to all.
//
// Every RPAU receives the sender's words (send_i) 2 * HopCycles cycles after they are at words_i:
// one hop to the centre and one to all RPAUs, for any number of RPAUs
// (rs_rpau_pkg::interconnect_latency()). The sender ignores them. At most one RPAU sends. Cost: a
// selector of Rpaus rows, HopCycles rows of registers, and as many an RPAU. Registers of a hop
// stand behind the selector and at the RPAU that the words reach.
`include "rs_assert.svh"

module rs_rpau_gather
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Rpaus = Cfg.Rpaus,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned Width = Cfg.Width
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Rpaus-1:0] send_i,
  input  logic [Rpaus-1:0] valid_i,                // of words_i, where send_i
  input  logic [Width-1:0] words_i [Rpaus][Lanes],
  output logic [Rpaus-1:0] valid_o,
  output logic [Width-1:0] words_o [Rpaus][Lanes]
);
  logic             sent, centre_valid;
  logic [Width-1:0] sent_words [Lanes];
  logic [Width-1:0] centre [Lanes];
  assign sent = |(send_i & valid_i);
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      sent_words[l] = '0;
      for (int unsigned r = 0; r < Rpaus; r++) begin
        sent_words[l] |= words_i[r][l] & {Width{send_i[r]}};
      end
    end
  end
  rs_rpau_hop #(
    .Cfg(Cfg)
  ) u_centre (
    .clk_i,
    .rst_ni,
    .valid_i(sent),
    .words_i(sent_words),
    .valid_o(centre_valid),
    .words_o(centre)
  );
  for (genvar r = 0; r < Rpaus; r++) begin : gen_rpau
    rs_rpau_hop #(
      .Cfg(Cfg)
    ) u_hop (
      .clk_i,
      .rst_ni,
      .valid_i(centre_valid),
      .words_i(centre),
      .valid_o(valid_o[r]),
      .words_o(words_o[r])
    );
  end

  `RS_ASSERT(OneSender_A, $onehot0(send_i), $sformatf("more than one RPAU sends: %b", send_i))
endmodule
