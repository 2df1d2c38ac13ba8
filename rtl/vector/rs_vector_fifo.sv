// Rows on their way between memory and a cluster, first in, first out.
//
// push_i puts a row behind the others, pop_i takes the first one, which rdata_o has BankLatency
// cycles later (rs_vector_pkg). Neither waits: its user pushes where free_o is not 0, and pops where
// filled_o is not 0. filled_o counts rows that can be taken, free_o those that there is room for; a
// row that enters in one cycle counts in the next.
//
// Cost: rs_vector_bank, and two addresses and two counters.
module rs_vector_fifo
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned LogRows = 9,
  parameter  string       RamStyle = "block",
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               push_i,
  input  logic [  Width-1:0] wdata_i  [Lanes],
  input  logic               pop_i,
  output logic [  Width-1:0] rdata_o  [Lanes],
  output logic [LogRows:0]   filled_o,
  output logic [LogRows:0]   free_o
);
  logic [LogRows-1:0] waddr_q, raddr_q;
  logic [LogRows:0]   filled_q, free_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waddr_q  <= '0;
      raddr_q  <= '0;
      filled_q <= '0;
      free_q   <= (LogRows + 1)'(2 ** LogRows);
    end else begin
      if (push_i) waddr_q <= waddr_q + 1'b1;
      if (pop_i) raddr_q <= raddr_q + 1'b1;
      if (push_i && !pop_i) begin
        filled_q <= filled_q + 1'b1;
        free_q   <= free_q - 1'b1;
      end else if (pop_i && !push_i) begin
        filled_q <= filled_q - 1'b1;
        free_q   <= free_q + 1'b1;
      end
    end
  end
  assign filled_o = filled_q;
  assign free_o   = free_q;

  rs_vector_bank #(
    .Width(Width),
    .LogLanes(LogLanes),
    .Rows(2 ** LogRows),
    .RamStyle(RamStyle)
  ) u_rows (
    .clk_i,
    .we_i(push_i),
    .waddr_i(waddr_q),
    .wdata_i,
    .re_i(pop_i),
    .raddr_i(raddr_q),
    .rdata_o
  );

  NoOverflow_A :
  assert property (@(posedge clk_i) !(rst_ni && push_i && free_q == '0))
  else $error("a row is pushed where there is no room");
  NoUnderflow_A :
  assert property (@(posedge clk_i) !(rst_ni && pop_i && filled_q == '0))
  else $error("a row is popped where there is none");
endmodule
