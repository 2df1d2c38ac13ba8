// rs_vector_shell with flat vectors as ports, for cocotb, and a checker at each of its AXI4 ports:
// those for rows, from port 0 on, then those for lists.
module rs_vector_bus_bench
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned Rows = Clusters * Cfg.Ports
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  // verilog_lint: waive-start port-name-suffix
  input  logic [AxilAddrWidth-1:0]      s_axil_awaddr,
  input  logic [2:0]                    s_axil_awprot,
  input  logic                          s_axil_awvalid,
  output logic                          s_axil_awready,
  input  logic [AxilDataWidth-1:0]      s_axil_wdata,
  input  logic [3:0]                    s_axil_wstrb,
  input  logic                          s_axil_wvalid,
  output logic                          s_axil_wready,
  output logic [1:0]                    s_axil_bresp,
  output logic                          s_axil_bvalid,
  input  logic                          s_axil_bready,
  input  logic [AxilAddrWidth-1:0]      s_axil_araddr,
  input  logic [2:0]                    s_axil_arprot,
  input  logic                          s_axil_arvalid,
  output logic                          s_axil_arready,
  output logic [AxilDataWidth-1:0]      s_axil_rdata,
  output logic [1:0]                    s_axil_rresp,
  output logic                          s_axil_rvalid,
  input  logic                          s_axil_rready,
  output logic [Rows*AddrWidth-1:0]     m_axi_awaddr,
  output logic [Rows*8-1:0]             m_axi_awlen,
  output logic [Rows-1:0]               m_axi_awvalid,
  input  logic [Rows-1:0]               m_axi_awready,
  output logic [Rows*PortBits-1:0]      m_axi_wdata,
  output logic [Rows-1:0]               m_axi_wlast,
  output logic [Rows-1:0]               m_axi_wvalid,
  input  logic [Rows-1:0]               m_axi_wready,
  input  logic [Rows*2-1:0]             m_axi_bresp,
  input  logic [Rows-1:0]               m_axi_bvalid,
  output logic [Rows-1:0]               m_axi_bready,
  output logic [Rows*AddrWidth-1:0]     m_axi_araddr,
  output logic [Rows*8-1:0]             m_axi_arlen,
  output logic [Rows-1:0]               m_axi_arvalid,
  input  logic [Rows-1:0]               m_axi_arready,
  input  logic [Rows*PortBits-1:0]      m_axi_rdata,
  input  logic [Rows*2-1:0]             m_axi_rresp,
  input  logic [Rows-1:0]               m_axi_rlast,
  input  logic [Rows-1:0]               m_axi_rvalid,
  output logic [Rows-1:0]               m_axi_rready,
  output logic [Clusters*AddrWidth-1:0] m_list_araddr,
  output logic [Clusters*8-1:0]         m_list_arlen,
  output logic [Clusters-1:0]           m_list_arvalid,
  input  logic [Clusters-1:0]           m_list_arready,
  input  logic [Clusters*ListBits-1:0]  m_list_rdata,
  input  logic [Clusters*2-1:0]         m_list_rresp,
  input  logic [Clusters-1:0]           m_list_rlast,
  input  logic [Clusters-1:0]           m_list_rvalid,
  output logic [Clusters-1:0]           m_list_rready
  // verilog_lint: waive-stop port-name-suffix
);
  logic [Rows-1:0][2:0]            aw_size, ar_size;
  logic [Rows-1:0][1:0]            aw_burst, ar_burst;
  logic [Rows-1:0][3:0]            unused_aw_cache, unused_ar_cache;
  logic [Rows-1:0][2:0]            unused_aw_prot, unused_ar_prot;
  logic [Rows-1:0][PortBits/8-1:0] w_strb;
  logic [Clusters-1:0][2:0]        list_size, unused_list_prot;
  logic [Clusters-1:0][1:0]        list_burst;
  logic [Clusters-1:0][3:0]        unused_list_cache;
  logic                            unused_start, unused_run, unused_done;
  rs_vector_shell #(
    .Cfg(Cfg)
  ) u_shell (
    .mem_clk_i(clk_i),
    .mem_rst_ni(rst_ni),
    .m_axi_awsize(aw_size),
    .m_axi_awburst(aw_burst),
    .m_axi_awcache(unused_aw_cache),
    .m_axi_awprot(unused_aw_prot),
    .m_axi_wstrb(w_strb),
    .m_axi_arsize(ar_size),
    .m_axi_arburst(ar_burst),
    .m_axi_arcache(unused_ar_cache),
    .m_axi_arprot(unused_ar_prot),
    .m_list_arsize(list_size),
    .m_list_arburst(list_burst),
    .m_list_arcache(unused_list_cache),
    .m_list_arprot(unused_list_prot),
    .start_o(unused_start),
    .run_o(unused_run),
    .done_o(unused_done),
    .*
  );
  for (genvar p = 0; p < Rows; p++) begin : gen_rows
    rs_axi_checker #(
      .AddrWidth(AddrWidth),
      .DataBits(PortBits)
    ) u_checker (
      .clk_i,
      .rst_ni,
      .aw_valid_i(m_axi_awvalid[p]),
      .aw_ready_i(m_axi_awready[p]),
      .aw_id_i(1'b0),
      .aw_addr_i(m_axi_awaddr[p*AddrWidth+:AddrWidth]),
      .aw_len_i(m_axi_awlen[8*p+:8]),
      .aw_size_i(aw_size[p]),
      .aw_burst_i(aw_burst[p]),
      .w_valid_i(m_axi_wvalid[p]),
      .w_ready_i(m_axi_wready[p]),
      .w_last_i(m_axi_wlast[p]),
      .w_strb_i(w_strb[p]),
      .w_data_i(m_axi_wdata[p*PortBits+:PortBits]),
      .b_valid_i(m_axi_bvalid[p]),
      .b_ready_i(m_axi_bready[p]),
      .b_id_i(1'b0),
      .b_resp_i(m_axi_bresp[2*p+:2]),
      .ar_valid_i(m_axi_arvalid[p]),
      .ar_ready_i(m_axi_arready[p]),
      .ar_id_i(1'b0),
      .ar_addr_i(m_axi_araddr[p*AddrWidth+:AddrWidth]),
      .ar_len_i(m_axi_arlen[8*p+:8]),
      .ar_size_i(ar_size[p]),
      .ar_burst_i(ar_burst[p]),
      .r_valid_i(m_axi_rvalid[p]),
      .r_ready_i(m_axi_rready[p]),
      .r_last_i(m_axi_rlast[p]),
      .r_id_i(1'b0),
      .r_resp_i(m_axi_rresp[2*p+:2]),
      .r_data_i(m_axi_rdata[p*PortBits+:PortBits])
    );
  end
  for (genvar c = 0; c < Clusters; c++) begin : gen_lists
    rs_axi_checker #(
      .AddrWidth(AddrWidth),
      .DataBits(ListBits)
    ) u_checker (
      .clk_i,
      .rst_ni,
      .aw_valid_i(1'b0),
      .aw_ready_i(1'b0),
      .aw_id_i(1'b0),
      .aw_addr_i('0),
      .aw_len_i('0),
      .aw_size_i('0),
      .aw_burst_i('0),
      .w_valid_i(1'b0),
      .w_ready_i(1'b0),
      .w_last_i(1'b0),
      .w_strb_i('0),
      .w_data_i('0),
      .b_valid_i(1'b0),
      .b_ready_i(1'b0),
      .b_id_i(1'b0),
      .b_resp_i('0),
      .ar_valid_i(m_list_arvalid[c]),
      .ar_ready_i(m_list_arready[c]),
      .ar_id_i(1'b0),
      .ar_addr_i(m_list_araddr[c*AddrWidth+:AddrWidth]),
      .ar_len_i(m_list_arlen[8*c+:8]),
      .ar_size_i(list_size[c]),
      .ar_burst_i(list_burst[c]),
      .r_valid_i(m_list_rvalid[c]),
      .r_ready_i(m_list_rready[c]),
      .r_last_i(m_list_rlast[c]),
      .r_id_i(1'b0),
      .r_resp_i(m_list_rresp[2*c+:2]),
      .r_data_i(m_list_rdata[c*ListBits+:ListBits])
    );
  end
endmodule
