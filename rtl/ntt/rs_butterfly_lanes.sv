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
// lane i + Cores, which butterflies leave free. With TwiddlesStored it is tw_factor[i]. With
// constant_i it is k1 instead.
//
// Operands a may be any Width-bit words where B is below q, and canonical residues in butterflies;
// all other operands are canonical, and so is every result. With use_link_i operand a is link_i.
//
// With one multiplier for each core (Multipliers = 1) instead of two, that of lane i computes first
// lane i, then lane i + Cores: pointwise a row takes two cycles, begins with valid_i, and its
// results come a cycle later. With sum_i no multiplier is passed, and B is taken as 1: then a row
// takes a cycle, and its results come mod_mul_latency() + 1 cycles sooner. Butterflies are the
// same.
//
// One row a cycle. Inverse butterflies add and subtract in front of the multipliers, everything
// else behind them, with the same adders. So an inverse butterfly takes
// rs_ntt_pkg::lanes_latency() cycles, and everything else lanes_wait() less. Factors are those of
// operands that stand at the multipliers: tw_factor_i comes with a_i, in an inverse butterfly
// pre_latency() cycles behind it, and tw_hi_i and tw_lo_i come mod_mul_latency() + 1 cycles ahead
// of that. The modes, constants and modulus hold still from a cycle before the first step to the
// last one's result: each core has registers of its own for the modes. Cost: 2*Cores modular adders and halvings, and Multipliers*Cores modular multipliers.
module rs_butterfly_lanes
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Multipliers = Cfg.Multipliers,
  localparam int unsigned Twiddles = Cfg.Twiddles,
  localparam int unsigned Reduction = Cfg.Reduction,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  valid_i,      // a row's words are there
  input  logic                  sum_i,        // with one multiplier a core: a + c, or a - c
  input  logic                  butterfly_i,
  input  logic                  inverse_i,
  input  logic                  sub_i,
  input  logic                  constant_i,   // a butterfly's factor is k1
  input  logic                  use_b_i,      // B is b, otherwise k1 (the constant 1 comes as k1)
  input  logic                  use_c_i,      // C is c, otherwise k2 (and 0 as k2)
  input  logic                  use_link_i,
  input  logic [Width-1:0]      k1_i,
  input  logic [Width-1:0]      k2_i,
  input  logic [Width-1:0]      q_i,
  input  logic [Width-1:0]      mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [IndexWidth-1:0] index_i,
  input  logic [Width-1:0]      a_i [Lanes],
  input  logic [Width-1:0]      b_i [Lanes],
  input  logic [Width-1:0]      c_i [Lanes],
  input  logic [Width-1:0]      link_i [Lanes],
  input  logic [Width-1:0]      tw_factor_i [Cores],
  input  logic [Width-1:0]      tw_hi_i [Cores],
  input  logic [Width-1:0]      tw_lo_i,
  output logic [Width-1:0]      y_o [Lanes]
);
  localparam int unsigned Multiplied = Multipliers * Cores;  // lanes with a multiplier
  if (Multipliers != 2 && (Multipliers != 1 || Twiddles != TwiddlesStored))
  begin : gen_bad_multipliers
    $error("rs_butterfly_lanes: Multipliers = %0d, not 2, or 1 with stored twiddles", Multipliers);
  end

  // ---- modes, of each core ----------------------------------------------------------------------
  typedef struct packed {
    logic sum;
    logic butterfly;
    logic inverse;
    logic sub;
    logic use_k1;  // the factor is k1
    logic use_c;
    logic use_link;
  } modes_t;
  modes_t modes;
  modes_t mode [Cores];
  assign modes = '{
          sum: sum_i,
          butterfly: butterfly_i,
          inverse: inverse_i,
          sub: sub_i,
          use_k1: butterfly_i ? constant_i : !use_b_i,
          use_c: use_c_i,
          use_link: use_link_i
      };
  for (genvar i = 0; i < Cores; i++) begin : gen_modes
    rs_copy #(
      .Width($bits(modes_t))
    ) u_modes (
      .clk_i,
      .d_i(modes),
      .q_o(mode[i])
    );
  end

  logic [Width-1:0] product [Multiplied];
  logic [Width-1:0] factor [Cores];
  for (genvar i = 0; i < Cores; i++) begin : gen_factor
    if (Twiddles == TwiddlesStored) begin : gen_stored
      assign factor[i] = tw_factor_i[i];
    end else begin : gen_generated
      assign factor[i]     = product[i+Cores];
    end
  end

  // ---- pointwise operands of the lower lanes: with one multiplier, then those of the upper ones -
  logic             second [Cores];  // which of two words x is
  logic [Width-1:0] point_x [Cores][2];
  logic [Width-1:0] point_b [Cores];
  logic [Width-1:0] point_c [Cores];
  if (Multipliers == 1) begin : gen_in_turn
    for (genvar i = 0; i < Cores; i++) begin : gen_core
      logic             upper_q;
      logic [Width-1:0] x_q, b_q, c_q;
      always_ff @(posedge clk_i) begin
        upper_q <= valid_i && !mode[i].butterfly;
        x_q <= mode[i].use_link ? link_i[i+Cores] : a_i[i+Cores];
        b_q <= b_i[i+Cores];
        c_q <= c_i[i+Cores];
      end
      assign point_x[i] = '{mode[i].use_link ? link_i[i] : a_i[i], x_q};
      assign point_b[i] = upper_q ? b_q : b_i[i];
      assign point_c[i] = upper_q ? c_q : c_i[i];
      assign second[i]  = upper_q;
    end
  end else begin : gen_at_once
    for (genvar i = 0; i < Cores; i++) begin : gen_core
      assign point_x[i] = '{a_i[i], link_i[i]};
      assign point_b[i] = b_i[i];
      assign point_c[i] = c_i[i];
      assign second[i]  = mode[i].use_link;
    end
  end

  // ---- operands of the multipliers, and what is delayed with them -------------------------------
  logic [Width-1:0] half_sum [Cores];  // of an inverse butterfly
  logic [Width-1:0] half_difference [Cores];
  logic [Width-1:0] x_d [Cores];
  logic [Width-1:0] z_d [Cores];
  for (genvar i = 0; i < Cores; i++) begin : gen_operand
    rs_mux #(
      .Width(Cfg.Width),
      .Words(4)
    ) u_x (
      .index_i({mode[i].butterfly, mode[i].butterfly ? mode[i].inverse : second[i]}),
      .word_i('{point_x[i][0], point_x[i][1], a_i[i+Cores], half_difference[i]}),
      .word_o(x_d[i])
    );
    rs_mux #(
      .Width(Cfg.Width),
      .Words(4)
    ) u_z (
      .index_i({mode[i].butterfly, mode[i].butterfly ? mode[i].inverse : mode[i].use_c}),
      .word_i('{k2_i, point_c[i], a_i[i], half_sum[i]}),
      .word_o(z_d[i])
    );
  end

  logic [Width-1:0] x_q [Multiplied];  // product = x * y
  logic [Width-1:0] y_q [Multiplied];
  logic [Width-1:0] z_q [Multiplied];  // what is added to it
  for (genvar i = 0; i < Cores; i++) begin : gen_lower
    always_ff @(posedge clk_i) begin
      x_q[i] <= x_d[i];
      z_q[i] <= z_d[i];
      if (mode[i].use_k1) y_q[i] <= k1_i;
      else y_q[i] <= mode[i].butterfly ? factor[i] : point_b[i];
    end
  end
  for (genvar l = Cores; l < Multiplied; l++) begin : gen_upper
    modes_t own;
    assign own = mode[l-Cores];
    always_ff @(posedge clk_i) begin
      if (own.butterfly) x_q[l] <= tw_hi_i[l-Cores];
      else x_q[l] <= own.use_link ? link_i[l] : a_i[l];
      if (own.butterfly) y_q[l] <= tw_lo_i;
      else y_q[l] <= own.use_k1 ? k1_i : b_i[l];
      z_q[l] <= own.use_c ? c_i[l] : k2_i;
    end
  end

  logic [Width-1:0] z_late [Multiplied];
  for (genvar l = 0; l < Multiplied; l++) begin : gen_lane
    rs_mod_mul #(
      .Width(Cfg.Width),
      .Reduction(Cfg.Reduction),
      .Family(Cfg.Family)
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
      .Width(Cfg.Width),
      .Depth(mod_mul_latency(Reduction))
    ) u_wait (
      .clk_i,
      .d_i(z_q[l]),
      .d_o(z_late[l])
    );
  end

  // ---- sums and differences ---------------------------------------------------------------------
  for (genvar i = 0; i < Cores; i++) begin : gen_adders
    modes_t own;
    logic   sums_first;  // the adders work in front of the multipliers
    assign own        = mode[i];
    assign sums_first = own.butterfly && own.inverse;
    logic [Width-1:0] low_first, low_second, high_first, high_second, low, high;
    // Pointwise operands of both lanes: those of a sum, or products and their summands. Without a
    // multiplier of its own the upper lane takes its product one cycle after the lower lane.
    logic [Width-1:0] point_first [2], point_second [2];
    if (Multipliers == 2) begin : gen_two
      assign point_first  = '{product[i], product[i+Cores]};
      assign point_second = '{z_late[i], z_late[i+Cores]};
    end else begin : gen_one
      assign point_first  = own.sum ? '{a_i[i], a_i[i+Cores]} : '{product[i], product[i]};
      assign point_second = own.sum ? '{c_i[i], c_i[i+Cores]} : '{z_late[i], z_late[i]};
    end
    always_comb begin
      low_first   = sums_first ? a_i[i] : point_first[0];
      low_second  = sums_first ? a_i[i+Cores] : point_second[0];
      high_first  = point_first[1];
      high_second = point_second[1];
      if (own.butterfly) begin
        high_first  = own.inverse ? a_i[i+Cores] : z_late[i];
        high_second = own.inverse ? a_i[i] : product[i];
      end
    end
    rs_mod_addsub #(
      .Width(Cfg.Width)
    ) u_low (
      .clk_i,
      .sub_i(own.sub && !own.butterfly),
      .a_i(low_first),
      .b_i(low_second),
      .q_i,
      .s_o(low)
    );
    rs_mod_addsub #(
      .Width(Cfg.Width)
    ) u_high (
      .clk_i,
      .sub_i(own.sub || own.butterfly),
      .a_i(high_first),
      .b_i(high_second),
      .q_i,
      .s_o(high)
    );
    rs_mod_halve #(
      .Width(Cfg.Width)
    ) u_half_sum (
      .clk_i,
      .x_i(low),
      .q_i,
      .h_o(half_sum[i])
    );
    rs_mod_halve #(
      .Width(Cfg.Width)
    ) u_half_difference (
      .clk_i,
      .x_i(high),
      .q_i,
      .h_o(half_difference[i])
    );
    if (Multipliers == 2) begin : gen_at_once
      assign y_o[i]       = sums_first ? z_late[i] : low;
      assign y_o[i+Cores] = sums_first ? product[i] : high;
    end else begin : gen_in_turn
      logic [Width-1:0] lower_q;
      always_ff @(posedge clk_i) lower_q <= low;
      logic row_at_once;
      assign row_at_once  = own.butterfly || own.sum;
      assign y_o[i]       = sums_first ? z_late[i] : (row_at_once ? low : lower_q);
      assign y_o[i+Cores] = sums_first ? product[i] : (row_at_once ? high : low);
    end
  end
endmodule
