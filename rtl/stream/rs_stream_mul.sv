// The multiplier of the stream: another prime may come with each cycle's operands.
//
//   Multiplier                  p_o                            modulus_i, from the lowest bit
//   MultiplierMontgomery (0)    a_i * b_i * 2^-Width mod q     q, 1 modulo 2N
//   MultiplierBarrett    (1)    a_i * b_i mod q                q of Width bits, its reciprocal
//
// The reciprocal is floor(2^(2 Width) / q) - 2^Width, and primes have one size, as in NFLlib:
// nothing is shifted. Both operands are below 2^Width, at least one of them below q. One result a
// cycle, latency rs_stream_pkg::mul_cycles.
module rs_stream_mul
  import rs_arith_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Multiplier = Cfg.Multiplier,
  localparam int unsigned ModulusWidth = modulus_width(Cfg)
) (
  input  logic                    clk_i,
  input  logic [Width-1:0]        a_i,
  input  logic [Width-1:0]        b_i,
  input  logic [ModulusWidth-1:0] modulus_i,
  output logic [Width-1:0]        p_o
);
  if (Multiplier == MultiplierMontgomery) begin : gen_montgomery
    rs_mod_mul_montgomery #(
      .Width(Cfg.Width),
      .StepBits(scale_step_bits(LogN))
    ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .q_i(modulus_i),
      .p_o
    );
  end else if (Multiplier == MultiplierBarrett) begin : gen_barrett
    localparam int unsigned ShiftWidth = $clog2(Width + 1);
    rs_mod_mul_barrett #(
      .Width(Cfg.Width),
      .MinBits(Cfg.Width),
      .Travels(1'b1)
    ) u_mul (
      .clk_i,
      .a_i,
      .b_i,
      .q_i(modulus_i[Width-1:0]),
      .mu_i(modulus_i[Width+:Width]),
      .shift_i(ShiftWidth'(Width)),
      .p_o
    );
  end else begin : gen_bad_multiplier
    $error("rs_stream_mul: Multiplier = %0d is neither 0 (montgomery) nor 1 (barrett)", Multiplier);
  end
endmodule
