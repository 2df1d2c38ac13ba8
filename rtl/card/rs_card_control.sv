// The registers of a card (rs_card_registers) at the control ports of its DMA.
//
// valid_i, access_i and end_o: rs_axil_access. irq_o: a channel has reported an event that the host
// has not yet acknowledged.
module rs_card_control
  import rs_dma_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter int unsigned Coprocessors = 2,
  parameter int unsigned HostBits = 128
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        valid_i,
  input  axil_access_t                access_i,
  output axil_end_t                   end_o,
  output control_t [Coprocessors-1:0] control_o,
  input  status_t  [Coprocessors-1:0] status_i,
  output logic     [Coprocessors-1:0] irq_o
);
  localparam int unsigned Channels = 8;  // of the registers
  axil_request_t  request;
  axil_response_t response;
  rs_axil_access u_access (
    .clk_i,
    .rst_ni,
    .valid_i,
    .access_i,
    .end_o,
    .axil_o(request),
    .axil_i(response)
  );

  rs_card_registers_pkg::rs_card_registers__in_t  hwif_in;
  rs_card_registers_pkg::rs_card_registers__out_t hwif_out;
  rs_card_registers u_registers (
    .clk(clk_i),
    .rst_n(rst_ni),
    .s_axil_awready(response.aw_ready),
    .s_axil_awvalid(request.aw_valid),
    .s_axil_awaddr(request.aw_addr),
    .s_axil_awprot(request.aw_prot),
    .s_axil_wready(response.w_ready),
    .s_axil_wvalid(request.w_valid),
    .s_axil_wdata(request.w_data),
    .s_axil_wstrb(request.w_strb),
    .s_axil_bready(request.b_ready),
    .s_axil_bvalid(response.b_valid),
    .s_axil_bresp(response.b_resp),
    .s_axil_arready(response.ar_ready),
    .s_axil_arvalid(request.ar_valid),
    .s_axil_araddr(request.ar_addr),
    .s_axil_arprot(request.ar_prot),
    .s_axil_rready(request.r_ready),
    .s_axil_rvalid(response.r_valid),
    .s_axil_rdata(response.r_data),
    .s_axil_rresp(response.r_resp),
    .hwif_in,
    .hwif_out
  );

  logic [Channels-1:0] reported;
  assign hwif_in.coprocessors.value.next = 32'(Coprocessors);
  assign hwif_in.host_bits.value.next    = 32'(HostBits);
  assign hwif_in.reported.value.next         = reported;
  for (genvar c = 0; c < Channels; c++) begin : gen_channel
    status_t status;
    assign reported[c] = hwif_out.channel[c].reported.value.value;
    assign hwif_in.channel[c].status.running.next  = status.running;
    assign hwif_in.channel[c].status.failed.next   = status.failed;
    assign hwif_in.channel[c].address.value.next   = status.address;
    assign hwif_in.channel[c].completed.value.next = status.completed;
    assign hwif_in.channel[c].reported.value.hwset     = status.reported;
    assign hwif_in.channel[c].error.value.next     = status.error;
    if (c < Coprocessors) begin : gen_there
      assign status       = status_i[c];
      assign irq_o[c]     = reported[c];
      assign control_o[c] = '{
              go: hwif_out.channel[c].control.go.value,
              stop: hwif_out.channel[c].control.stop.value,
              list: {
                hwif_out.channel[c].list.upper.value, hwif_out.channel[c].list.lower.value
              }
          };
    end else begin : gen_not_there
      assign status         = '0;
    end
  end
endmodule
