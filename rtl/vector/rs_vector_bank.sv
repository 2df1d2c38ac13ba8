// A bank of rows of 2^LogLanes words, whose halves are read and written each at an address of its
// own.
//
// Half 0 is the upper half of each unit's lanes, half 1 the lower one (rs_vector_pkg::half_lane):
// point operations compute them one after the other. A half of row waddr_i[f] is written with
// we_i[f], and of row raddr_i[f] read with re_i[f]; rdata_o has it rs_mem_pkg::RamLatency cycles
// later. A half of a row is not read and written at once.
//
// Cost: two memories of Rows rows of 2^(LogLanes-1) words.
module rs_vector_bank
  import rs_mem_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned LogRadix = 2,
  parameter  int unsigned Rows = 1024,
  parameter  string       RamStyle = "block",
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned AddrWidth = $clog2(Rows)
) (
  input  logic                 clk_i,
  input  logic [          1:0] we_i,
  input  logic [AddrWidth-1:0] waddr_i [2],
  input  logic [    Width-1:0] wdata_i [Lanes],
  input  logic [          1:0] re_i,
  input  logic [AddrWidth-1:0] raddr_i [2],
  output logic [    Width-1:0] rdata_o [Lanes]
);
  localparam int unsigned HalfWidth = Lanes / 2 * Width;
  for (genvar f = 0; f < 2; f++) begin : gen_half
    logic [HalfWidth-1:0] written, read;
    for (genvar k = 0; k < Lanes / 2; k++) begin : gen_word
      localparam int unsigned Lane = half_lane(LogRadix, f, k);
      assign written[k*Width+:Width] = wdata_i[Lane];
      assign rdata_o[Lane]           = read[k*Width+:Width];
    end
    rs_ram_1r1w #(
      .Width(HalfWidth),
      .Depth(Rows),
      .ReadLatency(RamLatency),
      .RamStyle(RamStyle)
    ) u_ram (
      .clk_i,
      .we_i(we_i[f]),
      .waddr_i(waddr_i[f]),
      .wdata_i(written),
      .re_i(re_i[f]),
      .raddr_i(raddr_i[f]),
      .rdata_o(read)
    );
  end
endmodule
