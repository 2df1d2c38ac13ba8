// A butterfly, of the forward transform (Cooley, Tukey) or of the inverse one (Gentleman, Sande):
//
//   forward   u_o = u_i + factor_i * v_i    v_o = u_i - factor_i * v_i
//   inverse   u_o = u_i + v_i               v_o = factor_i * (v_i - u_i)
//
// The same blocks in another order. One a cycle, latency rs_stream_pkg::butterfly_cycles. factor_i,
// in the multiplier's form, and modulus_i stand with the multiplier's operand: with v_i, or for the
// inverse mod_addsub_latency() later. q_i belongs to the words that were added in the cycle before.
module rs_stream_butterfly
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  bit          Inverse = 1'b0,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned ModulusWidth = modulus_width(Cfg)
) (
  input  logic                    clk_i,
  input  logic [Width-1:0]        q_i,
  input  logic [ModulusWidth-1:0] modulus_i,
  input  logic [Width-1:0]        factor_i,
  input  logic [Width-1:0]        u_i,
  input  logic [Width-1:0]        v_i,
  output logic [Width-1:0]        u_o,
  output logic [Width-1:0]        v_o
);
  logic [Width-1:0] sum, difference, early, late, multiplied, product;
  logic [Width-1:0] added, subtracted_from, subtracted;
  if (Inverse) begin : gen_inverse
    assign added           = v_i;
    assign subtracted_from = v_i;
    assign subtracted      = u_i;
    assign early           = sum;
    assign multiplied      = difference;
    assign u_o             = late;
    assign v_o             = product;
  end else begin : gen_forward
    assign added           = product;
    assign subtracted_from = late;
    assign subtracted      = product;
    assign early           = u_i;
    assign multiplied      = v_i;
    assign u_o             = sum;
    assign v_o             = difference;
  end

  rs_stream_mul #(
    .Cfg(Cfg)
  ) u_mul (
    .clk_i,
    .a_i(multiplied),
    .b_i(factor_i),
    .modulus_i,
    .p_o(product)
  );
  rs_delay #(
    .Width(Cfg.Width),
    .Depth(mul_cycles(Cfg))
  ) u_late (
    .clk_i,
    .d_i(early),
    .d_o(late)
  );
  rs_mod_addsub #(.Width(Cfg.Width)) u_sum (
    .clk_i,
    .sub_i(1'b0),
    .a_i(Inverse ? u_i : late),
    .b_i(added),
    .q_i,
    .s_o(sum)
  );
  rs_mod_addsub #(.Width(Cfg.Width)) u_difference (
    .clk_i,
    .sub_i(1'b1),
    .a_i(subtracted_from),
    .b_i(subtracted),
    .q_i,
    .s_o(difference)
  );
endmodule
