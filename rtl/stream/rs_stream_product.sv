// Between the transforms: a * b * scale, word for word.
//
//   y_o = a_i * b_i * scale mod q      with Montgomery's multiplier times 2^(-2*Width)
//
// The descriptor's scale divides by N, and by what the multiplier leaves.
//
// Latency rs_stream_pkg::product_cycles. modulus_i stands in the cycle of first_i. push_i hands in
// the scale of a frame that begins to flow, and frames take them in their order. modulus_o stands
// from the cycle of first_o on.
`include "rs_assert.svh"

module rs_stream_product
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned ModulusWidth = modulus_width(Cfg),
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    push_i,
  input  logic [Width-1:0]        scale_i,
  input  logic                    first_i,
  input  logic [ModulusWidth-1:0] modulus_i,
  input  logic [Width-1:0]        a_i [Lanes],
  input  logic [Width-1:0]        b_i [Lanes],
  output logic                    first_o,
  output logic [ModulusWidth-1:0] modulus_o,
  output logic [Width-1:0]        y_o [Lanes]
);
  localparam int unsigned MulCycles = mul_cycles(Cfg);
  localparam int unsigned PlaceWidth = $clog2(ScaleDepth);

  logic first_scale;
  rs_stream_marker #(.Depth(MulCycles)) u_scale_begins (
    .clk_i, .rst_ni, .first_i(first_i && rst_ni), .first_o(first_scale)
  );
  rs_stream_marker #(.Depth(1 + MulCycles)) u_result (
    .clk_i, .rst_ni, .first_i(first_scale), .first_o
  );

  // ---- scales of the frames in flight -----------------------------------------------------------
  logic [Width-1:0]        scales_q [ScaleDepth];
  logic [PlaceWidth:0]     pushed_q, popped_q;
  logic [Width-1:0]        scale_q;
  logic [ModulusWidth-1:0] modulus_first_q, modulus_second_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      pushed_q <= '0;
      popped_q <= '0;
    end else begin
      if (push_i) pushed_q <= pushed_q + 1'b1;
      if (first_scale) popped_q <= popped_q + 1'b1;
    end
    if (push_i) scales_q[pushed_q[PlaceWidth-1:0]] <= scale_i;
    if (first_i) modulus_first_q <= modulus_i;
    if (first_scale) begin
      modulus_second_q <= modulus_first_q;
      scale_q    <= scales_q[popped_q[PlaceWidth-1:0]];
    end
  end
  assign modulus_o = modulus_second_q;

  logic [PlaceWidth:0] waiting;
  assign waiting = pushed_q - popped_q;
  `RS_ASSERT(RoomForScale_A, 32'(waiting) <= ScaleDepth,
             $sformatf("more than %0d frames wait for their second product", ScaleDepth))

  // ---- products ---------------------------------------------------------------------------------
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [Width-1:0] a_q, b_q, product;
    always_ff @(posedge clk_i) begin
      a_q <= a_i[l];
      b_q <= b_i[l];
    end
    rs_stream_mul #(
      .Cfg(Cfg)
    ) u_product (
      .clk_i,
      .a_i(a_q),
      .b_i(b_q),
      .modulus_i(modulus_first_q),
      .p_o(product)
    );
    rs_stream_mul #(
      .Cfg(Cfg)
    ) u_scaled (
      .clk_i,
      .a_i(product),
      .b_i(scale_q),
      .modulus_i(modulus_second_q),
      .p_o(y_o[l])
    );
  end
endmodule
