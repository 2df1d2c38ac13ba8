// A port to memory that crosses to memory's clock, to beats of half as many bits.
//
// clk_i is the cluster's side, a slave of PortBits; mem_clk_i memory's, a master of PortBits / 2. A burst of
// n beats becomes one of 2n, so that n is at most 128, and at most 8 where memory speaks AXI3. All bursts are
// INCR bursts of whole beats, with one id. A beat that is read has an error where one of its halves has.
//
// Both sides move a beat a cycle while their partner does: at 250 and 450 MHz, 225 million beats a second.
// Resets belong together, as rs_async_fifo says.
//
// Latency: about 5 cycles of mem_clk_i and one of clk_i for an address, 4 of clk_i for a beat that is read.
// Cost: five FIFOs between the clocks, 2^LogDepth beats for each direction and 2^LogBursts bursts, in LUTs.
module rs_vector_crossing #(
  parameter  int unsigned PortBits = 512,
  parameter  int unsigned AddrWidth = 40,
  parameter  int unsigned LogDepth = 5,
  parameter  int unsigned LogBursts = 3,
  localparam int unsigned MemoryBits = PortBits / 2
) (
  // cluster
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  ar_valid_i,
  input  logic [ AddrWidth-1:0] ar_addr_i,
  input  logic [           7:0] ar_len_i,
  output logic                  ar_ready_o,
  output logic                  r_valid_o,
  output logic                  r_last_o,
  output logic [           1:0] r_resp_o,
  output logic [  PortBits-1:0] r_data_o,
  input  logic                  r_ready_i,
  input  logic                  aw_valid_i,
  input  logic [ AddrWidth-1:0] aw_addr_i,
  input  logic [           7:0] aw_len_i,
  output logic                  aw_ready_o,
  input  logic                  w_valid_i,
  input  logic                  w_last_i,
  input  logic [  PortBits-1:0] w_data_i,
  output logic                  w_ready_o,
  output logic                  b_valid_o,
  output logic [           1:0] b_resp_o,
  input  logic                  b_ready_i,
  // memory
  input  logic                  mem_clk_i,
  input  logic                  mem_rst_ni,
  output logic                  mem_ar_valid_o,
  output logic [ AddrWidth-1:0] mem_ar_addr_o,
  output logic [           7:0] mem_ar_len_o,
  input  logic                  mem_ar_ready_i,
  input  logic                  mem_r_valid_i,
  input  logic                  mem_r_last_i,
  input  logic [           1:0] mem_r_resp_i,
  input  logic [MemoryBits-1:0] mem_r_data_i,
  output logic                  mem_r_ready_o,
  output logic                  mem_aw_valid_o,
  output logic [ AddrWidth-1:0] mem_aw_addr_o,
  output logic [           7:0] mem_aw_len_o,
  input  logic                  mem_aw_ready_i,
  output logic                  mem_w_valid_o,
  output logic                  mem_w_last_o,
  output logic [MemoryBits-1:0] mem_w_data_o,
  input  logic                  mem_w_ready_i,
  input  logic                  mem_b_valid_i,
  input  logic [           1:0] mem_b_resp_i,
  output logic                  mem_b_ready_o
);
  // ---- addresses: twice as many beats ---------------------------------------------------------------
  logic [6:0] ar_len, aw_len;
  logic [LogBursts:0] unused_ar_wcount, unused_ar_rcount, unused_aw_wcount, unused_aw_rcount;
  logic unused_len;
  assign unused_len   = ar_len_i[7] ^ aw_len_i[7];
  assign mem_ar_len_o = {ar_len, 1'b1};
  assign mem_aw_len_o = {aw_len, 1'b1};
  rs_async_fifo #(
    .Width(AddrWidth + 7),
    .LogDepth(LogBursts)
  ) u_ar (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(ar_valid_i),
    .wready_o(ar_ready_o),
    .wdata_i({ar_addr_i, ar_len_i[6:0]}),
    .wcount_o(unused_ar_wcount),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_ar_valid_o),
    .rready_i(mem_ar_ready_i),
    .rdata_o({mem_ar_addr_o, ar_len}),
    .rcount_o(unused_ar_rcount)
  );
  rs_async_fifo #(
    .Width(AddrWidth + 7),
    .LogDepth(LogBursts)
  ) u_aw (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(aw_valid_i),
    .wready_o(aw_ready_o),
    .wdata_i({aw_addr_i, aw_len_i[6:0]}),
    .wcount_o(unused_aw_wcount),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_aw_valid_o),
    .rready_i(mem_aw_ready_i),
    .rdata_o({mem_aw_addr_o, aw_len}),
    .rcount_o(unused_aw_rcount)
  );
  Length_A :
  assert property (@(posedge clk_i) !rst_ni || !((ar_valid_i && ar_len_i[7]) ||
                                                 (aw_valid_i && aw_len_i[7])))
  else $error("a burst of more than 128 beats cannot become one of twice as many");

  // ---- what is read: the lower half first -----------------------------------------------------------
  logic                  upper_q;  // the lower half is there
  logic [MemoryBits-1:0] lower_q;
  logic                  failed_q, r_ready, r_valid;
  logic [LogDepth:0]     unused_r_wcount, unused_r_rcount;
  assign r_valid       = mem_r_valid_i && upper_q;
  assign mem_r_ready_o = !upper_q || r_ready;
  always_ff @(posedge mem_clk_i) begin
    if (!mem_rst_ni) upper_q <= 1'b0;
    else if (mem_r_valid_i && mem_r_ready_o) upper_q <= !upper_q;
    if (mem_r_valid_i && !upper_q) begin
      lower_q  <= mem_r_data_i;
      failed_q <= mem_r_resp_i[1];
    end
  end
  logic unused_resp;
  assign unused_resp = mem_r_resp_i[0] ^ mem_b_resp_i[0];
  logic r_failed;
  assign r_resp_o = {r_failed, 1'b0};
  rs_async_fifo #(
    .Width(PortBits + 2),
    .LogDepth(LogDepth)
  ) u_r (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(r_valid),
    .wready_o(r_ready),
    .wdata_i({failed_q || mem_r_resp_i[1], mem_r_last_i, mem_r_data_i, lower_q}),
    .wcount_o(unused_r_wcount),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(r_valid_o),
    .rready_i(r_ready_i),
    .rdata_o({r_failed, r_last_o, r_data_o}),
    .rcount_o(unused_r_rcount)
  );
  Halves_A :
  assert property (@(posedge mem_clk_i) !mem_rst_ni || !mem_r_valid_i || upper_q || !mem_r_last_i)
  else $error("a burst ends with half of a beat");

  // ---- what is written ------------------------------------------------------------------------------
  logic                w_last, w_upper_q;
  logic [PortBits-1:0] w_data;
  logic [LogDepth:0]   unused_w_wcount, unused_w_rcount;
  assign mem_w_data_o = w_upper_q ? w_data[PortBits-1:MemoryBits] : w_data[MemoryBits-1:0];
  assign mem_w_last_o = w_last && w_upper_q;
  always_ff @(posedge mem_clk_i) begin
    if (!mem_rst_ni) w_upper_q <= 1'b0;
    else if (mem_w_valid_o && mem_w_ready_i) w_upper_q <= !w_upper_q;
  end
  rs_async_fifo #(
    .Width(PortBits + 1),
    .LogDepth(LogDepth)
  ) u_w (
    .wclk_i(clk_i),
    .wrst_ni(rst_ni),
    .wvalid_i(w_valid_i),
    .wready_o(w_ready_o),
    .wdata_i({w_last_i, w_data_i}),
    .wcount_o(unused_w_wcount),
    .rclk_i(mem_clk_i),
    .rrst_ni(mem_rst_ni),
    .rvalid_o(mem_w_valid_o),
    .rready_i(mem_w_ready_i && w_upper_q),
    .rdata_o({w_last, w_data}),
    .rcount_o(unused_w_rcount)
  );
  logic b_failed;
  logic [LogBursts:0] unused_b_wcount, unused_b_rcount;
  assign b_resp_o = {b_failed, 1'b0};
  rs_async_fifo #(
    .Width(1),
    .LogDepth(LogBursts)
  ) u_b (
    .wclk_i(mem_clk_i),
    .wrst_ni(mem_rst_ni),
    .wvalid_i(mem_b_valid_i),
    .wready_o(mem_b_ready_o),
    .wdata_i(mem_b_resp_i[1]),
    .wcount_o(unused_b_wcount),
    .rclk_i(clk_i),
    .rrst_ni(rst_ni),
    .rvalid_o(b_valid_o),
    .rready_i(b_ready_i),
    .rdata_o(b_failed),
    .rcount_o(unused_b_rcount)
  );
endmodule
