// The array of a cluster: the permutation network, and behind it 2^(LogLanes-LogRadix) units.
//
// A row of 2^LogLanes words enters each cycle, with row_i.valid: a pass of a transform or, with
// row_i.point, an operand X of point operations (rs_vector_permute and rs_vector_unit define what
// both do with it). All moduli, and what else belongs to it, enter with it, but
//
//   z_i        array_z_time() cycles later, by the stage that takes it (point_stage); word
//              h*2^LogLanes + l is lane l of Z_h
//   y_i        array_y_time() cycles later; likewise
//   factor_i   TableLatency cycles after table_re_o[g] has asked for words 2^g to 2^(g+1) - 1 of
//              each unit's 2^LogRadix words in row table_row_o[g]
//
// transform_o has the row of a transform array_transform_latency cycles after it entered, and
// point_o results of point operations array_point_latency cycles after x.
//
// A row in each cycle, with two rules: rows of a pass with an exchange are contiguous
// (rs_vector_permute); and rows of a transform of the other direction come array_turn() cycles or
// more after a row of a transform.
//
// Cost: the network and the units, and delays of moduli and controls once for all units.
`include "rs_assert.svh"

module rs_vector_array
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned TableWidth = $clog2(Cfg.TableRows),
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  row_t                  row_i,
  input  logic [  LogRadix-1:0] time_i,
  input  logic [  LogLanes-1:0] element_i,
  input  logic [  LogLanes-1:0] constant_i,
  input  logic [TableWidth-1:0] table_row_i,
  input  logic [     Width-1:0] q_i           [Points],  // the first is that of a transform
  input  logic [     Width-1:0] mu_i          [Points],
  input  logic [ShiftWidth-1:0] shift_i       [Points],
  input  logic [     Width-1:0] x_i           [Lanes],
  input  logic [     Width-1:0] y_i           [Points*Lanes],
  input  logic [     Width-1:0] z_i           [Points*Lanes],
  output logic [  LogRadix-1:0] table_re_o,
  output logic [TableWidth-1:0] table_row_o   [LogRadix],
  input  logic [     Width-1:0] factor_i      [Lanes],
  output logic [     Width-1:0] transform_o   [Lanes],
  output logic [     Width-1:0] point_o       [Points*Lanes]
);
  localparam int unsigned Radix = 2 ** LogRadix;
  localparam int unsigned Moduli = alu_moduli(Cfg);
  localparam int unsigned Network = permute_latency(LogLanes, LogRadix);
  localparam int unsigned AluLatency = alu_latency(Cfg);
  localparam int unsigned ToTable = array_table_time(Cfg, 0);

  // ---- running transforms, as far as the table needs them: bit i is the row of i cycles before -
  localparam int unsigned Last = ToTable + (LogRadix - 1) * AluLatency;
  logic [Last:0] transforms;
  logic [Last:1] transforms_q;
  assign transforms = {transforms_q, row_i.valid && !row_i.point};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) transforms_q <= '0;
    else transforms_q <= transforms[Last-1:0];
  end

  // ---- network ----------------------------------------------------------------------------------
  permute_t         permute;
  logic [Width-1:0] x [Lanes];
  always_comb begin
    permute          = row_i.permute;
    permute.exchange = row_i.permute.exchange & {MaxLogRadix{row_i.valid}};
  end
  rs_vector_permute #(
    .Width(Cfg.Width),
    .LogLanes(Cfg.LogLanes),
    .LogRadix(Cfg.LogRadix)
  ) u_permute (
    .clk_i,
    .permute_i(permute),
    .time_i,
    .element_i,
    .constant_i,
    .x_i,
    .x_o(x)
  );

  // ---- what meets the row behind it -------------------------------------------------------------
  transform_t transform;
  logic       point;
  rs_delay #(
    .Width($bits(transform_t)),
    .Depth(Network)
  ) u_transform (
    .clk_i,
    .d_i(row_i.transform),
    .d_o(transform)
  );
  rs_delay #(.Depth(Network)) u_point (
    .clk_i, .d_i(row_i.valid && row_i.point), .d_o(point)
  );
  logic [Points-1:0] subtract, y_is_x, z_is_x;
  rs_delay #(.Width(3 * Points), .Depth(Network)) u_results (
    .clk_i,
    .d_i({row_i.subtract[Points-1:0], row_i.y_is_x[Points-1:0], row_i.z_is_x[Points-1:0]}),
    .d_o({subtract, y_is_x, z_is_x})
  );

  // Moduli, with a register in front of the units' own: one drives those of all units.
  logic                  point_early;
  logic [Width-1:0]      q_early [Points];
  logic [Width-1:0]      mu_early [Points];
  logic [ShiftWidth-1:0] shift_early [Points];
  rs_delay #(.Depth(Network - 1)) u_point_early (
    .clk_i, .d_i(row_i.point), .d_o(point_early)
  );
  for (genvar h = 0; h < Points; h++) begin : gen_modulus
    rs_delay #(.Width(2 * Width + ShiftWidth), .Depth(Network - 1)) u_modulus (
      .clk_i,
      .d_i({q_i[h], mu_i[h], shift_i[h]}),
      .d_o({q_early[h], mu_early[h], shift_early[h]})
    );
  end
  logic [Width-1:0]      q [LogRadix*Moduli];
  logic [Width-1:0]      mu [LogRadix];
  logic [ShiftWidth-1:0] shift [LogRadix];
  logic [Width-1:0]      q_q [LogRadix*Moduli];
  logic [Width-1:0]      mu_q [LogRadix];
  logic [ShiftWidth-1:0] shift_q [LogRadix];
  rs_vector_moduli #(
    .Cfg(Cfg)
  ) u_moduli (
    .clk_i,
    .point_i(point_early),
    .q_i(q_early),
    .mu_i(mu_early),
    .shift_i(shift_early),
    .q_o(q),
    .mu_o(mu),
    .shift_o(shift)
  );
  always_ff @(posedge clk_i) begin
    q_q     <= q;
    mu_q    <= mu;
    shift_q <= shift;
  end

  // ---- factors: the table's row and the direction, when each stage needs them -------------------
  logic [TableWidth-1:0] row_of_stage [LogRadix];
  logic [LogRadix-1:0]   forward, inverse;
  for (genvar s = 0; s < LogRadix; s++) begin : gen_stage
    logic [TableWidth-1:0] row;
    logic                  direction;
    if (s == 0) begin : gen_first
      rs_delay #(.Width(TableWidth + 1), .Depth(ToTable)) u_row (
        .clk_i, .d_i({row_i.transform.inverse, table_row_i}), .d_o({direction, row})
      );
    end else begin : gen_later
      rs_delay #(.Width(TableWidth + 1), .Depth(AluLatency)) u_row (
        .clk_i,
        .d_i({gen_stage[s-1].direction, gen_stage[s-1].row}),
        .d_o({direction, row})
      );
    end
    assign row_of_stage[s] = row;
    assign forward[s]      = transforms[ToTable+s*AluLatency] && !direction;
    assign inverse[s]      = transforms[ToTable+s*AluLatency] && direction;
  end
  for (genvar g = 0; g < LogRadix; g++) begin : gen_table
    assign table_re_o[g]  = forward[g] || inverse[LogRadix-1-g];
    assign table_row_o[g] = forward[g] ? row_of_stage[g] : row_of_stage[LogRadix-1-g];
    `RS_ASSERT(OneDirection_A, !(forward[g] && inverse[LogRadix-1-g]),
               $sformatf("stage %0d has rows of both directions: let array_turn() cycles pass", g))
  end

  // ---- units ------------------------------------------------------------------------------------
  for (genvar u = 0; u < Lanes / Radix; u++) begin : gen_unit
    logic [Width-1:0] unit_x [Radix];
    logic [Width-1:0] unit_factor [Radix];
    logic [Width-1:0] unit_y [Points*Radix];
    logic [Width-1:0] unit_z [Points*Radix];
    logic [Width-1:0] unit_transform [Radix];
    logic [Width-1:0] unit_point [Points*Radix];
    for (genvar l = 0; l < Radix; l++) begin : gen_lane
      assign unit_x[l]      = x[u*Radix+l];
      assign unit_factor[l] = factor_i[u*Radix+l];
      assign transform_o[u*Radix+l] = unit_transform[l];
      for (genvar h = 0; h < Points; h++) begin : gen_point
        assign unit_y[h*Radix+l]            = y_i[h*Lanes+u*Radix+l];
        assign unit_z[h*Radix+l]            = z_i[h*Lanes+u*Radix+l];
        assign point_o[h*Lanes+u*Radix+l]  = unit_point[h*Radix+l];
      end
    end
    rs_vector_unit #(
      .Cfg(Cfg)
    ) u_unit (
      .clk_i,
      .transform_i(transform),
      .point_i(point),
      .subtract_i(subtract),
      .y_is_x_i(y_is_x),
      .z_is_x_i(z_is_x),
      .q_i(q_q),
      .mu_i(mu_q),
      .shift_i(shift_q),
      .x_i(unit_x),
      .y_i(unit_y),
      .z_i(unit_z),
      .factor_i(unit_factor),
      .transform_o(unit_transform),
      .point_o(unit_point)
    );
  end
endmodule
