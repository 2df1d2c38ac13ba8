// Interconnect of the RPAUs, a ring: words go from each RPAU to the next in HopCycles cycles.
//
// The RPAU that sends (send_i) puts its own words on the ring and forwards nothing; all others
// forward what they receive. So RPAU r + k, counted modulo Rpaus, has the words of RPAU r
// k * HopCycles cycles after they stood at words_i; rs_rpau_pkg::interconnect_latency() is that of
// the last one. At most one RPAU sends. Cost: HopCycles rows of registers an RPAU. The first stands
// at the RPAU that the words leave, the last at the one that they reach.
`include "rs_assert.svh"

module rs_rpau_ring
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
  for (genvar r = 0; r < Rpaus; r++) begin : gen_hop
    localparam int unsigned Next = (r + 1) % Rpaus;
    logic             valid_d;
    logic [Width-1:0] words_d [Lanes];
    assign valid_d = send_i[r] ? valid_i[r] : valid_o[r];
    always_comb begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        words_d[l] = send_i[r] ? words_i[r][l] : words_o[r][l];
      end
    end
    rs_rpau_hop #(
      .Cfg(Cfg)
    ) u_hop (
      .clk_i,
      .rst_ni,
      .valid_i(valid_d),
      .words_i(words_d),
      .valid_o(valid_o[Next]),
      .words_o(words_o[Next])
    );
  end

  `RS_ASSERT(OneSender_A, $onehot0(send_i), $sformatf("more than one RPAU sends: %b", send_i))
endmodule
