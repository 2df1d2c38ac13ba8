// rs_vector_crossing with channels of flat vectors as ports, for cocotb.
`include "rs_axi.svh"

module rs_crossing_bench #(
  parameter int unsigned PortBits = 64,
  parameter int unsigned AddrWidth = 40
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
  `RS_AXI_TYPES(axi, 1, AddrWidth, PortBits)
  axi_request_t  request, mem_request;
  axi_response_t response, mem_response;
  always_comb begin
    request          = '0;
    request.ar_valid = ar_valid_i;
    request.ar.addr  = ar_addr_i;
    request.ar.len   = ar_len_i;
    request.r_ready  = r_ready_i;
    request.aw_valid = aw_valid_i;
    request.aw.addr  = aw_addr_i;
    request.aw.len   = aw_len_i;
    request.w_valid  = w_valid_i;
    request.w.last   = w_last_i;
    request.w.data   = w_data_i;
    request.b_ready  = b_ready_i;
  end
  always_comb begin
    mem_response          = '0;
    mem_response.ar_ready = mem_ar_ready_i;
    mem_response.r_valid  = mem_r_valid_i;
    mem_response.r.last   = mem_r_last_i;
    mem_response.r.resp   = mem_r_resp_i;
    mem_response.r.data   = mem_r_data_i;
    mem_response.aw_ready = mem_aw_ready_i;
    mem_response.w_ready  = mem_w_ready_i;
    mem_response.b_valid  = mem_b_valid_i;
    mem_response.b.resp   = mem_b_resp_i;
  end
  assign ar_ready_o     = response.ar_ready;
  assign r_valid_o      = response.r_valid;
  assign r_last_o       = response.r.last;
  assign r_resp_o       = response.r.resp;
  assign r_data_o       = response.r.data;
  assign aw_ready_o     = response.aw_ready;
  assign w_ready_o      = response.w_ready;
  assign b_valid_o      = response.b_valid;
  assign b_resp_o       = response.b.resp;
  assign mem_ar_valid_o = mem_request.ar_valid;
  assign mem_ar_addr_o  = mem_request.ar.addr;
  assign mem_ar_len_o   = mem_request.ar.len;
  assign mem_r_ready_o  = mem_request.r_ready;
  assign mem_aw_valid_o = mem_request.aw_valid;
  assign mem_aw_addr_o  = mem_request.aw.addr;
  assign mem_aw_len_o   = mem_request.aw.len;
  assign mem_w_valid_o  = mem_request.w_valid;
  assign mem_w_last_o   = mem_request.w.last;
  assign mem_w_data_o   = mem_request.w.data;
  assign mem_b_ready_o  = mem_request.b_ready;
  rs_vector_crossing #(
    .axi_request_t(axi_request_t),
    .axi_response_t(axi_response_t)
  ) u_crossing (
    .clk_i,
    .rst_ni,
    .axi_i(request),
    .axi_o(response),
    .mem_clk_i,
    .mem_rst_ni,
    .mem_axi_o(mem_request),
    .mem_axi_i(mem_response)
  );
endmodule
