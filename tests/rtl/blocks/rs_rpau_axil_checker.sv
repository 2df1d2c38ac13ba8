// Binds rs_axi_checker to the data path of rs_rpau_axil. Benches also send it illegal bursts.
module rs_rpau_axil_checker;
  bind rs_rpau_axil rs_axi_checker #(
    .AddrWidth(rs_shell_pkg::DataAddrWidth),
    .DataBits(rs_shell_pkg::BeatBits),
    .IdBits(rs_shell_pkg::DataIdWidth),
    .Legal(1'b0)
  ) u_checker (
    .clk_i,
    .rst_ni,
    .aw_valid_i(s_axi_awvalid),
    .aw_ready_i(s_axi_awready),
    .aw_id_i(s_axi_awid),
    .aw_addr_i(s_axi_awaddr),
    .aw_len_i(s_axi_awlen),
    .aw_size_i(s_axi_awsize),
    .aw_burst_i(s_axi_awburst),
    .w_valid_i(s_axi_wvalid),
    .w_ready_i(s_axi_wready),
    .w_last_i(s_axi_wlast),
    .w_strb_i(s_axi_wstrb),
    .w_data_i(s_axi_wdata),
    .b_valid_i(s_axi_bvalid),
    .b_ready_i(s_axi_bready),
    .b_id_i(s_axi_bid),
    .b_resp_i(s_axi_bresp),
    .ar_valid_i(s_axi_arvalid),
    .ar_ready_i(s_axi_arready),
    .ar_id_i(s_axi_arid),
    .ar_addr_i(s_axi_araddr),
    .ar_len_i(s_axi_arlen),
    .ar_size_i(s_axi_arsize),
    .ar_burst_i(s_axi_arburst),
    .r_valid_i(s_axi_rvalid),
    .r_ready_i(s_axi_rready),
    .r_last_i(s_axi_rlast),
    .r_id_i(s_axi_rid),
    .r_resp_i(s_axi_rresp),
    .r_data_i(s_axi_rdata)
  );
endmodule
