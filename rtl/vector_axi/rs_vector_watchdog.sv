// Detects that memory does not answer, and at which port.
//
// waits_i: something is asked of memory; moves_i: it has done a part of it. silent_o stands when
// limit_i cycles with waits_i have passed without moves_i, and port_o is the lowest port of
// missing_i then. limit_i = 0: never. first_o is the lowest port of failed_i.
//
// Cost: a counter.
module rs_vector_watchdog #(
  parameter int unsigned Ports = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [     31:0] limit_i,
  input  logic             waits_i,
  input  logic             moves_i,
  input  logic [Ports-1:0] missing_i,
  input  logic [Ports-1:0] failed_i,
  output logic             silent_o,
  output logic [      7:0] port_o
);
  function automatic logic [7:0] lowest(logic [Ports-1:0] ports);
    lowest = '0;
    for (int unsigned i = 0; i < Ports; i++) if (ports[Ports-1-i]) lowest = 8'(Ports - 1 - i);
  endfunction
  logic [31:0] since_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !waits_i || moves_i) since_q <= '0;
    else since_q <= since_q + 1'b1;
  end
  assign silent_o = waits_i && limit_i != '0 && since_q >= limit_i;
  assign port_o   = (failed_i != '0) ? lowest(failed_i) : lowest(missing_i);
endmodule
