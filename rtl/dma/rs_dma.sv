// DMA with lists of descriptors: several devices, one clock, behind one AXI4 master port of
// another.
//
// Each channel works through a list of descriptors in host memory, in its order, for the device of
// its number (docs/reference/dma.md). Channels know nothing of each other and share the bus
// (rs_dma_fabric).
//
//   control_i, status_o   A channel's control port, in the bus's clock (rs_dma_pkg).
//   axi_o, axi_i   AXI4 (rs_axi.svh): INCR bursts of whole beats, an ID a channel, addresses of 64
//             bits; a system takes those it has. Cacheable and bufferable, as memory of a host is.
//   host_*, asked_o ... cycles_i   A device's host port and its program, in the device's clock
//             (rs_dma_device); the first channel's are lowest. HostWords * (4 or 8 bytes) is a
//             power of two of 4 to 64 bytes.
//
// LogDepth: lines of a channel's FIFO each way, of the longer of a beat and a row. It bounds how
// much is fetched ahead, and is at least 5 and more than host read latency + 4 lines.
//
// OpenReads: bursts that all channels together have asked for and whose words have not come. Fewer
// keep closer to the order of channels, more hide a longer latency of the memory.
//
// bus_rst_ni and each device's rst_ni are synchronous, active low, and last at least 16 cycles of
// the slower clock. A rst_ni may come alone: what its channel does then is lost, and it stops with
// ErrDevice. bus_rst_ni resets the bus's logic and the devices', and comes with the reset of the
// bus itself.
//
// Cost, in each channel: two RAMs of 2^LogDepth lines; LUTs mostly for the bus's data, which each
// channel selects rows of.
module rs_dma
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  parameter  string       RamStyle = "block",
  parameter  type         axi_request_t = default_axi_request_t,    // RS_AXI_TYPES
  parameter  type         axi_response_t = default_axi_response_t,
  localparam int unsigned BeatBytes = Cfg.DataBits / 8
) (
  input  logic                                                      bus_clk_i,
  input  logic                                                      bus_rst_ni,
  input  control_t [Cfg.Channels-1:0]                               control_i,
  output status_t  [Cfg.Channels-1:0]                               status_o,

  output axi_request_t                                              axi_o,
  input  axi_response_t                                             axi_i,

  input  logic                                                      clk_i,
  input  logic [Cfg.Channels-1:0]                                   rst_ni,
  output logic [Cfg.Channels-1:0]                                   host_we_o,
  output logic [Cfg.Channels-1:0]                                   host_re_o,
  output logic [Cfg.Channels-1:0][SpaceBits-1:0]                    host_space_o,
  output logic [Cfg.Channels-1:0][UnitBits-1:0]                     host_unit_o,
  output logic [Cfg.Channels-1:0][IndexBits-1:0]                    host_index_o,
  output logic [Cfg.Channels-1:0][RowBits-1:0]                      host_row_o,
  output logic [Cfg.Channels-1:0][Cfg.HostWords-1:0][Cfg.Width-1:0] host_wdata_o,
  input  logic [Cfg.Channels-1:0]                                   host_rvalid_i,
  input  logic [Cfg.Channels-1:0][Cfg.HostWords-1:0][Cfg.Width-1:0] host_rdata_i,
  input  logic [Cfg.Channels-1:0]                                   host_busy_i,
  output command_t [Cfg.Channels-1:0]                               asked_o,
  input  logic [Cfg.Channels-1:0]                                   refused_i,
  output logic [Cfg.Channels-1:0]                                   moving_o,
  output logic [Cfg.Channels-1:0]                                   start_o,
  input  logic [Cfg.Channels-1:0]                                   busy_i,
  input  logic [Cfg.Channels-1:0][15:0]                             opened_i,
  input  logic [Cfg.Channels-1:0][63:0]                             cycles_i
);
  logic [Cfg.Channels-1:0]                   ar_valid, ar_ready, ar_turn, r_valid;
  logic [Cfg.Channels-1:0]                   aw_valid, aw_ready, aw_turn;
  logic [Cfg.Channels-1:0]                   w_valid, w_ready, w_last, b_valid;
  logic [Cfg.Channels-1:0][AddrBits-1:0]     ar_addr, aw_addr;
  logic [Cfg.Channels-1:0][7:0]              ar_len, aw_len;
  logic [Cfg.Channels-1:0][BeatBytes-1:0]    w_strb;
  logic [Cfg.Channels-1:0][Cfg.DataBits-1:0] w_data;
  logic                                      r_last, r_error, b_error;
  logic [Cfg.DataBits-1:0]                   r_data;

  rs_dma_fabric #(
    .Cfg(Cfg),
    .axi_request_t(axi_request_t),
    .axi_response_t(axi_response_t)
  ) u_fabric (
    .clk_i(bus_clk_i),
    .rst_ni(bus_rst_ni),
    .ar_valid_i(ar_valid),
    .ar_ready_o(ar_ready),
    .ar_addr_i(ar_addr),
    .ar_len_i(ar_len),
    .ar_turn_i(ar_turn),
    .r_valid_o(r_valid),
    .r_last_o(r_last),
    .r_error_o(r_error),
    .r_data_o(r_data),
    .aw_valid_i(aw_valid),
    .aw_ready_o(aw_ready),
    .aw_addr_i(aw_addr),
    .aw_len_i(aw_len),
    .aw_turn_i(aw_turn),
    .w_valid_i(w_valid),
    .w_ready_o(w_ready),
    .w_last_i(w_last),
    .w_strb_i(w_strb),
    .w_data_i(w_data),
    .b_valid_o(b_valid),
    .b_error_o(b_error),
    .axi_o,
    .axi_i
  );

  for (genvar c = 0; c < Cfg.Channels; c++) begin : gen_channel
    rs_dma_channel #(
      .Cfg(Cfg),
      .RamStyle(RamStyle)
    ) u_channel (
      .bus_clk_i,
      .bus_rst_ni,
      .control_i(control_i[c]),
      .status_o(status_o[c]),
      .ar_valid_o(ar_valid[c]),
      .ar_ready_i(ar_ready[c]),
      .ar_addr_o(ar_addr[c]),
      .ar_len_o(ar_len[c]),
      .ar_turn_o(ar_turn[c]),
      .r_valid_i(r_valid[c]),
      .r_last_i(r_last),
      .r_error_i(r_error),
      .r_data_i(r_data),
      .aw_valid_o(aw_valid[c]),
      .aw_ready_i(aw_ready[c]),
      .aw_addr_o(aw_addr[c]),
      .aw_len_o(aw_len[c]),
      .aw_turn_o(aw_turn[c]),
      .w_valid_o(w_valid[c]),
      .w_ready_i(w_ready[c]),
      .w_last_o(w_last[c]),
      .w_strb_o(w_strb[c]),
      .w_data_o(w_data[c]),
      .b_valid_i(b_valid[c]),
      .b_error_i(b_error),
      .clk_i,
      .rst_ni(rst_ni[c]),
      .host_we_o(host_we_o[c]),
      .host_re_o(host_re_o[c]),
      .host_space_o(host_space_o[c]),
      .host_unit_o(host_unit_o[c]),
      .host_index_o(host_index_o[c]),
      .host_row_o(host_row_o[c]),
      .host_wdata_o(host_wdata_o[c]),
      .host_rvalid_i(host_rvalid_i[c]),
      .host_rdata_i(host_rdata_i[c]),
      .host_busy_i(host_busy_i[c]),
      .start_o(start_o[c]),
      .asked_o(asked_o[c]),
      .refused_i(refused_i[c]),
      .moving_o(moving_o[c]),
      .busy_i(busy_i[c]),
      .opened_i(opened_i[c]),
      .cycles_i(cycles_i[c])
    );
  end
endmodule
