// One stage of a unit: 2^(LogRadix-1) ALUs, and the delays of the modes that they share.
//
// ALU k computes on the words of positions l = pair_low(k) and l + 2^(LogRadix-1-Stage), u and t of
// a butterfly, and returns low_o and high_o there. Without active_i words pass where factors are -1
// (rs_vector_alu). With point_i it computes z_i[k] and x_i[k] * y_i[k] instead; with TakesWords x
// is the word t; with y_is_x_i or z_is_x_i y or z is x_i.
//
// Factors and y_i come stage_factor_time() cycles after everything else: factor k is
// forward_factor_i[k], or inverse_factor_i[k] in a row of an inverse transform. q_i, mu_i and
// shift_i come when an ALU takes them (rs_vector_alu).
//
// One row a cycle, latency rs_vector_pkg::alu_latency. Cost: the ALUs, and 3 * Width LUTs for each
// to select operands.
module rs_vector_stage
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  parameter  int unsigned Stage = 0,
  parameter  bit          Reduce = 1'b0,
  parameter  bit          TakesWords = 1'b0,
  localparam int unsigned Radix = 2 ** LogRadix,
  localparam int unsigned Alus = Radix / 2,
  localparam int unsigned Moduli = alu_moduli(Cfg),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic                  active_i,
  input  logic                  point_i,
  input  logic                  negative_i,        // of a point operation: x*y - z
  input  logic                  y_is_x_i,          // of a point operation: its y is its x
  input  logic                  z_is_x_i,
  input  logic [     Width-1:0] q_i                [Moduli],
  input  logic [     Width-1:0] mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [     Width-1:0] word_i             [Radix],
  input  logic [     Width-1:0] x_i                [Alus],
  input  logic [     Width-1:0] z_i                [Alus],
  input  logic [     Width-1:0] y_i                [Alus],
  input  logic [     Width-1:0] forward_factor_i   [Alus],
  input  logic [     Width-1:0] inverse_factor_i   [Alus],
  output logic [     Width-1:0] word_o             [Radix]
);
  localparam int unsigned Combine = combine_time(Cfg);

  // ---- what travels with a row ------------------------------------------------------------------
  logic inverse, combine, late_combine, negative, late_negative;
  logic point_factor, inverse_factor, x_factor;
  assign inverse  = !point_i && active_i && inverse_i;
  assign combine  = point_i || (active_i && !inverse_i);
  assign negative = point_i && negative_i;
  rs_delay #(.Depth(Combine)) u_combine (.clk_i, .d_i(combine), .d_o(late_combine));
  rs_delay #(.Depth(Combine + 1)) u_negative (.clk_i, .d_i(negative), .d_o(late_negative));
  rs_delay #(.Width(3), .Depth(stage_factor_time())) u_factor (
    .clk_i, .d_i({point_i, inverse_i, y_is_x_i}), .d_o({point_factor, inverse_factor, x_factor})
  );

  // ---- ALUs -------------------------------------------------------------------------------------
  for (genvar k = 0; k < Alus; k++) begin : gen_alu
    localparam int unsigned Low = pair_low(LogRadix, Stage, k);
    localparam int unsigned High = Low + 2 ** (LogRadix - 1 - Stage);
    logic [Width-1:0] u, t, x, x_late, w_q;
    assign u = point_i ? (z_is_x_i ? x : z_i[k]) ^ {Width{negative_i}} : word_i[Low];
    if (TakesWords) begin : gen_word
      assign x = word_i[High];
      assign t = word_i[High];
    end else begin : gen_x
      assign x = x_i[k];
      assign t = point_i ? x : word_i[High];
    end
    rs_delay #(.Width(Cfg.Width), .Depth(stage_factor_time())) u_x_late (
      .clk_i, .d_i(x), .d_o(x_late)
    );
    always_ff @(posedge clk_i) begin
      if (point_factor) w_q <= x_factor ? x_late : y_i[k];
      else w_q <= inverse_factor ? inverse_factor_i[k] : forward_factor_i[k];
    end

    rs_vector_alu #(
      .Cfg(Cfg),
      .Reduce(Reduce)
    ) u_alu (
      .clk_i,
      .inverse_i(inverse),
      .negative_i(negative),
      .combine_i(late_combine),
      .late_negative_i(late_negative),
      .u_i(u),
      .t_i(t),
      .w_i(w_q),
      .q_i,
      .mu_i,
      .shift_i,
      .low_o(word_o[Low]),
      .high_o(word_o[High])
    );
  end
endmodule
