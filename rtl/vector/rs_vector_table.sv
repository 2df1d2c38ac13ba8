// The twiddle memory: rows of factors, read at an address of its own for the factors of each stage.
//
// Word 2^g + i, i < 2^g, of each unit's 2^LogRadix words is read at address raddr_i[g] with re_i[g];
// rdata_o has it rs_vector_pkg::TableLatency cycles later. Word 0 of a unit is not stored, and reads
// as 0. A row is written with we_i; it must not be read in the same cycle.
//
// Cost: a memory of Rows words for each lane, but one a unit.
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
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    localparam int unsigned Node = l % 2 ** LogRadix;
    if (Node == 0) begin : gen_none
      logic unused_word;
      assign unused_word = ^wdata_i[l];
      assign rdata_o[l]  = '0;
    end else begin : gen_word
      localparam int unsigned Group = $clog2(Node + 1) - 1;
      rs_ram_1r1w #(
        .Width(Width),
        .Depth(Rows),
        .ReadLatency(TableLatency),
        .RamStyle(RamStyle)
      ) u_ram (
        .clk_i,
        .we_i,
        .waddr_i,
        .wdata_i(wdata_i[l]),
        .re_i(re_i[Group]),
        .raddr_i(raddr_i[Group]),
        .rdata_o(rdata_o[l])
      );
    end
  end
endmodule
