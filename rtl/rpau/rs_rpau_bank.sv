// Half a row of one bank of a work memory: words side by side in one memory, and who writes them.
//
// Main, side and link unit write, one of them at a time, and one of them reads; addresses are the
// writer's and the reader's. Latency from raddr_i to rdata_o: 1.
module rs_rpau_bank #(
  parameter  int unsigned Width = 192,   // of all words together
  parameter  int unsigned Depth = 1024,
  parameter  string       RamStyle = "block",
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 clk_i,
  input  logic                 main_we_i,
  input  logic                 side_we_i,
  input  logic                 link_we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     main_wdata_i,
  input  logic [Width-1:0]     side_wdata_i,
  input  logic [Width-1:0]     link_wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  rs_ram_1r1w #(
    .Width(Width),
    .Depth(Depth),
    .ReadLatency(1),
    .RamStyle(RamStyle)
  ) u_ram (
    .clk_i,
    .we_i(main_we_i || side_we_i || link_we_i),
    .waddr_i,
    .wdata_i(main_we_i ? main_wdata_i : link_we_i ? link_wdata_i : side_wdata_i),
    .re_i,
    .raddr_i,
    .rdata_o
  );
endmodule
