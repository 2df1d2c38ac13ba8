// An AXI4-Lite bus of another clock: rs_axil_access behind a crossing.
//
// valid_i, access_i and end_o are in bus_clk_i, with the rules of rs_axil_access. valid_i and end_o.done
// cross in rs_sync; what holds still meanwhile does not need to. An access takes some ten cycles of the
// slower clock. While rst_ni is low, or clk_i stands still, accesses wait. valid_i stays low for 16
// cycles of the slower clock after a reset of the bus's side.
module rs_axil_cross
  import rs_shell_pkg::*;
(
  input  logic           bus_clk_i,
  input  logic           valid_i,
  input  axil_access_t   access_i,
  output axil_end_t      end_o,
  input  logic           clk_i,
  input  logic           rst_ni,
  output axil_request_t  axil_o,
  input  axil_response_t axil_i
);
  logic      valid, done;
  axil_end_t ends;
  rs_sync u_valid (
    .clk_i,
    .d_i(valid_i),
    .d_o(valid)
  );
  rs_sync u_done (
    .clk_i(bus_clk_i),
    .d_i(ends.done),
    .d_o(done)
  );
  rs_axil_access u_access (
    .clk_i,
    .rst_ni,
    .valid_i(valid),
    .access_i,
    .end_o(ends),
    .axil_o,
    .axil_i
  );
  assign end_o = '{done: done, resp: ends.resp, data: ends.data};
endmodule
