// A register of ECP5's multiplier, or a wire where it is not used. Its reset needs no enable.
module rs_ecp5_register #(
  parameter int unsigned Width = 18,
  parameter bit          Uses = 1'b1,
  parameter bit          AsyncReset = 1'b0
) (
  input  logic             clk_i,
  input  logic             ce_i,
  input  logic             rst_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] q_o
);
  if (!Uses) begin : gen_wire
    assign q_o = d_i;
  end else if (AsyncReset) begin : gen_async
    logic [Width-1:0] q;
    always @(posedge clk_i or posedge rst_i) begin
      if (rst_i) q <= '0;
      else if (ce_i) q <= d_i;
    end
    assign q_o = q;
  end else begin : gen_sync
    logic [Width-1:0] q;
    always @(posedge clk_i) begin
      if (rst_i) q <= '0;
      else if (ce_i) q <= d_i;
    end
    assign q_o = q;
  end
endmodule
