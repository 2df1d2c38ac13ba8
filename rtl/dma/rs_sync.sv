// Bits of another clock, as they stood two or three cycles ago.
//
//   d_o is d_i behind two registers of clk_i
//
// Each bit is a register of another clock, with no logic behind it. Bits that change together may
// arrive a cycle apart: so a vector must be a Gray code, or bits that are independent. No reset. An
// attribute marks the registers as a synchroniser, and the constraints limit the path into them to
// one period of the faster clock (docs/reference/dma.md).
module rs_sync #(
  parameter int unsigned Width = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);
  (* async_reg = "true" *)
  logic [Width-1:0] first_q, second_q;
  always_ff @(posedge clk_i) begin
    first_q  <= d_i;
    second_q <= first_q;
  end
  assign d_o = second_q;
endmodule
