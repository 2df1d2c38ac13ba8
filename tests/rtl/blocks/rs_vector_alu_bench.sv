// rs_vector_alu, its operands, modes and modulus all in one cycle, and the latency that the package
// states.
module rs_vector_alu_bench
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  vector_reduction_e Reduction = VectorMontgomery,
  parameter  int unsigned StepBits = 17,
  parameter  bit          Reduce = 1'b0,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic                  combine_i,
  input  logic                  negative_i,
  input  logic [     Width-1:0] u_i,
  input  logic [     Width-1:0] t_i,
  input  logic [     Width-1:0] w_i,
  input  logic [     Width-1:0] q_i,
  input  logic [     Width-1:0] mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  output logic [     Width-1:0] low_o,
  output logic [     Width-1:0] high_o,
  output logic [           7:0] latency_o
);
  function automatic vector_cfg_t configuration();
    vector_cfg_t own;
    own = DefaultCfg;
    own.Width = Width;
    own.Reduction = Reduction;
    own.StepBits = StepBits;
    return own;
  endfunction
  localparam vector_cfg_t Cfg = configuration();
  localparam int unsigned Moduli = alu_moduli(Cfg);
  localparam int unsigned Combine = combine_time(Cfg);
  logic [Width-1:0]      q [Moduli];
  logic [Width-1:0]      w, mu;
  logic [ShiftWidth-1:0] shift;
  logic                  combine, late_negative;
  for (genvar i = 0; i < Moduli; i++) begin : gen_q
    rs_delay #(
      .Width(Width),
      .Depth(alu_modulus_time(Cfg, i))
    ) u_q (
      .clk_i,
      .d_i(q_i),
      .d_o(q[i])
    );
  end
  rs_delay #(.Width(Width), .Depth(factor_time())) u_w (.clk_i, .d_i(w_i), .d_o(w));
  rs_delay #(.Width(Width), .Depth(factor_time())) u_mu (.clk_i, .d_i(mu_i), .d_o(mu));
  rs_delay #(.Width(ShiftWidth), .Depth(factor_time())) u_shift (
    .clk_i, .d_i(shift_i), .d_o(shift)
  );
  rs_delay #(.Depth(Combine)) u_combine (.clk_i, .d_i(combine_i), .d_o(combine));
  rs_delay #(.Depth(Combine + 1)) u_negative (.clk_i, .d_i(negative_i), .d_o(late_negative));

  rs_vector_alu #(
    .Cfg(Cfg),
    .Reduce(Reduce)
  ) u_alu (
    .clk_i,
    .inverse_i,
    .negative_i,
    .combine_i(combine),
    .late_negative_i(late_negative),
    .u_i,
    .t_i,
    .w_i(w),
    .q_i(q),
    .mu_i(mu),
    .shift_i(shift),
    .low_o,
    .high_o
  );
  assign latency_o = 8'(alu_latency(Cfg));
endmodule
