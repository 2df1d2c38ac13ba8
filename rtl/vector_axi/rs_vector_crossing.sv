// A port to memory that crosses to memory's clock.
//
// clk_i is the clock of the cluster's port, a slave; mem_clk_i that of memory's, a master. Bursts
// stay as they are: INCR bursts of whole beats, with id 0. What all bursts have in common does not
// change and does not cross. Where memory is faster than the port, beats that it has read ahead wait
// here. So a refresh of memory that is shorter than 2^LogRead beats does not stop the port. For
// that, addresses must come that many cycles ahead; rs_vector_loads sends them so.
//
// Both ports move a beat a cycle while their partner does. Resets belong together, as rs_async_fifo
// says.
//
// Latency: 4 cycles of mem_clk_i and one of clk_i for an address, 4 of clk_i and one of mem_clk_i
// for a beat. Cost: five FIFOs between the clocks, in LUTs.
module rs_vector_crossing
  import rs_vector_pkg::*;
#(
  parameter int unsigned LogRead = 7,    // beats that are read
  parameter int unsigned LogWrite = 5,   // beats that are written
  parameter int unsigned LogBursts = 4,
  parameter type axi_request_t = default_rows_request_t,    // RS_AXI_TYPES
  parameter type axi_response_t = default_rows_response_t
) (
  // cluster
  input  logic          clk_i,
  input  logic          rst_ni,
  input  axi_request_t  axi_i,
  output axi_response_t axi_o,
  // memory
  input  logic          mem_clk_i,
  input  logic          mem_rst_ni,
  output axi_request_t  mem_axi_o,
  input  axi_response_t mem_axi_i
);
  localparam int unsigned BurstWidth = $bits(axi_i.ar.addr) + $bits(axi_i.ar.len);
  localparam int unsigned DataWidth = $bits(axi_i.w.data);

  // ---- to memory --------------------------------------------------------------------------------
  rs_async_fifo #(
    .Width(BurstWidth),
    .LogDepth(LogBursts)
  ) u_ar (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(axi_i.ar_valid),
    .wready_o(axi_o.ar_ready),
    .wdata_i({axi_i.ar.addr, axi_i.ar.len}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_axi_o.ar_valid),
    .rready_i(mem_axi_i.ar_ready),
    .rdata_o({mem_axi_o.ar.addr, mem_axi_o.ar.len}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(BurstWidth),
    .LogDepth(LogBursts)
  ) u_aw (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(axi_i.aw_valid),
    .wready_o(axi_o.aw_ready),
    .wdata_i({axi_i.aw.addr, axi_i.aw.len}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_axi_o.aw_valid),
    .rready_i(mem_axi_i.aw_ready),
    .rdata_o({mem_axi_o.aw.addr, mem_axi_o.aw.len}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(DataWidth + 1),
    .LogDepth(LogWrite)
  ) u_w (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(axi_i.w_valid),
    .wready_o(axi_o.w_ready),
    .wdata_i({axi_i.w.last, axi_i.w.data}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_axi_o.w_valid),
    .rready_i(mem_axi_i.w_ready),
    .rdata_o({mem_axi_o.w.last, mem_axi_o.w.data}),
    .rcount_o()
  );
  assign mem_axi_o.ar.id       = axi_i.ar.id;
  assign mem_axi_o.ar.size     = axi_i.ar.size;
  assign mem_axi_o.ar.burst    = axi_i.ar.burst;
  assign mem_axi_o.ar.cache    = axi_i.ar.cache;
  assign mem_axi_o.ar.prot     = axi_i.ar.prot;
  assign mem_axi_o.aw.id       = axi_i.aw.id;
  assign mem_axi_o.aw.size     = axi_i.aw.size;
  assign mem_axi_o.aw.burst    = axi_i.aw.burst;
  assign mem_axi_o.aw.cache    = axi_i.aw.cache;
  assign mem_axi_o.aw.prot     = axi_i.aw.prot;
  assign mem_axi_o.w.strb      = axi_i.w.strb;

  // ---- from memory ------------------------------------------------------------------------------
  rs_async_fifo #(
    .Width(DataWidth + 3),
    .LogDepth(LogRead)
  ) u_r (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(mem_axi_i.r_valid),
    .wready_o(mem_axi_o.r_ready),
    .wdata_i({mem_axi_i.r.resp, mem_axi_i.r.last, mem_axi_i.r.data}),
    .wcount_o(),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(axi_o.r_valid),
    .rready_i(axi_i.r_ready),
    .rdata_o({axi_o.r.resp, axi_o.r.last, axi_o.r.data}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(2),
    .LogDepth(LogBursts)
  ) u_b (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(mem_axi_i.b_valid),
    .wready_o(mem_axi_o.b_ready),
    .wdata_i(mem_axi_i.b.resp),
    .wcount_o(),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(axi_o.b_valid),
    .rready_i(axi_i.b_ready),
    .rdata_o(axi_o.b.resp),
    .rcount_o()
  );
  assign axi_o.r.id = '0;
  assign axi_o.b.id = '0;
endmodule
