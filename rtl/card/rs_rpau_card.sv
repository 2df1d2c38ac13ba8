// A card of coprocessors: accelerators of the RPAU architecture, each with its register block,
// behind one DMA to the host's memory and one AXI4-Lite bus.
//
//   s_axil_*   Registers (docs/reference/registers.md): page 0 of 4 KiB is the card's
//              (rs_card_registers), page c + 1 those of coprocessor c.
//   m_axi_*    The host's memory (rs_dma). Channel c works for coprocessor c.
//   irq_o      One bit a channel: register `reported`, its reported events.
//
// All ports are in bus_clk_i. clk_i is the coprocessors' clock, of any other frequency and phase.
// bus_rst_ni and rst_ni are synchronous, active low, and last at least 16 cycles of the slower
// clock. Either may come alone: rst_ni resets all coprocessors and fails the lists of all channels,
// bus_rst_ni forgets the lists. control.reset of a coprocessor resets that one, and fails the list
// of its channel.
//
// LogDepth, OpenReads: rs_dma's.
`include "rs_axi.svh"

module rs_rpau_card
  import rs_dma_pkg::*;
  import rs_rpau_pkg::host_words;
  import rs_shell_pkg::*;
#(
  parameter  rs_rpau_pkg::rpau_cfg_t Cfg = rs_rpau_pkg::DefaultCfg,
  parameter  int unsigned Coprocessors = 2,  // 1 to 8
  parameter  int unsigned HostBits = 128,    // 32, 64, 128, 256 or 512
  parameter  int unsigned LogDepth = 9,
  parameter  int unsigned OpenReads = 4,
  localparam int unsigned HostWords = host_words(2 * Cfg.Cores),
  localparam int unsigned StrobeWidth = AxilDataWidth / 8,
  localparam int unsigned IdBits = (Coprocessors > 1) ? $clog2(Coprocessors) : 1,
  localparam int unsigned BeatBytes = HostBits / 8
) (
  input  logic                     bus_clk_i,
  input  logic                     bus_rst_ni,
  input  logic                     clk_i,
  input  logic                     rst_ni,
  output logic [Coprocessors-1:0]  irq_o,

  // verilog_lint: waive-start port-name-suffix
  input  logic [CardAddrWidth-1:0] s_axil_awaddr,
  input  logic [2:0]               s_axil_awprot,
  input  logic                     s_axil_awvalid,
  output logic                     s_axil_awready,
  input  logic [AxilDataWidth-1:0] s_axil_wdata,
  input  logic [StrobeWidth-1:0]   s_axil_wstrb,
  input  logic                     s_axil_wvalid,
  output logic                     s_axil_wready,
  output logic [1:0]               s_axil_bresp,
  output logic                     s_axil_bvalid,
  input  logic                     s_axil_bready,
  input  logic [CardAddrWidth-1:0] s_axil_araddr,
  input  logic [2:0]               s_axil_arprot,
  input  logic                     s_axil_arvalid,
  output logic                     s_axil_arready,
  output logic [AxilDataWidth-1:0] s_axil_rdata,
  output logic [1:0]               s_axil_rresp,
  output logic                     s_axil_rvalid,
  input  logic                     s_axil_rready,

  output logic [IdBits-1:0]        m_axi_awid,
  output logic [AddrBits-1:0]      m_axi_awaddr,
  output logic [7:0]               m_axi_awlen,
  output logic [2:0]               m_axi_awsize,
  output logic [1:0]               m_axi_awburst,
  output logic [3:0]               m_axi_awcache,
  output logic [2:0]               m_axi_awprot,
  output logic                     m_axi_awvalid,
  input  logic                     m_axi_awready,
  output logic [HostBits-1:0]      m_axi_wdata,
  output logic [BeatBytes-1:0]     m_axi_wstrb,
  output logic                     m_axi_wlast,
  output logic                     m_axi_wvalid,
  input  logic                     m_axi_wready,
  input  logic [IdBits-1:0]        m_axi_bid,
  input  logic [1:0]               m_axi_bresp,
  input  logic                     m_axi_bvalid,
  output logic                     m_axi_bready,
  output logic [IdBits-1:0]        m_axi_arid,
  output logic [AddrBits-1:0]      m_axi_araddr,
  output logic [7:0]               m_axi_arlen,
  output logic [2:0]               m_axi_arsize,
  output logic [1:0]               m_axi_arburst,
  output logic [3:0]               m_axi_arcache,
  output logic [2:0]               m_axi_arprot,
  output logic                     m_axi_arvalid,
  input  logic                     m_axi_arready,
  input  logic [IdBits-1:0]        m_axi_rid,
  input  logic [HostBits-1:0]      m_axi_rdata,
  input  logic [1:0]               m_axi_rresp,
  input  logic                     m_axi_rlast,
  input  logic                     m_axi_rvalid,
  output logic                     m_axi_rready
  // verilog_lint: waive-stop port-name-suffix
);
  localparam int unsigned Pages = Coprocessors + 1;
  logic [Pages-1:0]      valid;
  axil_access_t          access;
  axil_end_t [Pages-1:0] ends;
  card_axil_request_t    pages_request;
  card_axil_response_t   pages_response;
  `RS_AXIL_FLAT_SLAVE(s_axil, pages_request, pages_response)
  rs_axil_pages #(
    .Pages(Pages)
  ) u_pages (
    .clk_i(bus_clk_i),
    .rst_ni(bus_rst_ni),
    .axil_i(pages_request),
    .axil_o(pages_response),
    .valid_o(valid),
    .access_o(access),
    .end_i(ends)
  );

  // ---- channels ---------------------------------------------------------------------------------
  control_t [Coprocessors-1:0] control;
  status_t  [Coprocessors-1:0] status;
  rs_card_control #(
    .Coprocessors(Coprocessors),
    .HostBits(HostBits)
  ) u_control (
    .clk_i(bus_clk_i),
    .rst_ni(bus_rst_ni),
    .valid_i(valid[0]),
    .access_i(access),
    .end_o(ends[0]),
    .control_o(control),
    .status_i(status),
    .irq_o
  );

  logic [Coprocessors-1:0]                               device_rst_n, host_we, host_re, refused;
  logic [Coprocessors-1:0]                               host_rvalid, host_busy;
  logic [Coprocessors-1:0]                               moving, start, busy;
  logic [Coprocessors-1:0][SpaceBits-1:0]                host_space;
  logic [Coprocessors-1:0][UnitBits-1:0]                 host_unit;
  logic [Coprocessors-1:0][IndexBits-1:0]                host_index;
  logic [Coprocessors-1:0][RowBits-1:0]                  host_row;
  logic [Coprocessors-1:0][HostWords-1:0][Cfg.Width-1:0] host_wdata, host_rdata;
  logic [Coprocessors-1:0][15:0]                         opened;
  logic [Coprocessors-1:0][63:0]                         cycles;
  command_t [Coprocessors-1:0]                           asked;
  `RS_AXI_TYPES(host_axi, IdBits, AddrBits, HostBits)
  host_axi_request_t  axi_request;
  host_axi_response_t axi_response;
  `RS_AXI_FLAT_MASTER(m_axi, axi_request, axi_response)
  rs_dma #(
    .Cfg('{
        Channels: Coprocessors,
        DataBits: HostBits,
        HostWords: HostWords,
        Width: Cfg.Width,
        LogDepth: LogDepth,
        StartCycles: 1,
        OpenReads: OpenReads
    }),
    .axi_request_t(host_axi_request_t),
    .axi_response_t(host_axi_response_t)
  ) u_dma (
    .bus_clk_i,
    .bus_rst_ni,
    .control_i(control),
    .status_o(status),
    .axi_o(axi_request),
    .axi_i(axi_response),
    .clk_i,
    .rst_ni(device_rst_n),
    .host_we_o(host_we),
    .host_re_o(host_re),
    .host_space_o(host_space),
    .host_unit_o(host_unit),
    .host_index_o(host_index),
    .host_row_o(host_row),
    .host_wdata_o(host_wdata),
    .host_rvalid_i(host_rvalid),
    .host_rdata_i(host_rdata),
    .host_busy_i(host_busy),
    .asked_o(asked),
    .refused_i(refused),
    .moving_o(moving),
    .start_o(start),
    .busy_i(busy),
    .opened_i(opened),
    .cycles_i(cycles)
  );

  // ---- coprocessors -----------------------------------------------------------------------------
  for (genvar c = 0; c < Coprocessors; c++) begin : gen_coprocessor
    axil_request_t        axil_request;
    axil_response_t       axil_response;
    dma_request_t         request;
    dma_response_t        response;
    logic [Cfg.Width-1:0] wdata [HostWords];
    logic [Cfg.Width-1:0] rdata [HostWords];
    rs_axil_cross u_cross (
      .bus_clk_i,
      .valid_i(valid[c+1]),
      .access_i(access),
      .end_o(ends[c+1]),
      .clk_i,
      .rst_ni,
      .axil_o(axil_request),
      .axil_i(axil_response)
    );

    assign request = '{
            we: host_we[c],
            re: host_re[c],
            space: host_space[c],
            unit: host_unit[c],
            index: host_index[c],
            row: host_row[c],
            moving: moving[c],
            start: start[c],
            asked: '{
                reads: asked[c].op == OpRead,
                streams: asked[c].op == OpStream,
                starts: asked[c].op == OpStart,
                space: asked[c].space,
                unit: asked[c].unit,
                index: asked[c].index,
                rows: asked[c].rows,
                ring: asked[c].ring
            }
        };
    for (genvar w = 0; w < HostWords; w++) begin : gen_word
      assign wdata[w]         = host_wdata[c][w];
      assign host_rdata[c][w] = rdata[w];
    end
    assign device_rst_n[c] = response.rst_n;
    assign refused[c]      = response.refused;
    assign host_rvalid[c]  = response.rvalid;
    assign host_busy[c]    = response.host_busy;
    assign busy[c]         = response.busy;
    assign opened[c]       = response.opened;
    assign cycles[c]       = response.cycles;
    rs_rpau_shell #(
      .Cfg(Cfg),
      .Dma(1'b1)
    ) u_shell (
      .clk_i,
      .rst_ni,
      .axil_i(axil_request),
      .axil_o(axil_response),
      .axi_i('0),
      .axi_o(),
      .dma_i(request),
      .dma_wdata_i(wdata),
      .dma_o(response),
      .dma_rdata_o(rdata)
    );
  end
endmodule
