// Delays the moduli of an array's rows, once for all of its units.
//
//   q_i, mu_i, shift_i  enter with a row's words, for each result of a point operation; those of a
//                       transform are the first
//   q_o[s*Moduli + i]   is modulus i of the ALUs of stage s, a cycle before they take it
//   mu_o[s], shift_o[s] are the reciprocal of that stage, a cycle before its ALUs take it; with
//                       Montgomery's reduction they are 0
//
// A unit has a register for each (rs_vector_unit). Cost: shift registers, and Width LUTs for each
// result but the first.
module rs_vector_moduli
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Reduction = Cfg.Reduction,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned Moduli = alu_moduli(Cfg),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  point_i,
  input  logic [     Width-1:0] q_i     [Points],
  input  logic [     Width-1:0] mu_i    [Points],
  input  logic [ShiftWidth-1:0] shift_i [Points],
  output logic [     Width-1:0] q_o     [LogRadix*Moduli],
  output logic [     Width-1:0] mu_o    [LogRadix],
  output logic [ShiftWidth-1:0] shift_o [LogRadix]
);
  localparam int unsigned Latency = alu_latency(Cfg);

  for (genvar s = 0; s < LogRadix; s++) begin : gen_stage
    // Result H is computed in stages 2H and 2H + 1.
    localparam int unsigned H = s / 2;
    logic [     Width-1:0] q_first, mu_first;
    logic [ShiftWidth-1:0] shift_first;
    assign q_first     = point_i ? q_i[H] : q_i[0];
    assign mu_first    = point_i ? mu_i[H] : mu_i[0];
    assign shift_first = point_i ? shift_i[H] : shift_i[0];

    logic [Width-1:0] q [Moduli];
    for (genvar i = 0; i < Moduli; i++) begin : gen_q
      rs_delay #(
        .Width(Cfg.Width),
        .Depth(s * Latency + alu_modulus_time(Cfg, i) - 1)
      ) u_q (
        .clk_i,
        .d_i(q_first),
        .d_o(q[i])
      );
      assign q_o[s*Moduli+i] = q[i];
    end
    if (Reduction == VectorBarrett) begin : gen_reciprocal
      rs_delay #(
        .Width(Width + ShiftWidth),
        .Depth(s * Latency + factor_time() - 1)
      ) u_mu (
        .clk_i,
        .d_i({mu_first, shift_first}),
        .d_o({mu_o[s], shift_o[s]})
      );
    end else begin : gen_no_reciprocal
      assign {mu_o[s], shift_o[s]} = '0;
    end
  end
endmodule
