// A FIFO of rows between memory and a cluster, whose two halves enter and leave independently.
//
// Halves are rs_vector_bank's. push_i[f] takes half f of row_i; pop_i[f] hands out that of the row
// that entered first, and row_o has it rs_mem_pkg::RamLatency cycles later. push_i needs
// a free row and pop_i a stored one; this block does not check it (rs_vector_sequencer counts
// rows).
//
// Cost: a bank of Rows rows, and counters.
`include "rs_assert.svh"

module rs_vector_stream
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned LogRadix = 2,
  parameter  int unsigned Rows = 512,
  parameter  string       RamStyle = "block",
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [      1:0] push_i,
  input  logic [Width-1:0] row_i  [Lanes],
  input  logic [      1:0] pop_i,
  output logic [Width-1:0] row_o  [Lanes]
);
  localparam int unsigned AddrWidth = $clog2(Rows);
  localparam logic [AddrWidth-1:0] Last = AddrWidth'(Rows - 1);
  logic [AddrWidth-1:0] waddr_q [2];
  logic [AddrWidth-1:0] raddr_q [2];
  always_ff @(posedge clk_i) begin
    for (int unsigned f = 0; f < 2; f++) begin
      if (!rst_ni) waddr_q[f] <= '0;
      else if (push_i[f]) waddr_q[f] <= (waddr_q[f] == Last) ? '0 : waddr_q[f] + 1'b1;
      if (!rst_ni) raddr_q[f] <= '0;
      else if (pop_i[f]) raddr_q[f] <= (raddr_q[f] == Last) ? '0 : raddr_q[f] + 1'b1;
    end
  end
  rs_vector_bank #(
    .Width(Width),
    .LogLanes(LogLanes),
    .LogRadix(LogRadix),
    .Rows(Rows),
    .RamStyle(RamStyle)
  ) u_bank (
    .clk_i,
    .we_i(push_i),
    .waddr_i(waddr_q),
    .wdata_i(row_i),
    .re_i(pop_i),
    .raddr_i(raddr_q),
    .rdata_o(row_o)
  );

  // Halves that have entered and not left.
  for (genvar f = 0; f < 2; f++) begin : gen_count
    logic [AddrWidth:0] rows_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) rows_q <= '0;
      else rows_q <= rows_q + (AddrWidth + 1)'(push_i[f]) - (AddrWidth + 1)'(pop_i[f]);
    end
    `RS_ASSERT(NoOverflow_A, !push_i[f] || 32'(rows_q) < Rows,
               $sformatf("half %0d of a row comes, and there are %0d", f, rows_q))
    `RS_ASSERT(NoUnderflow_A, !pop_i[f] || rows_q != 0,
               $sformatf("half %0d of a row is taken from an empty FIFO", f))
  end
endmodule
