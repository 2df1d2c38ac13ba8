// A channel of the DMA (rs_dma) at an accelerator's host port, instead of the data path.
//
// Descriptors for an address that the device does not have are rejected before they begin: they
// have no effect. WRITE reaches every address space except conversions, whose words are not
// contiguous. In an address space whose rows are single words, only word 0 of each row counts.
// STREAM reaches the key store, READ work polynomials. A word of a narrow RPAU that is too wide for
// it is not written, nor is its row (refused_o).
//
// claimed_o: the port is the channel's, until no access is in progress there (host_busy_i); so
// accesses that a stopped channel has left behind disturb no other.
module rs_dma_port
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned HostWords = host_words(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  dma_request_t              dma_i,
  input  logic [Cfg.Width-1:0]      dma_wdata_i [HostWords],
  output logic                      no_place_o,   // the descriptor at hand is refused
  output logic                      claimed_o,
  output refused_t                  refused_o,

  output logic                      host_we_o,
  output logic                      host_re_o,
  output logic [SpaceWidth-1:0]     host_space_o,
  output logic [RpauWidth-1:0]      host_rpau_o,
  output logic [HostIndexWidth-1:0] host_index_o,
  output logic [RowWidth-1:0]       host_row_o,
  output logic [Cfg.Width-1:0]      host_wdata_o [HostWords],
  input  logic                      host_busy_i
);
  localparam int unsigned LogHostWords = $clog2(HostWords);
  localparam int unsigned RowParts = Lanes / HostWords;

  // ---- the address ------------------------------------------------------------------------------
  logic [16:0] indices, words;
  logic [24:0] rows;  // that the address space has
  logic        whole_rows, exists;
  rs_host_space #(
    .Cfg(Cfg)
  ) u_space (
    .space_i({4'd0, dma_i.asked.space}),
    .indices_o(indices),
    .words_o(words),
    .whole_rows_o(whole_rows)
  );
  assign rows       = whole_rows ? 25'(words >> LogHostWords) : 25'(words);
  assign exists     = dma_i.asked.unit < 8'(Cfg.Rpaus) && {1'b0, dma_i.asked.index} < indices &&
                      {1'b0, dma_i.asked.rows} <= rows &&
                      (!whole_rows || dma_i.asked.rows % 24'(RowParts) == '0);
  assign no_place_o = !exists || dma_i.asked.space == SpaceConversion ||
                      (dma_i.asked.reads && dma_i.asked.space != SpacePoly) ||
                      (dma_i.asked.streams && dma_i.asked.space != SpaceKey);

  // ---- words ------------------------------------------------------------------------------------
  logic narrow, wide;
  assign narrow = 32'(dma_i.unit) + Cfg.NarrowRpaus >= Cfg.Rpaus;
  always_comb begin
    wide = 1'b0;
    for (int unsigned w = 0; w < HostWords; w++) begin
      wide |= narrow && dma_wdata_i[w] >> Cfg.NarrowWidth != '0;
    end
    refused_o       = '0;
    refused_o.value = dma_i.we && wide;
  end

  logic taken_q;
  always_ff @(posedge clk_i) begin
    taken_q <= rst_ni && (host_we_o || host_re_o || (taken_q && host_busy_i));
  end
  assign claimed_o    = dma_i.moving || taken_q;
  assign host_we_o    = dma_i.we && !wide;
  assign host_re_o    = dma_i.re;
  assign host_space_o  = dma_i.space;
  assign host_rpau_o  = dma_i.unit[RpauWidth-1:0];
  assign host_index_o = dma_i.index[HostIndexWidth-1:0];
  assign host_row_o   = dma_i.row;
  assign host_wdata_o = dma_wdata_i;
endmodule
