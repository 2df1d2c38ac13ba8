// Twiddle factors from a table of all N of them a prime, which needs no multiplication.
//
//   factor_o[i] = psi^e_i         forward
//               = psi^(N - e_i)   inverse, which is -psi^(-e_i)
//
// e_i is the exponent of core i in the step of block_i, stride_i, mark_i and odd_i (rs_ntt_blocks),
// as in rs_ntt_twiddle. Word j
// of the table is psi^brev(j): block b of the stage with m blocks has its factor in word m + b, and
// the inverse of it in word m + (m - 1 - b). So what the cores need in one step lies in one row of
// Cores words, and a selector hands it to them.
//
// One step a cycle, latency rs_ntt_pkg::stored_twiddle_latency(). Tables are written one word a
// cycle while no transform runs. Cost: N words a modulus bank, and one selector of Cores words
// a core.
module rs_ntt_twiddle_stored
  import rs_mem_pkg::*;
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Sets = Cfg.Sets,
  localparam int unsigned SetBits = Cfg.SetBits,
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic [SetBits-1:0]    set_i,       // modulus bank
  input  logic [LogN-1:0]       block_i,
  input  logic [LogN-1:0]       stride_i,    // counts within a row only
  input  logic [MaxLogN-1:0]    mark_i,
  input  logic                  odd_i,
  output logic [Width-1:0]      factor_o [Cores],

  input  logic                  we_i,
  input  logic [SetBits-1:0]    wset_i,
  input  logic [MaxLogN-1:0]    waddr_i,
  input  logic [Width-1:0]      wdata_i
);
  localparam int LogCores = $clog2(Cores);
  localparam int unsigned SelBits = (LogCores > 0) ? LogCores : 1;
  localparam int unsigned RowBits = MaxLogN - LogCores;
  localparam int unsigned Depth = Sets << RowBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  // The number of the sub-polynomial's block 0 in the stage, and the bits below its leading one,
  // which the inverse transform inverts.
  logic [MaxLogN-1:0] blocks, below;
  always_comb begin
    for (int unsigned b = 0; b < MaxLogN; b++) blocks[b] = mark_i[MaxLogN-1-b];
    below = blocks >> 1;
    for (int unsigned b = 1; b < MaxLogN; b <<= 1) below |= below >> b;
  end

  // Within a row of words core i works on the row's block i / stride / 2, in the upper half of them
  // where i has the stride's bit, in odd rows where it has not. Across rows all have one block.
  logic [MaxLogN-1:0] word [Cores];
  always_comb begin
    for (int unsigned i = 0; i < Cores; i++) begin
      word[i] = MaxLogN'(block_i);
      for (int k = 0; k < LogCores; k++) begin
        if (stride_i[k]) begin
          word[i] = MaxLogN'(block_i | LogN'(i >> (k + 1)));
          word[i][LogCores-1-k] = i[k] ^ odd_i;
        end
      end
      word[i] = blocks | word[i];
      if (inverse_i) word[i] = word[i] ^ below;
    end
  end

  logic [RowBits-1:0] row_q;
  logic [SelBits-1:0] select_d [Cores];
  logic [SelBits-1:0] select1_q [Cores];
  logic [SelBits-1:0] select2_q [Cores];
  logic [SelBits-1:0] select3_q [Cores];
  logic [Width-1:0]   words [Cores];
  logic [Width-1:0]   factor_q [Cores];
  always_comb begin
    for (int unsigned i = 0; i < Cores; i++) begin
      select_d[i] = (LogCores > 0) ? word[i][SelBits-1:0] : '0;
    end
  end
  always_ff @(posedge clk_i) begin
    row_q     <= word[0][MaxLogN-1:LogCores];
    select1_q <= select_d;
    select2_q <= select1_q;  // RamLatency cycles, as the words take
    select3_q <= select2_q;
    for (int unsigned i = 0; i < Cores; i++) factor_q[i] <= words[select3_q[i]];
  end
  assign factor_o = factor_q;

  for (genvar i = 0; i < Cores; i++) begin : gen_bank
    logic we;
    assign we = we_i && (LogCores == 0 || waddr_i[SelBits-1:0] == SelBits'(i));
    rs_ram_1r1w #(
      .Depth(Depth),
      .Width(Cfg.Width),
      .ReadLatency(RamLatency),
      .RamStyle("block")
    ) u_ram (
      .clk_i,
      .we_i(we),
      .waddr_i(AddrWidth'({wset_i, waddr_i[MaxLogN-1:LogCores]})),
      .wdata_i,
      .re_i(!we_i),
      .raddr_i(AddrWidth'({set_i, row_q})),
      .rdata_o(words[i])
    );
  end
endmodule
