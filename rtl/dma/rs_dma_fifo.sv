// FIFO of one clock, for what waits inside a channel.
//
//   valid_i, ready_o   A word is taken at an edge with both.
//   valid_o, ready_i   A word leaves at an edge with both; it stands at data_o until then.
//
// A word that enters an empty FIFO stands at data_o two cycles later. 2^LogDepth + 1 words fit.
// Both ports move a word a cycle. rst_ni, synchronous, empties it. Cost: a memory of LUTs.
module rs_dma_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned LogDepth = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             valid_i,
  output logic             ready_o,
  input  logic [Width-1:0] data_i,
  output logic             valid_o,
  input  logic             ready_i,
  output logic [Width-1:0] data_o
);
  logic [LogDepth:0] wptr_q, rptr_q;
  logic              push, fetch, valid_q;
  assign ready_o = rst_ni && wptr_q != {!rptr_q[LogDepth], rptr_q[LogDepth-1:0]};
  assign push    = valid_i && ready_o;
  assign fetch   = wptr_q != rptr_q && (!valid_q || ready_i);
  assign valid_o = valid_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      if (push) wptr_q <= wptr_q + 1'b1;
      if (fetch) rptr_q <= rptr_q + 1'b1;
      if (fetch) valid_q <= 1'b1;
      else if (ready_i) valid_q <= 1'b0;
    end
  end
  rs_ram_1r1w #(
    .Width(Width),
    .Depth(2 ** LogDepth),
    .RamStyle("distributed")
  ) u_ram (
    .clk_i,
    .we_i(push),
    .waddr_i(wptr_q[LogDepth-1:0]),
    .wdata_i(data_i),
    .re_i(fetch),
    .raddr_i(rptr_q[LogDepth-1:0]),
    .rdata_o(data_o)
  );
endmodule
