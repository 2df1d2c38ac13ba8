// The key expander behind ports of at most 64 bits; latency and pause are the package's.
module rs_key_expander_bench
  import rs_prng_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned Lanes = 2,
  parameter int unsigned LeastBits = 0
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [63:0]          seed_i,
  input  logic [15:0]          seed_high_i,
  input  logic [IndexBits-1:0] digit_i,
  input  logic [IndexBits-1:0] limb_i,
  input  logic [IndexBits-1:0] block_i,
  input  logic [Width-1:0]     q_i,
  output logic [Width-1:0]     residues_o [Lanes],
  output logic [15:0]          latency_o,
  output logic [15:0]          pause_o
);
  rs_key_expander #(
    .Width(Width),
    .Lanes(Lanes),
    .LeastBits(LeastBits)
  ) u_expander (
    .clk_i,
    .rst_ni,
    .start_i,
    .seed_i({seed_high_i, seed_i}),
    .digit_i,
    .limb_i,
    .block_i,
    .q_i,
    .residues_o
  );
  assign latency_o = 16'(expander_latency(Lanes));
  assign pause_o   = 16'(expander_pause(Lanes));
endmodule
