// The multiplier of an ALU: a modular product whose modulus enters when it is needed.
//
//   p_o = a_i * b_i / f mod q      0 <= p_o < q; f = 1 with Barrett's reduction, 2^Width with
//                                  Montgomery's
//
// Both operands are below 2^Width and at least one of them below q, which may be another one in
// each cycle. The ALUs of a stage share its delay: q_i[i] comes
// rs_vector_pkg::product_modulus_time(i) cycles after the operands. With Barrett mu_i and shift_i
// come with q_i[0] (rs_mod_mul_barrett); with Montgomery they are not used, and q is 1 modulo
// 2^StepBits (rs_mod_mul_two_steps, or rs_mod_mul_montgomery for words that do not fit it).
//
// One result a cycle, latency rs_vector_pkg::product_latency. Cost: that of rs_mod_mul_two_steps,
// of rs_mod_mul_montgomery without the delays of q, or of rs_mod_mul_barrett.
module rs_vector_mul
  import rs_arith_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Reduction = Cfg.Reduction,
  localparam int unsigned StepBits = Cfg.StepBits,
  localparam int unsigned Moduli = product_moduli(Cfg),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic [     Width-1:0] a_i,
  input  logic [     Width-1:0] b_i,
  input  logic [     Width-1:0] q_i    [Moduli],
  input  logic [     Width-1:0] mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  output logic [     Width-1:0] p_o
);
  if (product_two_steps(Cfg)) begin : gen_two_steps
    rs_mod_mul_two_steps #(
      .Width(Cfg.Width),
      .StepBits(Cfg.StepBits)
    ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .q_i,
      .p_o
    );
  end else if (Reduction == VectorMontgomery) begin : gen_montgomery
    localparam int unsigned Steps = scale_steps(Width, StepBits);
    localparam int unsigned LastBits = Width - (Steps - 1) * StepBits;

    logic [Width-1:0] low, high, high_late;
    rs_mul #(
      .Width(Cfg.Width)
    ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .lo_o(low),
      .hi_o(high)
    );

    // rs_scale_steps, but for the modulus.
    logic [Width-1:0] n [Steps+1];
    assign n[0] = '0;
    for (genvar i = 0; i < Steps; i++) begin : gen_step
      localparam int unsigned DigitBits = (i == Steps - 1) ? LastBits : StepBits;
      logic [DigitBits-1:0] digit;
      rs_delay #(
        .Width(DigitBits),
        .Depth(i * scale_step_latency())
      ) u_digit (
        .clk_i,
        .d_i(low[i*StepBits+:DigitBits]),
        .d_o(digit)
      );
      rs_scale_step #(
        .Width(Cfg.Width),
        .OneBits(Cfg.StepBits),
        .StepBits(DigitBits)
      ) u_step (
        .clk_i,
        .n_i(n[i]),
        .digit_i(digit),
        .q_i(q_i[i]),
        .n_o(n[i+1])
      );
    end
    rs_delay #(
      .Width(Cfg.Width),
      .Depth(Steps * scale_step_latency())
    ) u_high (
      .clk_i,
      .d_i(high),
      .d_o(high_late)
    );

    // The difference, and q added where it is negative (rs_mod_mul_two_steps).
    logic [Width:0]   difference_q;
    logic [Width-1:0] p_q;
    always_ff @(posedge clk_i) begin
      difference_q <= {1'b0, high_late} - {1'b0, n[Steps]};
      p_q          <= Width'(({difference_q[Width-1:0], 1'b0} -
                              {~({Width{difference_q[Width]}} & q_i[Steps]), 1'b1}) >> 1);
    end
    assign p_o = p_q;
  end else if (Reduction == VectorBarrett) begin : gen_barrett
    rs_mod_mul_barrett #(
      .Width(Cfg.Width),
      .Travels(1'b1)
    ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .q_i(q_i[0]),
      .mu_i,
      .shift_i,
      .p_o
    );
  end else begin : gen_bad_reduction
    $error("rs_vector_mul: Reduction = %0d is neither 0 (barrett) nor 1 (montgomery)", Reduction);
  end
endmodule
