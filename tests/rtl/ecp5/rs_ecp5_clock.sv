// One of four clocks, as the very same signal: registers of either act at once.
module rs_ecp5_clock #(
  parameter bit [1:0] Which = 2'd0
) (
  input  logic clk0_i,
  input  logic clk1_i,
  input  logic clk2_i,
  input  logic clk3_i,
  output logic clk_o
);
  if (Which == 2'd0) begin : gen_0
    assign clk_o = clk0_i;
  end else if (Which == 2'd1) begin : gen_1
    assign clk_o = clk1_i;
  end else if (Which == 2'd2) begin : gen_2
    assign clk_o = clk2_i;
  end else begin : gen_3
    assign clk_o = clk3_i;
  end
endmodule
