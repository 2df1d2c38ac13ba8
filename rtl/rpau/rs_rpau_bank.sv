// Half a row of one bank of a work memory: adjacent words in one memory, and the selection of the
// unit that writes.
//
// At a time one unit of the RPAU writes and one reads, each with its own address. Latency from
// raddr_i to rdata_o: 1. Cost of the choice among up to three writers: a LUT a bit.
module rs_rpau_bank
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Width = 192,   // of all words together
  parameter  int unsigned Depth = 1024,
  parameter  string       RamStyle = "block",
  parameter  logic [Units-1:0] Writers = '1,  // the units that may write, the main unit among them
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 clk_i,
  input  logic [Units-1:0]     we_i,             // at most one
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i [Units],
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  logic [Width-1:0] wdata;
  always_comb begin
    wdata = wdata_i[0];
    for (int unsigned u = 1; u < Units; u++) begin
      if (Writers[u] && we_i[u]) wdata = wdata_i[u];
    end
  end

  rs_ram_1r1w #(
    .Width(Width),
    .Depth(Depth),
    .ReadLatency(1),
    .RamStyle(RamStyle)
  ) u_ram (
    .clk_i,
    .we_i(|(we_i & Writers)),
    .waddr_i,
    .wdata_i(wdata),
    .re_i,
    .raddr_i,
    .rdata_o
  );
endmodule
