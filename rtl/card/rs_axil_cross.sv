// An AXI4-Lite bus of another clock: rs_axil_access behind a crossing.
//
// valid_i, access_i and end_o are in bus_clk_i, with the rules of rs_axil_access. valid_i and
// end_o.done cross in rs_sync; the other signals hold still meanwhile. An access takes some
// ten cycles of the slower clock. While rst_ni is low it ends with SLVERR; while clk_i stands still
// it waits.
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
  localparam logic [1:0] RespSlverr = 2'b10;
  logic      valid, done, alive_q, alive;
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
  always_ff @(posedge clk_i) alive_q <= rst_ni;
  rs_sync u_alive (
    .clk_i(bus_clk_i),
    .d_i(alive_q),
    .d_o(alive)
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
  assign end_o = '{
          done: done || (valid_i && !alive),
          resp: alive ? ends.resp : RespSlverr,
          data: alive ? ends.data : '0
      };
endmodule
