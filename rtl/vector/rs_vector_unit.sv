// 2^LogRadix lanes of the array: a transform's pass over its positions in L0, or point operations.
//
//   transform, forward: stages of positions LogRadix-1, ..., 0 of L0, in this order; result_o[l] is
//   lane l transform, inverse: stages of positions 0, ..., LogRadix-1; x_i comes with the bits of
//   its lanes
//                       reversed (rs_vector_permute does that), and leaves in their order
//   point_i:            point_o[h*2^LogRadix + l] = x*y + z, or x*y - z with subtract_i[h];
//                       x is x_i[l], y and z are y_i and z_i[h*2^LogRadix + l], or x where
//                       y_is_x_i[h] or z_is_x_i[h] says so;
//                       h < Results = LogRadix / 2
//
// All modulo the stage's q_i, and products divided by f (rs_vector_alu).
// transform_i.stages is a mask of positions in L0: the others pass words by, where their factors
// are -1. Words of a forward transform may be below 2q, and x of point operations any words where y
// is below q. q_i[s*Moduli + i] is modulus i of the ALUs of stage s; mu_i[s] and shift_i[s] are
// those of rs_mod_mul_barrett, and Montgomery's reduction has no use for them.
//
// factor_i is a row of factors: word 2^g + i, i < 2^g, belongs to butterflies of position
// LogRadix-1-g with i in the bits of L0 above. What enters when, after x_i:
//
//   modes                with x_i
//   q_i, mu_i, shift_i   a cycle before the ALUs of a stage take them (rs_vector_moduli)
//   z_i                  alu_latency cycles later for each stage before the one that takes it
//   y_i                  stage_factor_time() cycles after z_i
//   factor_i[2^g + i]    stage_factor_time() cycles later, and alu_latency for each stage before:
//                        g of them forward, LogRadix-1-g inverse
//
// Result h of the upper half of the lanes is computed in stage 2h, of the lower half in stage 2h +
// 1: point_stage(). Every row passes all stages, so rows of all kinds follow one another without a
// gap. The exception is a change of the transforms' direction: the table's rows of both would be
// read at once (rs_vector_array).
//
// One row a cycle. Latency: rs_vector_pkg::transform_latency, and point_latency for a stage's
// results of point operations. point_o[h*2^LogRadix + l] of the last stage, h = Results-1 in the
// lower lanes, is transform_o[l]: one register has both.
//
// Cost: LogRadix * 2^(LogRadix-1) ALUs, 6 * Width LUTs a lane or less to select their operands and
// results, delays of x to the later stages, and a register for each modulus.
module rs_vector_unit
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned Radix = 2 ** LogRadix,
  localparam int unsigned Results = LogRadix / 2,
  localparam int unsigned Moduli = alu_moduli(Cfg),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  transform_t            transform_i,
  input  logic                  point_i,
  input  logic [   Results-1:0] subtract_i,
  input  logic [   Results-1:0] y_is_x_i,
  input  logic [   Results-1:0] z_is_x_i,
  input  logic [     Width-1:0] q_i         [LogRadix*Moduli],
  input  logic [     Width-1:0] mu_i        [LogRadix],
  input  logic [ShiftWidth-1:0] shift_i     [LogRadix],
  input  logic [     Width-1:0] x_i         [Radix],
  input  logic [     Width-1:0] y_i         [Results*Radix],
  input  logic [     Width-1:0] z_i         [Results*Radix],
  input  logic [     Width-1:0] factor_i    [Radix],
  output logic [     Width-1:0] transform_o [Radix],
  output logic [     Width-1:0] point_o     [Results*Radix]
);
  localparam int unsigned Alus = Radix / 2;
  localparam int unsigned Latency = alu_latency(Cfg);

  if (LogRadix % 2 != 0 || LogRadix == 0 || LogRadix > MaxLogRadix) begin : gen_bad_radix
    $error("rs_vector_unit: LogRadix = %0d is not 2 or 4", LogRadix);
  end

  // Word 0 of a row has no butterfly.

  // ---- stages -----------------------------------------------------------------------------------
  transform_t       transform [LogRadix+1];
  logic [Width-1:0] word [LogRadix+1][Radix];
  assign transform[0] = transform_i;
  assign word[0]      = x_i;
  for (genvar s = 0; s < LogRadix; s++) begin : gen_stage
    // Of a point operation: result H of the upper half of the lanes, or the lower one.
    localparam int unsigned H = s / 2;
    localparam int unsigned First = (s % 2 == 0) ? Alus : 0;
    logic point, subtract, y_is_x, z_is_x;
    rs_delay #(.Width(4), .Depth(s * Latency)) u_point (
      .clk_i,
      .d_i({point_i, subtract_i[H], y_is_x_i[H], z_is_x_i[H]}),
      .d_o({point, subtract, y_is_x, z_is_x})
    );
    logic [Width-1:0]      q_q [Moduli];
    logic [Width-1:0]      mu_q;
    logic [ShiftWidth-1:0] shift_q;
    for (genvar i = 0; i < Moduli; i++) begin : gen_q
      logic [Width-1:0] modulus_q;
      always_ff @(posedge clk_i) modulus_q <= q_i[s*Moduli+i];
      assign q_q[i] = modulus_q;
    end
    always_ff @(posedge clk_i) begin
      mu_q    <= mu_i[s];
      shift_q <= shift_i[s];
    end
    logic [Width-1:0] x [Alus];
    logic [Width-1:0] y [Alus];
    logic [Width-1:0] z [Alus];
    logic [Width-1:0] forward_factor [Alus];
    logic [Width-1:0] inverse_factor [Alus];
    for (genvar k = 0; k < Alus; k++) begin : gen_operand
      rs_delay #(.Width(Cfg.Width), .Depth(s * Latency)) u_x (
        .clk_i, .d_i(x_i[First+k]), .d_o(x[k])
      );
      assign y[k] = y_i[H*Radix+First+k];
      assign z[k] = z_i[H*Radix+First+k];
      assign forward_factor[k] = factor_i[forward_node(LogRadix, s, k)];
      assign inverse_factor[k] = factor_i[inverse_node(LogRadix, s, k)];
    end
    rs_vector_stage #(
      .Cfg(Cfg),
      .Stage(s),
      .Reduce(s == 0),
      .TakesWords(s == 0)
    ) u_stage (
      .clk_i,
      .inverse_i(transform[s].inverse),
      .active_i(transform[s].stages[transform[s].inverse ? s : LogRadix-1-s]),
      .point_i(point),
      .negative_i(subtract),
      .y_is_x_i(y_is_x),
      .z_is_x_i(z_is_x),
      .q_i(q_q),
      .mu_i(mu_q),
      .shift_i(shift_q),
      .word_i(word[s]),
      .x_i(x),
      .y_i(y),
      .z_i(z),
      .forward_factor_i(forward_factor),
      .inverse_factor_i(inverse_factor),
      .word_o(word[s+1])
    );
    rs_delay #(
      .Width($bits(transform_t)),
      .Depth(Latency)
    ) u_transform (
      .clk_i,
      .d_i(transform[s]),
      .d_o(transform[s+1])
    );
  end

  // ---- results ----------------------------------------------------------------------------------
  // The lower lanes of the last stage's point results share registers with a transform's row.
  logic last_point;
  rs_delay #(.Depth(LogRadix * Latency)) u_last_point (.clk_i, .d_i(point_i), .d_o(last_point));
  for (genvar l = 0; l < Radix; l++) begin : gen_transform
    logic [Width-1:0] transformed, transform_q;
    assign transformed = transform[LogRadix].inverse ? word[LogRadix][reversed(LogRadix, l)] :
        word[LogRadix][l];
    if (l < Alus) begin : gen_shared
      always_ff @(posedge clk_i) begin
        transform_q <= last_point ? word[LogRadix][pair_low(LogRadix, LogRadix - 1, l)] :
            transformed;
      end
    end else begin : gen_own
      always_ff @(posedge clk_i) transform_q <= transformed;
    end
    assign transform_o[l] = transform_q;
  end
  for (genvar h = 0; h < Results; h++) begin : gen_point
    for (genvar l = 0; l < Radix; l++) begin : gen_lane
      localparam int unsigned Stage = 2 * h + ((l < Alus) ? 1 : 0);
      if (Stage == LogRadix - 1) begin : gen_shared
        assign point_o[h*Radix+l] = transform_o[l];
      end else begin : gen_own
        logic [Width-1:0] point_q;
        always_ff @(posedge clk_i) point_q <= word[Stage+1][pair_low(LogRadix, Stage, l%Alus)];
        assign point_o[h*Radix+l] = point_q;
      end
    end
  end
endmodule
