// Twiddle factors of the NTT by the way that the design names, ahead of the butterflies.
//
//   Twiddles                 factor_o[i]              hi_o[i] * lo_o
//   TwiddlesGenerated (0)    0                        rs_ntt_twiddle
//   TwiddlesStored    (1)    rs_ntt_twiddle_stored    0
//
// A stored factor stands at factor_o[i] in the cycle in which the operands of butterfly i stand in
// front of the multipliers. The multiplication of a generated one is the user's: hi_o and lo_o come
// mod_mul_latency() + 1 cycles ahead of that. Tables of the other way are not there, and their
// writes are ignored.
//
// start_i: rs_ntt_pkg::twiddle_lead() cycles ahead of rs_ntt_sequencer's.
module rs_ntt_factors
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned SetBits = Cfg.SetBits,
  localparam int unsigned Twiddles = Cfg.Twiddles,
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  ring_t                 ring_i,
  input  logic [1:0]            sub_poly_i,     // still while busy, as the ring
  input  logic                  start_i,
  input  logic                  inverse_i,   // still while busy
  input  logic [SetBits-1:0]    set_i,       // modulus bank
  output logic [Width-1:0]      factor_o [Cores],
  output logic [Width-1:0]      hi_o [Cores],
  output logic [Width-1:0]      lo_o,

  // A word into one of the tables, while no transform runs.
  input  logic                  factor_we_i,  // of all factors
  input  logic                  lo_we_i,      // the two of generated factors
  input  logic                  hi_we_i,
  input  logic [SetBits-1:0]    wset_i,
  input  logic [MaxLogN-1:0]    waddr_i,
  input  logic [Width-1:0]      wdata_i
);
  logic            start_forward, start_inverse;
  logic [LogN-1:0] block, stride;
  logic [MaxLogN-1:0] mark;
  logic            odd;
  rs_delay #(
    .Width(1),
    .Depth((Twiddles == TwiddlesStored) ? stored_twiddle_wait() : 0)
  ) u_wait (
    .clk_i,
    .d_i(start_i),
    .d_o(start_forward)
  );
  rs_delay #(
    .Width(1),
    .Depth(inverse_wait())
  ) u_wait_inverse (
    .clk_i,
    .d_i(start_forward),
    .d_o(start_inverse)
  );
  rs_ntt_blocks #(
    .Cfg(Cfg)
  ) u_blocks (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(inverse_i ? start_inverse : start_forward),
    .inverse_i,
    .sub_poly_i,
    .block_o(block),
    .stride_o(stride),
    .mark_o(mark),
    .odd_o(odd)
  );

  if (Twiddles == TwiddlesStored) begin : gen_stored
    assign hi_o    = '{default: '0};
    assign lo_o    = '0;
    rs_ntt_twiddle_stored #(
      .Cfg(Cfg)
    ) u_stored (
      .clk_i,
      .inverse_i,
      .set_i,
      .block_i(block),
      .stride_i(stride),
      .mark_i(mark),
      .odd_i(odd),
      .factor_o,
      .we_i(factor_we_i),
      .wset_i,
      .waddr_i,
      .wdata_i
    );
  end else begin : gen_generated
    assign factor_o = '{default: '0};
    rs_ntt_twiddle #(
      .Cfg(Cfg)
    ) u_generated (
      .clk_i,
      .inverse_i,
      .set_i,
      .block_i(block),
      .stride_i(stride),
      .mark_i(mark),
      .odd_i(odd),
      .hi_o,
      .lo_o,
      .lo_we_i,
      .hi_we_i,
      .wset_i,
      .waddr_i(waddr_i[twiddle_lo_bits(MaxLogN)-1:0]),
      .wdata_i
    );
  end
endmodule
