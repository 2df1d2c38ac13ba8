// One channel of the DMA: the engine on the bus's clock, rs_dma_device on the device's clock, and
// the FIFOs and the reset between them.
//
// Descriptors, their answers, and words each way cross in a FIFO of their own. rst_ni is the
// device's reset: what the channel does is then lost, and it stops with ErrDevice. Rules of the two
// resets: rs_dma_reset.
module rs_dma_channel
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  parameter  string       RamStyle = "block",
  localparam int unsigned BeatBytes = Cfg.DataBits / 8,
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input  logic                                    bus_clk_i,
  input  logic                                    bus_rst_ni,
  input  control_t                                control_i,
  output status_t                                 status_o,
  output logic                                    ar_valid_o,
  input  logic                                    ar_ready_i,
  output logic [AddrBits-1:0]                     ar_addr_o,
  output logic [7:0]                              ar_len_o,
  output logic                                    ar_turn_o,
  input  logic                                    r_valid_i,
  input  logic                                    r_last_i,
  input  logic                                    r_error_i,
  input  logic [Cfg.DataBits-1:0]                 r_data_i,
  output logic                                    aw_valid_o,
  input  logic                                    aw_ready_i,
  output logic [AddrBits-1:0]                     aw_addr_o,
  output logic [7:0]                              aw_len_o,
  output logic                                    aw_turn_o,
  output logic                                    w_valid_o,
  input  logic                                    w_ready_i,
  output logic                                    w_last_o,
  output logic [BeatBytes-1:0]                    w_strb_o,
  output logic [Cfg.DataBits-1:0]                 w_data_o,
  input  logic                                    b_valid_i,
  input  logic                                    b_error_i,

  input  logic                                    clk_i,
  input  logic                                    rst_ni,
  output logic                                    host_we_o,
  output logic                                    host_re_o,
  output logic [SpaceBits-1:0]                    host_space_o,
  output logic [UnitBits-1:0]                     host_unit_o,
  output logic [IndexBits-1:0]                    host_index_o,
  output logic [RowBits-1:0]                      host_row_o,
  output logic [Cfg.HostWords-1:0][Cfg.Width-1:0] host_wdata_o,
  input  logic                                    host_rvalid_i,
  input  logic [Cfg.HostWords-1:0][Cfg.Width-1:0] host_rdata_i,
  input  logic                                    host_busy_i,
  output command_t                                asked_o,
  input  logic                                    refused_i,
  output logic                                    moving_o,
  output logic                                    start_o,
  input  logic                                    busy_i,
  input  logic [15:0]                             opened_i,
  input  logic [63:0]                             cycles_i
);
  localparam int unsigned LogWaiting = 3;  // descriptors that wait for the device


  logic up, down, reset_request, device_rst_n;
  rs_dma_reset u_reset (
    .bus_clk_i,
    .bus_rst_ni,
    .request_i(reset_request),
    .up_o(up),
    .down_o(down),
    .clk_i,
    .rst_ni,
    .device_rst_no(device_rst_n)
  );

  logic                   command_in_valid, command_in_ready, command_valid, command_ready;
  logic                   answer_in_valid, answer_in_ready, answer_valid, answer_ready;
  logic                   to_in_valid, to_valid, to_ready;
  logic                   from_in_valid, from_in_ready, from_valid, from_ready;
  command_t               command_in, command;
  answer_t                answer_in, answer;
  logic [8*LineBytes-1:0] to_in, to, from_in, from;
  logic [Cfg.LogDepth:0]  to_count, from_in_count, from_count;

  rs_dma_engine #(
    .Cfg(Cfg)
  ) u_engine (
    .clk_i(bus_clk_i),
    .rst_ni(bus_rst_ni),
    .control_i,
    .status_o,
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .ar_turn_o,
    .r_valid_i,
    .r_last_i,
    .r_error_i,
    .r_data_i,
    .aw_valid_o,
    .aw_ready_i,
    .aw_addr_o,
    .aw_len_o,
    .aw_turn_o,
    .w_valid_o,
    .w_ready_i,
    .w_last_o,
    .w_strb_o,
    .w_data_o,
    .b_valid_i,
    .b_error_i,
    .up_i(up),
    .down_i(down),
    .reset_request_o(reset_request),
    .command_valid_o(command_in_valid),
    .command_ready_i(command_in_ready),
    .command_o(command_in),
    .answer_valid_i(answer_valid),
    .answer_ready_o(answer_ready),
    .answer_i(answer),
    .out_valid_o(to_in_valid),
    .out_o(to_in),
    .out_count_i(to_count),
    .in_valid_i(from_valid),
    .in_ready_o(from_ready),
    .in_i(from),
    .in_count_i(from_count)
  );

  rs_async_fifo #(
    .Width($bits(command_t)),
    .LogDepth(LogWaiting)
  ) u_commands (
    .wclk_i(bus_clk_i),
    .wrst_ni(up),
    .wvalid_i(command_in_valid),
    .wready_o(command_in_ready),
    .wdata_i(command_in),
    .wcount_o(),
    .rclk_i(clk_i),
    .rrst_ni(device_rst_n),
    .rvalid_o(command_valid),
    .rready_i(command_ready),
    .rdata_o(command),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width($bits(answer_t)),
    .LogDepth(LogWaiting)
  ) u_answers (
    .wclk_i(clk_i),
    .wrst_ni(device_rst_n),
    .wvalid_i(answer_in_valid),
    .wready_o(answer_in_ready),
    .wdata_i(answer_in),
    .wcount_o(),
    .rclk_i(bus_clk_i),
    .rrst_ni(up),
    .rvalid_o(answer_valid),
    .rready_i(answer_ready),
    .rdata_o(answer),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(8 * LineBytes),
    .LogDepth(Cfg.LogDepth),
    .RamStyle(RamStyle)
  ) u_to_device (
    .wclk_i(bus_clk_i),
    .wrst_ni(up),
    .wvalid_i(to_in_valid),
    .wready_o(),
    .wdata_i(to_in),
    .wcount_o(to_count),
    .rclk_i(clk_i),
    .rrst_ni(device_rst_n),
    .rvalid_o(to_valid),
    .rready_i(to_ready),
    .rdata_o(to),
    .rcount_o()
  );
  rs_async_fifo #(
    .Width(8 * LineBytes),
    .LogDepth(Cfg.LogDepth),
    .RamStyle(RamStyle)
  ) u_from_device (
    .wclk_i(clk_i),
    .wrst_ni(device_rst_n),
    .wvalid_i(from_in_valid),
    .wready_o(from_in_ready),
    .wdata_i(from_in),
    .wcount_o(from_in_count),
    .rclk_i(bus_clk_i),
    .rrst_ni(up),
    .rvalid_o(from_valid),
    .rready_i(from_ready),
    .rdata_o(from),
    .rcount_o(from_count)
  );

  rs_dma_device #(
    .Cfg(Cfg)
  ) u_device (
    .clk_i,
    .rst_ni(device_rst_n),
    .command_valid_i(command_valid),
    .command_ready_o(command_ready),
    .command_i(command),
    .answer_valid_o(answer_in_valid),
    .answer_ready_i(answer_in_ready),
    .answer_o(answer_in),
    .in_valid_i(to_valid),
    .in_ready_o(to_ready),
    .in_i(to),
    .out_valid_o(from_in_valid),
    .out_ready_i(from_in_ready),
    .out_o(from_in),
    .out_count_i(from_in_count),
    .host_we_o,
    .host_re_o,
    .host_space_o,
    .host_unit_o,
    .host_index_o,
    .host_row_o,
    .host_wdata_o,
    .host_rvalid_i,
    .host_rdata_i,
    .host_busy_i,
    .start_o,
    .asked_o,
    .refused_i,
    .moving_o,
    .busy_i,
    .opened_i,
    .cycles_i
  );
endmodule
