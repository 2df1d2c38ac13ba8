// Twiddle factors as products of two small tables' words: psi^e = psi^(e_hi << LoBits) * psi^e_lo.
//
//   hi_o[i] * lo_o = psi^e_i         forward
//                  = psi^(N - e_i)   inverse, which is -psi^(-e_i)
//
// e_i is the exponent of core i in the step of block_i, stride_i, mark_i and odd_i (rs_ntt_blocks):
// in a stride of 2^k within a row core i has the row's block i with bit k moved to its upper end,
// and inverted with odd_i, as rs_lane_gather hands out the words. The
// multiplication is the user's. e_lo is common to all cores: where the exponents of the cores
// differ, in a stride within one row, they differ in the upper bits alone.
//
// One step a cycle, latency rs_ntt_pkg::twiddle_latency(). Cost, a modulus bank: 2^LoBits words,
// and 2^(MaxLogN - LoBits) words a core, in block RAM where a table has more than
// rs_ntt_pkg::LutRamWords. Tables are written one word a cycle while no transform runs.
module rs_ntt_twiddle
  import rs_mem_pkg::*;
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Sets = Cfg.Sets,
  localparam int unsigned SetBits = Cfg.SetBits,
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings,
  localparam int unsigned LoBits  = twiddle_lo_bits(MaxLogN),
  localparam int unsigned HiBits  = MaxLogN - LoBits
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic [SetBits-1:0]    set_i,       // modulus bank
  input  logic [LogN-1:0]       block_i,
  input  logic [LogN-1:0]       stride_i,    // counts within a row only
  input  logic [MaxLogN-1:0]    mark_i,
  input  logic                  odd_i,
  output logic [Width-1:0]      hi_o [Cores],
  output logic [Width-1:0]      lo_o,

  input  logic                  lo_we_i,
  input  logic                  hi_we_i,
  input  logic [SetBits-1:0]    wset_i,
  input  logic [LoBits-1:0]     waddr_i,     // HiBits of it for the upper table
  input  logic [Width-1:0]      wdata_i
);
  localparam int LogCores = $clog2(Cores);
  localparam int unsigned LoAddrWidth = $clog2(Sets << LoBits);
  localparam int unsigned HiAddrWidth = $clog2(Sets << HiBits);

  if (LogCores > HiBits) begin : gen_too_many_cores
    $error("rs_ntt_twiddle: %0d cores and an upper table of %0d words: there must be more words",
           Cores, 1 << HiBits);
  end

  // Bits of a block's number that distinguish the cores, reversed to the top of the exponent.
  logic [HiBits-1:0] core_exponent [Cores];
  always_comb begin
    for (int i = 0; i < Cores; i++) begin
      core_exponent[i] = '0;
      for (int k = 0; k < LogCores; k++) begin
        for (int b = k + 1; b < LogCores; b++) begin
          if (stride_i[k] && i[b]) core_exponent[i][HiBits-b+k] = 1'b1;
        end
        if (stride_i[k] && (i[k] ^ odd_i)) core_exponent[i][HiBits-LogCores+k] = 1'b1;
      end
    end
  end

  logic [MaxLogN-1:0] exponent;
  always_comb begin
    exponent = mark_i;
    for (int unsigned b = 0; b < LogN; b++) exponent[MaxLogN-1-b] |= block_i[b];
  end

  // The exponent, then N minus it for the inverse (it is never 0).
  logic [LoBits-1:0] e_lo_q, lo_q;
  logic [HiBits-1:0] e_hi_q [Cores];
  logic [HiBits-1:0] hi_q [Cores];
  always_ff @(posedge clk_i) begin
    e_lo_q <= exponent[LoBits-1:0];
    lo_q   <= inverse_i ? -e_lo_q : e_lo_q;
    for (int unsigned i = 0; i < Cores; i++) begin
      e_hi_q[i] <= exponent[MaxLogN-1:LoBits] | core_exponent[i];
      hi_q[i]   <= inverse_i ? ~e_hi_q[i] + HiBits'(e_lo_q == '0) : e_hi_q[i];
    end
  end

  rs_ram_1r1w #(
    .Depth(Sets << LoBits),
    .Width(Cfg.Width),
    .ReadLatency(RamLatency),
    .RamStyle(Sets << LoBits > LutRamWords ? "block" : "distributed")
  ) u_lo (
    .clk_i,
    .we_i(lo_we_i),
    .waddr_i(LoAddrWidth'({wset_i, waddr_i})),
    .wdata_i(wdata_i),
    .re_i(!lo_we_i),
    .raddr_i(LoAddrWidth'({set_i, lo_q})),
    .rdata_o(lo_o)
  );

  for (genvar i = 0; i < Cores; i++) begin : gen_core
    rs_ram_1r1w #(
      .Depth(Sets << HiBits),
      .Width(Cfg.Width),
      .ReadLatency(RamLatency),
      .RamStyle(Sets << HiBits > LutRamWords ? "block" : "distributed")
    ) u_hi (
      .clk_i,
      .we_i(hi_we_i),
      .waddr_i(HiAddrWidth'({wset_i, waddr_i[HiBits-1:0]})),
      .wdata_i(wdata_i),
      .re_i(!hi_we_i),
      .raddr_i(HiAddrWidth'({set_i, hi_q[i]})),
      .rdata_o(hi_o[i])
    );
  end
endmodule
