// rs_vector_unit behind the delays of its moduli, with the times and latencies that the package
// states.
module rs_vector_unit_bench
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  vector_reduction_e Reduction = VectorMontgomery,
  parameter  int unsigned StepBits = 17,
  parameter  int unsigned LogRadix = 2,
  localparam int unsigned Radix = 2 ** LogRadix,
  localparam int unsigned Results = LogRadix / 2,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic [  LogRadix-1:0] stages_i,
  input  logic                  point_i,
  input  logic [   Results-1:0] subtract_i,
  input  logic [   Results-1:0] y_is_x_i,
  input  logic [   Results-1:0] z_is_x_i,
  input  logic [     Width-1:0] q_i           [Results],
  input  logic [     Width-1:0] mu_i          [Results],
  input  logic [ShiftWidth-1:0] shift_i       [Results],
  input  logic [     Width-1:0] x_i           [Radix],
  input  logic [     Width-1:0] y_i           [Results*Radix],
  input  logic [     Width-1:0] z_i           [Results*Radix],
  input  logic [     Width-1:0] factor_i      [Radix],
  output logic [     Width-1:0] transform_o   [Radix],
  output logic [     Width-1:0] point_o       [Results*Radix],
  output logic [           7:0] factor_time_o,
  output logic [           7:0] stage_latency_o,
  output logic [           7:0] transform_latency_o,
  output logic [           7:0] point_latency_o
);
  function automatic vector_cfg_t configuration();
    vector_cfg_t own;
    own = DefaultCfg;
    own.Width = Width;
    own.Reduction = Reduction;
    own.StepBits = StepBits;
    own.LogRadix = LogRadix;
    return own;
  endfunction
  localparam vector_cfg_t Cfg = configuration();
  localparam int unsigned Moduli = alu_moduli(Cfg);
  logic [     Width-1:0] q [LogRadix*Moduli];
  logic [     Width-1:0] mu [LogRadix];
  logic [ShiftWidth-1:0] shift [LogRadix];
  rs_vector_moduli #(
    .Cfg(Cfg)
  ) u_moduli (
    .clk_i,
    .point_i,
    .q_i,
    .mu_i,
    .shift_i,
    .q_o(q),
    .mu_o(mu),
    .shift_o(shift)
  );
  rs_vector_unit #(
    .Cfg(Cfg)
  ) u_unit (
    .clk_i,
    .transform_i('{inverse: inverse_i, stages: MaxLogRadix'(stages_i)}),
    .point_i,
    .subtract_i,
    .y_is_x_i,
    .z_is_x_i,
    .q_i(q),
    .mu_i(mu),
    .shift_i(shift),
    .x_i,
    .y_i,
    .z_i,
    .factor_i,
    .transform_o,
    .point_o
  );
  assign factor_time_o       = 8'(stage_factor_time());
  assign stage_latency_o     = 8'(alu_latency(Cfg));
  assign transform_latency_o = 8'(transform_latency(Cfg));
  assign point_latency_o     = 8'(point_latency(Cfg));
endmodule
