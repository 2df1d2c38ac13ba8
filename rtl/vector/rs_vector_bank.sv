// A memory of rows: a bank of the scratchpad, or the store of a stream.
//
// Each cycle a row is written, with we_i, and one read, with re_i: rdata_o has it BankLatency cycles
// later (rs_vector_pkg). A row must not be read and written in the same cycle. Two neighbouring
// lanes share a memory where both words have at most 64 bits: an UltraRAM then holds 4,096 rows of
// two lanes of 32 bits.
//
// Cost: with RamStyle "ultra" and words of 32 bits, an UltraRAM for two lanes and 4,096 rows; with
// "block", a RAMB36 for 512 rows of two lanes.
module rs_vector_bank
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned Rows = 4096,
  parameter  string       RamStyle = "ultra",
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned AddrWidth = $clog2(Rows)
) (
  input  logic                 clk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [    Width-1:0] wdata_i [Lanes],
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [    Width-1:0] rdata_o [Lanes]
);
  localparam int unsigned Words = (2 * Width <= 64) ? 2 : 1;  // of a memory
  for (genvar i = 0; i < Lanes / Words; i++) begin : gen_memory
    logic [Words*Width-1:0] wdata, rdata;
    for (genvar w = 0; w < Words; w++) begin : gen_word
      assign wdata[w*Width+:Width] = wdata_i[i*Words+w];
      assign rdata_o[i*Words+w]    = rdata[w*Width+:Width];
    end
    rs_ram_1r1w #(
      .Width(Words * Width),
      .Depth(Rows),
      .ReadLatency(BankLatency),
      .RamStyle(RamStyle)
    ) u_ram (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(wdata),
      .re_i,
      .raddr_i,
      .rdata_o(rdata)
    );
  end
endmodule
