// The first cycle of a frame, a fixed number of cycles later.
//
//   first_o in cycle t + Depth is first_i in cycle t
//
// Where Depth > Short, at least Depth cycles lie between two markers: at most one is in the delay.
// Long delays are counted and have a reset; short ones are shift registers, which empty themselves
// while first_i is low.
`include "rs_assert.svh"

module rs_stream_marker #(
  parameter int unsigned Depth = 100
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic first_i,
  output logic first_o
);
  localparam int unsigned Short = 60;

  if (Depth <= Short) begin : gen_shift
    rs_delay #(
      .Width(1),
      .Depth(Depth)
    ) u_delay (
      .clk_i,
      .d_i(first_i),
      .d_o(first_o)
    );
  end else begin : gen_count
    localparam int unsigned CountWidth = $clog2(Depth + 1);
    logic [CountWidth-1:0] left_q;  // cycles to go
    logic                  last_q;  // left_q is 1
    always_ff @(posedge clk_i) begin
      if (!rst_ni) left_q <= '0;
      else if (first_i) left_q <= CountWidth'(Depth);
      else if (left_q != '0) left_q <= left_q - 1'b1;
      last_q <= rst_ni && !first_i && left_q == CountWidth'(2);
    end
    assign first_o = last_q;

    `RS_ASSERT(OneUnderWay_A, !first_i || left_q <= CountWidth'(1),
               $sformatf("a marker came %0d cycles before the last one left", left_q))
  end
endmodule
