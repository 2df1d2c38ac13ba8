// The arithmetic of the butterfly cores: 2*Cores lanes that compute pointwise, or Cores
// butterflies.
//
//   mode       result lane l
//   pointwise  a*B + C, or a*B - C where sub_i is set; B is b, k1 or 1, and C is c, k2 or 0
//   forward    u + w*t and u - w*t           decimation in time (Cooley, Tukey)
//   inverse    (u + t)/2 and w*(t - u)/2     decimation in frequency (Gentleman, Sande);
//                                            w = -psi^(-e), hence t - u
//
// Butterfly i has u in lane i, t in lane i + Cores, of operand a, and its two results in the same
// lanes. With TwiddlesGenerated its factor is w = tw_hi[i] * tw_lo, computed by the multiplier of
// lane i + Cores, which butterflies leave free: tw_hi_i and tw_lo_i come mod_mul_latency() + 1 -
// pre_latency() cycles ahead of the operands. With TwiddlesStored it is tw_factor[i], which comes
// pre_latency() cycles behind them. With constant_i it is k1 instead.
//
// Operands a may be any Width-bit words where B is below q, and canonical residues in butterflies;
// all other operands are canonical, and so is every result. One row a cycle, latency
// rs_rpau_pkg::lanes_latency(). The modes, constants and modulus hold still while steps are under
// way. Cost: 2*Cores modular multipliers, 4*Cores modular adders, 2*Cores halvings.
module rs_butterfly_lanes
  import rs_arith_pkg::*;
  import rs_rpau_pkg::*;
#(
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Twiddles = TwiddlesGenerated,
  parameter  int unsigned Reduction = ReductionBarrett,
  parameter  int unsigned Family = 0,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  butterfly_i,
  input  logic                  inverse_i,
  input  logic                  sub_i,
  input  logic                  constant_i,   // a butterfly's factor is k1
  input  logic                  use_b_i,      // B is b, otherwise k1 (the constant 1 comes as k1)
  input  logic                  use_c_i,      // C is c, otherwise k2 (and 0 as k2)
  input  logic [Width-1:0]      k1_i,
  input  logic [Width-1:0]      k2_i,
  input  logic [Width-1:0]      q_i,
  input  logic [Width-1:0]      mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Width-1:0]      a_i [Lanes],
  input  logic [Width-1:0]      b_i [Lanes],
  input  logic [Width-1:0]      c_i [Lanes],
  input  logic [Width-1:0]      tw_factor_i [Cores],
  input  logic [Width-1:0]      tw_hi_i [Cores],
  input  logic [Width-1:0]      tw_lo_i,
  output logic [Width-1:0]      y_o [Lanes]
);
  // ---- in front of the multipliers --------------------------------------------------------------
  logic [Width-1:0] a_late [Lanes];
  logic [Width-1:0] b_late [Lanes];
  logic [Width-1:0] c_late [Lanes];
  logic [Width-1:0] half_sum [Cores];
  logic [Width-1:0] half_difference [Cores];

  for (genvar l = 0; l < Lanes; l++) begin : gen_wait
    rs_delay #(.Width(Width), .Depth(pre_latency())) u_a (.clk_i, .d_i(a_i[l]), .d_o(a_late[l]));
    rs_delay #(.Width(Width), .Depth(pre_latency())) u_b (.clk_i, .d_i(b_i[l]), .d_o(b_late[l]));
    rs_delay #(.Width(Width), .Depth(pre_latency())) u_c (.clk_i, .d_i(c_i[l]), .d_o(c_late[l]));
  end

  for (genvar i = 0; i < Cores; i++) begin : gen_pre
    logic [Width-1:0] sum, difference;
    rs_mod_addsub #(
      .Width(Width)
    ) u_sum (
      .clk_i,
      .sub_i(1'b0),
      .a_i(a_i[i]),
      .b_i(a_i[i+Cores]),
      .q_i,
      .s_o(sum)
    );
    rs_mod_addsub #(
      .Width(Width)
    ) u_difference (
      .clk_i,
      .sub_i(1'b1),
      .a_i(a_i[i+Cores]),
      .b_i(a_i[i]),
      .q_i,
      .s_o(difference)
    );
    rs_mod_halve #(
      .Width(Width)
    ) u_half_sum (
      .clk_i,
      .x_i(sum),
      .q_i,
      .h_o(half_sum[i])
    );
    rs_mod_halve #(
      .Width(Width)
    ) u_half_difference (
      .clk_i,
      .x_i(difference),
      .q_i,
      .h_o(half_difference[i])
    );
  end

  logic [Width-1:0] product [Lanes];
  logic [Width-1:0] factor [Cores];
  for (genvar i = 0; i < Cores; i++) begin : gen_factor
    if (Twiddles == TwiddlesStored) begin : gen_stored
      assign factor[i] = tw_factor_i[i];
    end else begin : gen_generated
      logic unused_factor;
      assign unused_factor = ^tw_factor_i[i];
      assign factor[i]     = product[i+Cores];
    end
  end

  // ---- operands of the multipliers, and what waits beside them ----------------------------------
  logic [Width-1:0] x_q [Lanes];  // product = x * y
  logic [Width-1:0] y_q [Lanes];
  logic [Width-1:0] z_q [Lanes];  // what is added to it

  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      x_q[l] <= a_late[l];
      y_q[l] <= use_b_i ? b_late[l] : k1_i;
      z_q[l] <= use_c_i ? c_late[l] : k2_i;
    end
    if (butterfly_i) begin
      for (int unsigned i = 0; i < Cores; i++) begin
        x_q[i]       <= inverse_i ? half_difference[i] : a_late[i+Cores];
        y_q[i]       <= constant_i ? k1_i : factor[i];
        z_q[i]       <= inverse_i ? half_sum[i] : a_late[i];
        x_q[i+Cores] <= tw_hi_i[i];
        y_q[i+Cores] <= tw_lo_i;
      end
    end
  end

  logic [Width-1:0] z_late [Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_mod_mul #(
      .Width(Width),
      .Reduction(Reduction),
      .Family(Family)
    ) u_mul (
      .clk_i,
      .a_i(x_q[l]),
      .b_i(y_q[l]),
      .q_i,
      .mu_i,
      .shift_i,
      .index_i,
      .p_o(product[l])
    );
    rs_delay #(
      .Width(Width),
      .Depth(mod_mul_latency(Reduction))
    ) u_wait (
      .clk_i,
      .d_i(z_q[l]),
      .d_o(z_late[l])
    );
  end

  // ---- behind the multipliers -------------------------------------------------------------------
  for (genvar i = 0; i < Cores; i++) begin : gen_post
    logic [Width-1:0] low_first, high_first, high_second;
    always_comb begin
      low_first   = product[i];
      high_first  = product[i+Cores];
      high_second = z_late[i+Cores];
      if (butterfly_i && inverse_i) begin
        low_first   = '0;
        high_first  = product[i];
        high_second = '0;
      end else if (butterfly_i) begin
        high_first  = z_late[i];
        high_second = product[i];
      end
    end
    rs_mod_addsub #(
      .Width(Width)
    ) u_low (
      .clk_i,
      .sub_i(sub_i && !butterfly_i),
      .a_i(low_first),
      .b_i(z_late[i]),
      .q_i,
      .s_o(y_o[i])
    );
    rs_mod_addsub #(
      .Width(Width)
    ) u_high (
      .clk_i,
      .sub_i(butterfly_i ? !inverse_i : sub_i),
      .a_i(high_first),
      .b_i(high_second),
      .q_i,
      .s_o(y_o[i+Cores])
    );
  end
endmodule
