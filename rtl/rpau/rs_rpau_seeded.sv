// Seed store of an RPAU, and the expander of the key polynomials that its dyadic unit uses.
//
// start_i and command_i are those of the dyadic unit; an instruction without a seed is ignored.
// From the cycle 1 + rs_prng_pkg::expander_latency() after start_i on, residues_o holds DyadicCores
// coefficients more every cycle; between blocks of 2^LogBlock of them are expander_pause() cycles.
// q_i: the modulus, from the second cycle after start_i on. The host writes entries, a word a row,
// while nothing runs.
`include "rs_assert.svh"

module rs_rpau_seeded
  import rs_arith_pkg::*;
  import rs_prng_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter int unsigned LogN = 13,
  parameter int unsigned DyadicCores = 2,
  parameter int unsigned Width = 48,
  parameter int unsigned Seeds = 16,
  parameter reduction_e  Reduction = ReductionBarrett
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  command_t         command_i,
  input  logic [Width-1:0] q_i,
  output logic [Width-1:0] residues_o [DyadicCores],
  input  host_t            host_i,
  input  logic [Width-1:0] host_word_i
);
  localparam int unsigned AddrWidth = (Seeds > 1) ? $clog2(Seeds) : 1;

  logic                  use_seed, start_q;
  logic [DigitWidth-1:0] digit_q;
  assign use_seed = start_i && command_i.decoded.uses_seed;
  always_ff @(posedge clk_i) begin
    start_q <= rst_ni && use_seed;
    if (use_seed) digit_q <= command_i.word[DigitLsb+:DigitWidth];
  end

  // The block that is expanded, and the starts of those behind a sub-polynomial's first.
  localparam int unsigned SubPolyBlocks = (LogN > LogBlock) ? 1 << (LogN - LogBlock) : 1;
  logic                 begins;
  logic [IndexBits-1:0] block_q;
  always_ff @(posedge clk_i) begin
    if (use_seed) block_q <= IndexBits'(command_i.word[SubPolyLsb+:SubPolyWidth] * SubPolyBlocks);
    else if (begins && !start_q) block_q <= block_q + 1'b1;
  end
  if (SubPolyBlocks > 1) begin : gen_blocks
    localparam int unsigned Period = (1 << LogBlock) / DyadicCores + expander_pause(DyadicCores);
    logic [$clog2(Period)-1:0] rest_q;
    assign begins = start_q || rest_q == '0;
    always_ff @(posedge clk_i) begin
      rest_q <= begins ? $clog2(Period)'(Period - 1) : rest_q - 1'b1;
    end
  end else begin : gen_block
    assign begins = start_q;
  end

  // A memory for each word of an entry, so that all come at once.
  logic                    write;
  logic [SeedWordBits-1:0] word [SeedWords];
  assign write       = host_i.we && host_i.space == SpaceSeed;
  for (genvar w = 0; w < SeedWords; w++) begin : gen_word
    rs_ram_1r1w #(
      .Width(SeedWordBits),
      .Depth(Seeds),
      .RamStyle("distributed")
    ) u_ram (
      .clk_i,
      .we_i(write && host_i.row == RowWidth'(w)),
      .waddr_i(host_i.index[AddrWidth-1:0]),
      .wdata_i(host_word_i[SeedWordBits-1:0]),
      .re_i(use_seed),
      .raddr_i(command_i.word[SeedLsb+:AddrWidth]),
      .rdata_o(word[w])
    );
  end

  rs_key_expander #(
    .Width(Width),
    .Lanes(DyadicCores),
    .LeastBits((Reduction == ReductionFolded) ? Width - folded_shifts(Width) : 0)
  ) u_expander (
    .clk_i,
    .rst_ni,
    .start_i(begins),
    .seed_i({word[3], word[2], word[1], word[0]}),
    .digit_i(IndexBits'(digit_q)),
    .limb_i(word[SeedWords-1][IndexBits-1:0]),
    .block_i(block_q),
    .q_i,
    .residues_o
  );

  `RS_ASSERT(SeedInRange_A, !use_seed || 32'(command_i.word[SeedLsb+:SeedWidth]) < Seeds,
             $sformatf("seed %0d of %0d", command_i.word[SeedLsb+:SeedWidth], Seeds))
  `RS_ASSERT(WriteInRange_A, !write || 32'(host_i.index) < Seeds,
             $sformatf("write to seed %0d of %0d", host_i.index, Seeds))
endmodule
