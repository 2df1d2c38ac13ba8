// Key store of one RPAU: Polys polynomials in one deep memory; halves of rows are not swapped.
//
// The host writes whole rows; units read them, one unit at a time (the program's hazard rule).
// Latency from read_i to words: rs_ntt_pkg::memory_read_latency(), like the work memory's, so that
// the two arrive together.
`include "rs_assert.svh"

module rs_rpau_key_store
  import rs_mem_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Polys = 48,
  parameter  ram_e        Ram = RamUltra,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned RowBits = LogN - $clog2(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      we_i,
  input  logic [HostIndexWidth-1:0] windex_i,
  input  logic [RowBits-1:0]        wrow_i,
  input  logic [Width-1:0]          wdata_i [Lanes],
  input  key_read_t                 read_i [Units],
  output logic [Width-1:0]          rdata_o [Lanes]
);
  localparam int unsigned Depth = Polys << RowBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  logic [AddrWidth-1:0] waddr;
  assign waddr = AddrWidth'({windex_i, wrow_i});

  // The reader's address stands in a register in front of the memory.
  logic [Units-1:0]          reads;
  logic [HostIndexWidth-1:0] poly;
  logic [RowBits-1:0]        row;
  logic                      re_q;
  logic [AddrWidth-1:0]      raddr_q;
  always_comb begin
    reads[0] = read_i[0].valid;
    poly     = read_i[0].poly;
    row      = read_i[0].row[RowBits-1:0];
    for (int unsigned u = 1; u < Units; u++) begin
      reads[u] = read_i[u].valid;
      if (reads[u]) begin
        poly = read_i[u].poly;
        row  = read_i[u].row[RowBits-1:0];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    re_q    <= |reads;
    raddr_q <= AddrWidth'({poly, row});
  end

  // All words of a row have one address, and stand next to each other in one wide memory.
  logic [Lanes*Width-1:0] wwords, rwords;
  logic [Width-1:0]       word_q [Lanes];
  rs_ram_1r1w #(
    .Width(Lanes * Width),
    .Depth(Depth),
    .ReadLatency(RamLatency),
    .RamStyle(Ram == RamUltra ? "ultra" : "block")
  ) u_ram (
    .clk_i,
    .we_i,
    .waddr_i(waddr),
    .wdata_i(wwords),
    .re_i(re_q),
    .raddr_i(raddr_q),
    .rdata_o(rwords)
  );
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) wwords[l*Width+:Width] = wdata_i[l];
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) word_q[l] <= rwords[l*Width+:Width];
  end
  assign rdata_o = word_q;

  `RS_ASSERT(WriteInRange_A, !we_i || 32'(windex_i) < Polys,
             $sformatf("write to key polynomial %0d of %0d", windex_i, Polys), clk_i, 1'b1)
  `RS_ASSERT(ReadInRange_A, reads == '0 || 32'(poly) < Polys,
             $sformatf("read of key polynomial %0d of %0d", poly, Polys), clk_i, 1'b1)
  `RS_ASSERT(OneReader_A, $onehot0(reads), "two units read the key store", clk_i, 1'b1)
endmodule
