// A word delayed by a fixed number of cycles.
//
//   d_o in cycle t + Depth is d_i in cycle t; Depth = 0 is a wire
//
// No reset, so that synthesis can put it into shift-register LUTs (SRL16/SRL32): what comes out in
// the first Depth cycles is unknown. Cost: about Width LUTs for each 32 of Depth.
module rs_delay #(
  parameter int unsigned Width = 1,
  parameter int unsigned Depth = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);
  if (Depth == 0) begin : gen_wire
    logic unused_clk;
    assign unused_clk = clk_i;
    assign d_o = d_i;
  end else begin : gen_shift
    logic [Width-1:0] shift_q [Depth];
    always_ff @(posedge clk_i) begin
      shift_q[0] <= d_i;
      for (int unsigned i = 1; i < Depth; i++) shift_q[i] <= shift_q[i-1];
    end
    assign d_o = shift_q[Depth-1];
  end
endmodule
