// The streaming multiplier without its buffers: a product of two polynomials modulo x^N + 1 and the
// descriptor's prime every Period = N / Lanes cycles, each of any prime that is 1 modulo 2N.
//
// A descriptor is taken for each frame, in their order: q; unit; scale; powers = psi, psi^2 ...
// psi^Lanes mod q, psi a primitive 2N-th root. With Montgomery's multiplier unit is 2^(2*Width) mod
// q and scale unit / N mod q. With Barrett's, whose words have no form of their own, the reciprocal
// of rs_stream_mul replaces unit, and scale is 1 / N mod q.
//
// Once ready_o is high the next frame may begin, Period cycles after the last one or later, with
// first_i high in its first cycle, and then brings Lanes words of each polynomial a cycle without a
// pause: word l * Period + t in lane l of cycle t. The products leave in the same order,
// rs_stream_pkg::core_cycles later. Nothing in between waits or stalls.
//
// rst_ni stays low for at least rs_stream_pkg::ResetCycles.
module rs_stream_core
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned ModulusWidth = modulus_width(Cfg),
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             descriptor_valid_i,
  output logic             descriptor_ready_o,
  input  logic [Width-1:0] q_i,
  input  logic [Width-1:0] unit_i,
  input  logic [Width-1:0] scale_i,
  input  logic [Width-1:0] powers_i [Lanes],

  output logic             ready_o,
  input  logic             first_i,
  input  logic [Width-1:0] a_i [Lanes],
  input  logic [Width-1:0] b_i [Lanes],
  output logic             first_o,
  output logic [Width-1:0] y_o [Lanes]
);
  // ---- factors ----------------------------------------------------------------------------------
  logic                    start, we;
  logic [Width-1:0]        scale_next;
  logic [ModulusWidth-1:0] modulus_next, modulus_q;
  logic [SlotWidth-1:0]    start_slot, slot;
  logic [LogPeriod-1:0]    group;
  logic [Width-1:0]        words [Lanes];
  rs_stream_generator #(
    .Cfg(Cfg)
  ) u_generator (
    .clk_i,
    .rst_ni,
    .descriptor_valid_i,
    .descriptor_ready_o,
    .q_i,
    .unit_i,
    .scale_i,
    .powers_i,
    .ready_o,
    .launch_i(first_i),
    .modulus_o(modulus_next),
    .scale_o(scale_next),
    .start_o(start),
    .start_slot_o(start_slot),
    .valid_o(we),
    .slot_o(slot),
    .group_o(group),
    .words_o(words)
  );

  always_ff @(posedge clk_i) if (first_i) modulus_q <= modulus_next;

  // ---- data -------------------------------------------------------------------------------------
  logic                    first_product, first_inverse;
  logic [ModulusWidth-1:0] modulus_product, modulus_inverse;
  logic [Width-1:0]        x [2*Lanes];
  logic [Width-1:0]        transformed [2*Lanes];
  logic [Width-1:0]        factor_a [Lanes];
  logic [Width-1:0]        factor_b [Lanes];
  logic [Width-1:0]        product [Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    assign x[l]        = a_i[l];
    assign x[l+Lanes]  = b_i[l];
    assign factor_a[l] = transformed[l];
    assign factor_b[l] = transformed[l+Lanes];
  end

  rs_stream_transform #(
    .Cfg(Cfg),
    .Polys(2)
  ) u_forward (
    .clk_i,
    .rst_ni,
    .start_i(start),
    .start_slot_i(start_slot),
    .we_i(we),
    .slot_i(slot),
    .group_i(group),
    .words_i(words),
    .first_i,
    .modulus_i(modulus_q),
    .x_i(x),
    .first_o(first_product),
    .modulus_o(modulus_product),
    .x_o(transformed)
  );

  rs_stream_product #(
    .Cfg(Cfg)
  ) u_product (
    .clk_i,
    .rst_ni,
    .push_i(first_i),
    .scale_i(scale_next),
    .first_i(first_product),
    .modulus_i(modulus_product),
    .a_i(factor_a),
    .b_i(factor_b),
    .first_o(first_inverse),
    .modulus_o(modulus_inverse),
    .y_o(product)
  );

  rs_stream_transform #(
    .Cfg(Cfg),
    .Polys(1),
    .Inverse(1'b1)
  ) u_inverse (
    .clk_i,
    .rst_ni,
    .start_i(start),
    .start_slot_i(start_slot),
    .we_i(we),
    .slot_i(slot),
    .group_i(group),
    .words_i(words),
    .first_i(first_inverse),
    .modulus_i(modulus_inverse),
    .x_i(product),
    .first_o,
    .modulus_o(),
    .x_o(y_o)
  );
endmodule
