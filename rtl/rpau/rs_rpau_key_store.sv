// Key store of one RPAU: Polys polynomials in one deep memory, rows as they are, nothing swapped.
//
// The host writes whole rows; the dyadic unit reads them. Latency from re_i to words:
// rs_rpau_pkg::memory_read_latency(), like the work memory's, so that the two arrive together.
module rs_rpau_key_store
  import rs_rpau_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Polys = 48,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned RowBits = LogN - $clog2(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      we_i,
  input  logic [HostIndexWidth-1:0] windex_i,
  input  logic [RowBits-1:0]        wrow_i,
  input  logic [Width-1:0]          wdata_i [Lanes],
  input  logic                      re_i,
  input  logic [HostIndexWidth-1:0] rindex_i,
  input  logic [RowBits-1:0]        rrow_i,
  output logic [Width-1:0]          rdata_o [Lanes]
);
  localparam int unsigned Depth = Polys << RowBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  logic [AddrWidth-1:0] waddr, raddr;
  assign waddr = AddrWidth'({windex_i, wrow_i});
  assign raddr = AddrWidth'({rindex_i, rrow_i});

  logic [Width-1:0] word [Lanes];
  logic [Width-1:0] word_q [Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_ram_1r1w #(
      .Width(Width),
      .Depth(Depth),
      .ReadLatency(RamLatency),
      .RamStyle("ultra")
    ) u_ram (
      .clk_i,
      .we_i,
      .waddr_i(waddr),
      .wdata_i(wdata_i[l]),
      .re_i,
      .raddr_i(raddr),
      .rdata_o(word[l])
    );
  end
  always_ff @(posedge clk_i) word_q <= word;
  assign rdata_o = word_q;

  WriteInRange_A :
  assert property (@(posedge clk_i) !we_i || 32'(windex_i) < Polys)
  else $error("write to key polynomial %0d of %0d", windex_i, Polys);
  ReadInRange_A :
  assert property (@(posedge clk_i) !re_i || 32'(rindex_i) < Polys)
  else $error("read of key polynomial %0d of %0d", rindex_i, Polys);
endmodule
