// The twiddle memory: rows of factors, read at an address of its own for the factors of each stage.
//
// Word 2^g + i, i < 2^g, of each unit's 2^LogRadix words is read at address raddr_i[g] with
// re_i[g]; rdata_o has it rs_vector_pkg::TableLatency cycles later. Word 0 of a unit is not stored,
// and reads as 0. A row is written with we_i; it must not be read in the same cycle.
//
// Cost: a memory of Rows words for each lane, but one a unit; words with one address share
// memories.
module rs_vector_table
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
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [    Width-1:0] wdata_i [Lanes],
  input  logic [ LogRadix-1:0] re_i,
  input  logic [AddrWidth-1:0] raddr_i [LogRadix],
  output logic [    Width-1:0] rdata_o [Lanes]
);
  localparam int unsigned Units = Lanes >> LogRadix;
  for (genvar u = 0; u < Units; u++) begin : gen_first
    assign rdata_o[u<<LogRadix] = '0;
  end
  for (genvar g = 0; g < LogRadix; g++) begin : gen_group
    localparam int unsigned Words = Units << g;  // with one address: they share memories
    logic [Words*Width-1:0] written, read;
    for (genvar i = 0; i < Words; i++) begin : gen_word
      localparam int unsigned Lane = ((i >> g) << LogRadix) + 2 ** g + i % 2 ** g;
      assign written[i*Width+:Width] = wdata_i[Lane];
      assign rdata_o[Lane]           = read[i*Width+:Width];
    end
    rs_ram_1r1w #(
      .Width(Words * Width),
      .Depth(Rows),
      .ReadLatency(TableLatency),
      .RamStyle(RamStyle)
    ) u_ram (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(written),
      .re_i(re_i[g]),
      .raddr_i(raddr_i[g]),
      .rdata_o(read)
    );
  end
endmodule
