// An accelerator of the RPAU architecture behind its register block, on a serial line.
//
// For boards whose only link to the host is a UART: rs_rpau_shell, whose registers rs_uart_bridge
// reaches by frames (docs/guide/uart.md), and whose data path is left unused. rst_ni is synchronous
// and active low; rx_i may come straight from its pin.
module rs_rpau_uart
  import rs_rpau_pkg::host_words;
  import rs_shell_pkg::*;
#(
  parameter  rs_rpau_pkg::rpau_cfg_t Cfg = rs_rpau_pkg::DefaultCfg,
  parameter  int unsigned ClockHz = 48_000_000,
  parameter  int unsigned Baud = 1_000_000,
  parameter  int unsigned SilenceCycles = ClockHz / 50
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic rx_i,
  output logic tx_o
);
  axil_request_t  axil_request;
  axil_response_t axil_response;
  rs_uart_bridge #(
    .ClockHz(ClockHz),
    .Baud(Baud),
    .SilenceCycles(SilenceCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .axil_o(axil_request),
    .axil_i(axil_response)
  );

  axi_request_t  no_request;
  assign no_request = '{b_ready: 1'b1, r_ready: 1'b1, default: '0};
  localparam int unsigned HostWords = host_words(2 * Cfg.Cores);
  logic [Cfg.Width-1:0] no_words [HostWords];
  assign no_words = '{default: '0};
  rs_rpau_shell #(
    .Cfg(Cfg)
  ) u_device (
    .clk_i,
    .rst_ni,
    .axil_i(axil_request),
    .axil_o(axil_response),
    .axi_i(no_request),
    .axi_o(),
    .dma_i('0),
    .dma_wdata_i(no_words),
    .dma_o(),
    .dma_rdata_o()
  );
endmodule
