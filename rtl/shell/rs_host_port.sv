// The host's two interfaces to the memories of an accelerator: the window behind the register
// host_data (rs_host_window), and the data path (rs_data_path), or with Dma a channel of the DMA
// (rs_dma_port). Only one of them has the device's host port at a time.
//
// The data path has it while it moves the words of a burst (moving_o). A burst begins when the
// device is idle_i and no access of the window is in progress. The window then refuses accesses, as
// it does while a program runs. Bursts that write keys are also accepted while a program waits for
// them (streams_i). forget_i drops a burst in any state. The channel has the port while its
// descriptor moves words; it begins none while the window is in use (window_idle_o). refused_o is
// that of either interface.
module rs_host_port
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  parameter  bit          Dma = 1'b0,
  localparam int unsigned HostWords = host_words(2 * Cfg.Cores)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      forget_i,
  input  logic                      idle_i,     // the device is not busy, starting or in reset
  input  logic                      streams_i,  // a program runs, or starts, whose keys come then
  input  logic                      starting_i, // it starts: no burst begins
  output logic                      moving_o,

  input  logic [7:0]                space_i,     // registers host_space, host_unit, …
  input  logic [7:0]                unit_i,
  input  logic [15:0]               index_i,
  input  logic [16:0]               word_i,
  input  logic                      moved_i,    // the host writes one of these registers
  output logic                      advance_o,

  input  access_t                   access_i,
  output logic                      ack_o,
  output logic [31:0]               data_o,     // of a read; 0 where it is refused
  output refused_t                  refused_o,

  input  axi_request_t              axi_i,      // the data path's bus
  output axi_response_t             axi_o,

  input  dma_request_t              dma_i,
  input  logic [Cfg.Width-1:0]      dma_wdata_i [HostWords],
  output logic                      dma_no_place_o,
  output logic                      window_idle_o,

  output logic                      host_we_o,
  output logic                      host_re_o,
  output logic [SpaceWidth-1:0]     host_space_o,
  output logic [RpauWidth-1:0]      host_rpau_o,
  output logic [HostIndexWidth-1:0] host_index_o,
  output logic [RowWidth-1:0]       host_row_o,
  output logic [Cfg.Width-1:0]      host_wdata_o [HostWords],
  input  logic                      host_rvalid_i,
  input  logic [Cfg.Width-1:0]      host_rdata_i [HostWords],
  input  logic                      host_busy_i
);
  // Of the window, and of the data path or the DMA.
  logic                      idle, we [2], re [2];
  logic [SpaceWidth-1:0]     space [2];
  logic [RpauWidth-1:0]      rpau [2];
  logic [HostIndexWidth-1:0] index [2];
  logic [RowWidth-1:0]       row [2];
  logic [Cfg.Width-1:0]      wdata [2][HostWords];
  refused_t                  refused [2];

  rs_host_window #(
    .Cfg(Cfg)
  ) u_window (
    .clk_i,
    .rst_ni,
    .ready_i(idle_i && !moving_o),
    .space_i,
    .unit_i,
    .index_i,
    .word_i,
    .moved_i,
    .advance_o,
    .access_i,
    .ack_o,
    .idle_o(idle),
    .data_o,
    .refused_o(refused[0]),
    .host_we_o(we[0]),
    .host_re_o(re[0]),
    .host_space_o(space[0]),
    .host_rpau_o(rpau[0]),
    .host_index_o(index[0]),
    .host_row_o(row[0]),
    .host_wdata_o(wdata[0]),
    .host_rvalid_i(host_rvalid_i && !moving_o),
    .host_rdata_i
  );

  if (!Dma) begin : gen_data_path
    rs_data_path #(
      .Cfg(Cfg)
    ) u_data_path (
      .clk_i,
      .rst_ni(rst_ni && !forget_i),
      .ready_i(idle_i),
      .streams_i,
      .grant_i(idle && !starting_i),
      .claimed_o(moving_o),
      .refused_o(refused[1]),
      .axi_i,
      .axi_o,
      .host_we_o(we[1]),
      .host_re_o(re[1]),
      .host_space_o(space[1]),
      .host_rpau_o(rpau[1]),
      .host_index_o(index[1]),
      .host_row_o(row[1]),
      .host_wdata_o(wdata[1]),
      .host_rvalid_i(host_rvalid_i && moving_o),
      .host_rdata_i
    );
    assign dma_no_place_o = 1'b0;
  end else begin : gen_dma
    rs_dma_port #(
      .Cfg(Cfg)
    ) u_dma (
      .clk_i,
      .rst_ni,
      .dma_i,
      .dma_wdata_i,
      .no_place_o(dma_no_place_o),
      .claimed_o(moving_o),
      .refused_o(refused[1]),
      .host_we_o(we[1]),
      .host_re_o(re[1]),
      .host_space_o(space[1]),
      .host_rpau_o(rpau[1]),
      .host_index_o(index[1]),
      .host_row_o(row[1]),
      .host_wdata_o(wdata[1]),
      .host_busy_i
    );
    assign axi_o      = '0;
  end

  logic second;  // the host port is not the window's
  assign second        = moving_o || we[1] || re[1];
  assign window_idle_o = idle;
  assign refused_o    = refused[0] | refused[1];
  assign host_we_o    = we[second];
  assign host_re_o    = re[second];
  assign host_space_o  = space[second];
  assign host_rpau_o  = rpau[second];
  assign host_index_o = index[second];
  assign host_row_o   = row[second];
  assign host_wdata_o = wdata[second];
endmodule
