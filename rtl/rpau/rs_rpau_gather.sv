// Interconnect of the RPAUs, a star: words are gathered at the device's centre and sent to all.
//
// Every RPAU has the words of the one that sends (send_i) two cycles after they stood at words_i:
// one hop to the centre, one to everyone (the sender too, which ignores them), whatever the number
// of RPAUs: rs_rpau_pkg::interconnect_hops(). At most one RPAU sends. Cost: a selector of Rpaus
// rows, a row of registers, and one an RPAU.
module rs_rpau_gather #(
  parameter int unsigned Rpaus = 5,
  parameter int unsigned Lanes = 8,
  parameter int unsigned Width = 48
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Rpaus-1:0] send_i,
  input  logic [Rpaus-1:0] valid_i,                // of words_i, where send_i
  input  logic [Width-1:0] words_i [Rpaus][Lanes],
  output logic [Rpaus-1:0] valid_o,
  output logic [Width-1:0] words_o [Rpaus][Lanes]
);
  logic             centre_valid_q;
  logic [Width-1:0] centre_q [Lanes];
  logic [Rpaus-1:0] valid_q;
  logic [Width-1:0] words_q [Rpaus][Lanes];
  always_ff @(posedge clk_i) begin
    centre_valid_q <= rst_ni && (|(send_i & valid_i));
    for (int unsigned r = 0; r < Rpaus; r++) begin
      if (send_i[r] && valid_i[r]) centre_q <= words_i[r];
    end
    valid_q <= {Rpaus{rst_ni && centre_valid_q}};
    if (centre_valid_q) begin
      for (int unsigned r = 0; r < Rpaus; r++) words_q[r] <= centre_q;
    end
  end
  assign valid_o = valid_q;
  assign words_o = words_q;

  OneSender_A :
  assert property (@(posedge clk_i) $onehot0(send_i))
  else $error("more than one RPAU sends: %b", send_i);
endmodule
