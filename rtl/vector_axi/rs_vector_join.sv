// Waits until an event has happened at each port of a cluster, in any cycle.
//
// all_o is high for one cycle for each event that has happened at every port p (event_i[p]);
// missing_o has the ports that the next one waits for. No port is ever more than Most events ahead.
//
// Latency: 1 cycle from the last port's event. Cost: a counter for each port.
module rs_vector_join #(
  parameter int unsigned Ports = 2,
  parameter int unsigned Most = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Ports-1:0] event_i,
  output logic             all_o,
  output logic [Ports-1:0] missing_o
);
  localparam int unsigned CountWidth = $clog2(Most + 1);
  logic [CountWidth-1:0] count_q [Ports];
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!rst_ni) count_q[p] <= '0;
      else count_q[p] <= count_q[p] + CountWidth'(event_i[p]) - CountWidth'(all_o);
    end
  end
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) missing_o[p] = count_q[p] == '0;
  end
  assign all_o = missing_o == '0;
endmodule
