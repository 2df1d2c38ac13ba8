// rs_vector_array with its twiddle memory, and the times and latencies that the package states.
module rs_vector_array_bench
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  vector_reduction_e Reduction = VectorMontgomery,
  parameter  int unsigned StepBits = 17,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned LogRadix = 2,
  parameter  int unsigned TableRows = 1024,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned TableWidth = $clog2(TableRows),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  table_we_i,
  input  logic [TableWidth-1:0] table_waddr_i,
  input  logic [     Width-1:0] table_wdata_i [Lanes],
  input  logic                  valid_i,
  input  logic                  point_i,
  input  logic                  inverse_i,
  input  logic [  LogRadix-1:0] stages_i,
  input  logic                  rotate_i,
  input  logic [  LogRadix-1:0] exchange_i,
  input  logic [           1:0] arrange_i,
  input  logic [    Points-1:0] subtract_i,
  input  logic [    Points-1:0] y_is_x_i,
  input  logic [    Points-1:0] z_is_x_i,
  input  logic [  LogRadix-1:0] time_i,
  input  logic [  LogLanes-1:0] element_i,
  input  logic [  LogLanes-1:0] constant_i,
  input  logic [TableWidth-1:0] table_row_i,
  input  logic [     Width-1:0] q_i           [Points],
  input  logic [     Width-1:0] mu_i          [Points],
  input  logic [ShiftWidth-1:0] shift_i       [Points],
  input  logic [     Width-1:0] x_i           [Lanes],
  input  logic [     Width-1:0] y_i           [Points*Lanes],
  input  logic [     Width-1:0] z_i           [Points*Lanes],
  output logic [     Width-1:0] transform_o   [Lanes],
  output logic [     Width-1:0] point_o       [Points*Lanes],
  output logic [           7:0] y_time_o      [LogRadix],  // by stage
  output logic [           7:0] z_time_o      [LogRadix],
  output logic [           7:0] point_latency_o [LogRadix],
  output logic [           7:0] transform_latency_o,
  output logic [           7:0] turn_o
);
  function automatic vector_cfg_t configuration();
    vector_cfg_t own;
    own = DefaultCfg;
    own.Width = Width;
    own.Reduction = Reduction;
    own.StepBits = StepBits;
    own.LogLanes = LogLanes;
    own.LogRadix = LogRadix;
    own.TableRows = TableRows;
    return own;
  endfunction
  localparam vector_cfg_t Cfg = configuration();
  row_t                  row;
  logic [  LogRadix-1:0] table_re;
  logic [TableWidth-1:0] table_row [LogRadix];
  logic [     Width-1:0] factor [Lanes];
  always_comb begin
    row = '0;
    row.valid            = valid_i;
    row.point            = point_i;
    row.transform        = '{inverse: inverse_i, stages: MaxLogRadix'(stages_i)};
    row.permute.rotate   = rotate_i;
    row.permute.exchange = MaxLogRadix'(exchange_i);
    row.permute.arrange  = arrange_e'(arrange_i);
    row.y_is_x           = MaxPoints'(y_is_x_i);
    row.z_is_x           = MaxPoints'(z_is_x_i);
    row.subtract         = MaxPoints'(subtract_i);
  end
  rs_vector_table #(
    .Width(Width),
    .LogLanes(LogLanes),
    .LogRadix(LogRadix),
    .Rows(TableRows)
  ) u_table (
    .clk_i,
    .we_i(table_we_i),
    .waddr_i(table_waddr_i),
    .wdata_i(table_wdata_i),
    .re_i(table_re),
    .raddr_i(table_row),
    .rdata_o(factor)
  );
  rs_vector_array #(
    .Cfg(Cfg)
  ) u_array (
    .clk_i,
    .rst_ni,
    .row_i(row),
    .time_i,
    .element_i,
    .constant_i,
    .table_row_i,
    .q_i,
    .mu_i,
    .shift_i,
    .x_i,
    .y_i,
    .z_i,
    .table_re_o(table_re),
    .table_row_o(table_row),
    .factor_i(factor),
    .transform_o,
    .point_o
  );
  for (genvar s = 0; s < LogRadix; s++) begin : gen_stage
    assign y_time_o[s] = 8'(array_y_time(Cfg, s));
    assign z_time_o[s] = 8'(array_z_time(Cfg, s));
    assign point_latency_o[s] = 8'(array_point_latency(Cfg, s));
  end
  assign transform_latency_o = 8'(array_transform_latency(Cfg));
  assign turn_o              = 8'(array_turn(Cfg));
endmodule
