// Key store of one RPAU: Polys polynomials in one deep memory, rows as they are, nothing swapped.
//
// The host writes whole rows; the main and the dyadic unit read them, one of the two at a time: the
// program's hazard rule. Latency from re_i to words: rs_rpau_pkg::memory_read_latency(), like the
// work memory's, so that the two arrive together.
module rs_rpau_key_store
  import rs_rpau_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Polys = 48,
  parameter  int unsigned Ram = RamUltra,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned RowBits = LogN - $clog2(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      we_i,
  input  logic [HostIndexWidth-1:0] windex_i,
  input  logic [RowBits-1:0]        wrow_i,
  input  logic [Width-1:0]          wdata_i [Lanes],
  input  logic                      main_re_i,
  input  logic [HostIndexWidth-1:0] main_index_i,
  input  logic [RowBits-1:0]        main_row_i,
  input  logic                      side_re_i,
  input  logic [HostIndexWidth-1:0] side_index_i,
  input  logic [RowBits-1:0]        side_row_i,
  output logic [Width-1:0]          rdata_o [Lanes]
);
  localparam int unsigned Depth = Polys << RowBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  logic                      re;
  logic [HostIndexWidth-1:0] rindex;
  logic [AddrWidth-1:0]      waddr, raddr;
  assign re     = main_re_i || side_re_i;
  assign rindex = main_re_i ? main_index_i : side_index_i;
  assign waddr  = AddrWidth'({windex_i, wrow_i});
  assign raddr  = AddrWidth'({rindex, main_re_i ? main_row_i : side_row_i});

  // All words of a row have one address, and stand side by side in one wide memory.
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
    .re_i(re),
    .raddr_i(raddr),
    .rdata_o(rwords)
  );
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) wwords[l*Width+:Width] = wdata_i[l];
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) word_q[l] <= rwords[l*Width+:Width];
  end
  assign rdata_o = word_q;

  WriteInRange_A :
  assert property (@(posedge clk_i) !we_i || 32'(windex_i) < Polys)
  else $error("write to key polynomial %0d of %0d", windex_i, Polys);
  ReadInRange_A :
  assert property (@(posedge clk_i) !re || 32'(rindex) < Polys)
  else $error("read of key polynomial %0d of %0d", rindex, Polys);
  OneReader_A :
  assert property (@(posedge clk_i) !(main_re_i && side_re_i))
  else $error("both units read the key store");
endmodule
