// Interconnect of the RPAUs, a ring: words go from each RPAU to the next, a cycle a hop.
//
// The RPAU that sends (send_i) puts its own words on the ring and forwards nothing; all others
// forward what they receive. So RPAU r + k, counted modulo Rpaus, has the words of RPAU r k cycles
// after they stood at words_i; the last one Rpaus - 1 cycles: rs_rpau_pkg::interconnect_hops().
// At most one RPAU sends. Cost: a row of registers an RPAU.
module rs_rpau_ring #(
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
  for (genvar r = 0; r < Rpaus; r++) begin : gen_hop
    localparam int unsigned Next = (r + 1) % Rpaus;
    logic             valid_d, valid_q;
    logic [Width-1:0] words_q [Lanes];
    assign valid_d = send_i[r] ? valid_i[r] : valid_o[r];
    always_ff @(posedge clk_i) begin
      valid_q <= rst_ni && valid_d;
      if (valid_d) words_q <= send_i[r] ? words_i[r] : words_o[r];
    end
    assign valid_o[Next] = valid_q;
    assign words_o[Next] = words_q;
  end

  OneSender_A :
  assert property (@(posedge clk_i) $onehot0(send_i))
  else $error("more than one RPAU sends: %b", send_i);
endmodule
