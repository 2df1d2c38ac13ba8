// A port to memory that crosses to memory's clock.
//
// clk_i is the clock of the cluster's port, a slave; mem_clk_i that of memory's, a master. Bursts
// stay as they are: INCR bursts of whole beats, with one id. Where memory is faster than the port,
// beats that it has read ahead wait here. So a refresh of memory that is shorter than 2^LogRead
// beats does not stop the port. For that, addresses must come that many cycles ahead;
// rs_vector_loads sends them so.
//
// Both ports move a beat a cycle while their partner does. Resets belong together, as rs_async_fifo
// says.
//
// Latency: 4 cycles of mem_clk_i and one of clk_i for an address, 4 of clk_i and one of mem_clk_i
// for a beat. Cost: five FIFOs between the clocks, in LUTs.
module rs_vector_crossing #(
  parameter int unsigned PortBits = 256,
  parameter int unsigned AddrWidth = 40,
  parameter int unsigned LogRead = 7,    // beats that are read
  parameter int unsigned LogWrite = 5,   // beats that are written
  parameter int unsigned LogBursts = 4
) (
  // cluster
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 ar_valid_i,
  input  logic [AddrWidth-1:0] ar_addr_i,
  input  logic [          7:0] ar_len_i,
  output logic                 ar_ready_o,
  output logic                 r_valid_o,
  output logic                 r_last_o,
  output logic [          1:0] r_resp_o,
  output logic [ PortBits-1:0] r_data_o,
  input  logic                 r_ready_i,
  input  logic                 aw_valid_i,
  input  logic [AddrWidth-1:0] aw_addr_i,
  input  logic [          7:0] aw_len_i,
  output logic                 aw_ready_o,
  input  logic                 w_valid_i,
  input  logic                 w_last_i,
  input  logic [ PortBits-1:0] w_data_i,
  output logic                 w_ready_o,
  output logic                 b_valid_o,
  output logic [          1:0] b_resp_o,
  input  logic                 b_ready_i,
  // memory
  input  logic                 mem_clk_i,
  input  logic                 mem_rst_ni,
  output logic                 mem_ar_valid_o,
  output logic [AddrWidth-1:0] mem_ar_addr_o,
  output logic [          7:0] mem_ar_len_o,
  input  logic                 mem_ar_ready_i,
  input  logic                 mem_r_valid_i,
  input  logic                 mem_r_last_i,
  input  logic [          1:0] mem_r_resp_i,
  input  logic [ PortBits-1:0] mem_r_data_i,
  output logic                 mem_r_ready_o,
  output logic                 mem_aw_valid_o,
  output logic [AddrWidth-1:0] mem_aw_addr_o,
  output logic [          7:0] mem_aw_len_o,
  input  logic                 mem_aw_ready_i,
  output logic                 mem_w_valid_o,
  output logic                 mem_w_last_o,
  output logic [ PortBits-1:0] mem_w_data_o,
  input  logic                 mem_w_ready_i,
  input  logic                 mem_b_valid_i,
  input  logic [          1:0] mem_b_resp_i,
  output logic                 mem_b_ready_o
);

  // ---- to memory --------------------------------------------------------------------------------
  rs_async_fifo #(
    .Width(AddrWidth + 8),
    .LogDepth(LogBursts)
  ) u_ar (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(ar_valid_i),
    .wready_o(ar_ready_o),
    .wdata_i({ar_addr_i, ar_len_i}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_ar_valid_o),
    .rready_i(mem_ar_ready_i),
    .rdata_o({mem_ar_addr_o, mem_ar_len_o}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(AddrWidth + 8),
    .LogDepth(LogBursts)
  ) u_aw (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(aw_valid_i),
    .wready_o(aw_ready_o),
    .wdata_i({aw_addr_i, aw_len_i}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_aw_valid_o),
    .rready_i(mem_aw_ready_i),
    .rdata_o({mem_aw_addr_o, mem_aw_len_o}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(PortBits + 1),
    .LogDepth(LogWrite)
  ) u_w (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(w_valid_i),
    .wready_o(w_ready_o),
    .wdata_i({w_last_i, w_data_i}),
    .wcount_o(),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_w_valid_o),
    .rready_i(mem_w_ready_i),
    .rdata_o({mem_w_last_o, mem_w_data_o}),
    .rcount_o()
  );

  // ---- from memory ------------------------------------------------------------------------------
  rs_async_fifo #(
    .Width(PortBits + 3),
    .LogDepth(LogRead)
  ) u_r (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(mem_r_valid_i),
    .wready_o(mem_r_ready_o),
    .wdata_i({mem_r_resp_i, mem_r_last_i, mem_r_data_i}),
    .wcount_o(),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(r_valid_o),
    .rready_i(r_ready_i),
    .rdata_o({r_resp_o, r_last_o, r_data_o}),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(2),
    .LogDepth(LogBursts)
  ) u_b (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(mem_b_valid_i),
    .wready_o(mem_b_ready_o),
    .wdata_i(mem_b_resp_i),
    .wcount_o(),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(b_valid_o),
    .rready_i(b_ready_i),
    .rdata_o(b_resp_o),
    .rcount_o()
  );
endmodule
