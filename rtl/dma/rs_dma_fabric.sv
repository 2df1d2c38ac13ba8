// Several channels on one AXI4 master port, burst by burst, in round-robin order (rs_dma_order).
//
// A channel's bursts have its number as ID. It identifies the answers, which may come in any order
// among channels: a slow answer to one channel does not delay the others. Reads: a channel is
// chosen for each address. Writes: a channel is chosen for an address and for its data, which
// follow it without another's between them; the next channel is chosen with the last beat, so that
// data of different bursts follow each other without a pause. Both choices are rs_dma_order's:
// ar_turn_i and aw_turn_i end a channel's turn. OpenReads bursts may be on their way to the
// channels.
//
// All outputs of the bus are registers, and answers go through one. rready and bready are always
// high: channels ask only for words that they have space for. Once valid, nothing changes until it
// is taken.
module rs_dma_fabric
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  localparam int unsigned IdBits = (Cfg.Channels > 1) ? $clog2(Cfg.Channels) : 1,
  localparam int unsigned BeatBytes = Cfg.DataBits / 8
) (
  input  logic                                      clk_i,
  input  logic                                      rst_ni,

  input  logic [Cfg.Channels-1:0]                   ar_valid_i,
  output logic [Cfg.Channels-1:0]                   ar_ready_o,
  input  logic [Cfg.Channels-1:0][AddrBits-1:0]     ar_addr_i,
  input  logic [Cfg.Channels-1:0][7:0]              ar_len_i,
  input  logic [Cfg.Channels-1:0]                   ar_turn_i,
  output logic [Cfg.Channels-1:0]                   r_valid_o,
  output logic                                      r_last_o,
  output logic                                      r_error_o,
  output logic [Cfg.DataBits-1:0]                   r_data_o,
  input  logic [Cfg.Channels-1:0]                   aw_valid_i,
  output logic [Cfg.Channels-1:0]                   aw_ready_o,
  input  logic [Cfg.Channels-1:0][AddrBits-1:0]     aw_addr_i,
  input  logic [Cfg.Channels-1:0][7:0]              aw_len_i,
  input  logic [Cfg.Channels-1:0]                   aw_turn_i,
  input  logic [Cfg.Channels-1:0]                   w_valid_i,
  output logic [Cfg.Channels-1:0]                   w_ready_o,
  input  logic [Cfg.Channels-1:0]                   w_last_i,
  input  logic [Cfg.Channels-1:0][BeatBytes-1:0]    w_strb_i,
  input  logic [Cfg.Channels-1:0][Cfg.DataBits-1:0] w_data_i,
  output logic [Cfg.Channels-1:0]                   b_valid_o,
  output logic                                      b_error_o,

  output logic                                      axi_ar_valid_o,
  input  logic                                      axi_ar_ready_i,
  output logic [IdBits-1:0]                         axi_ar_id_o,
  output logic [AddrBits-1:0]                       axi_ar_addr_o,
  output logic [7:0]                                axi_ar_len_o,
  input  logic                                      axi_r_valid_i,
  input  logic [IdBits-1:0]                         axi_r_id_i,
  input  logic                                      axi_r_last_i,
  input  logic [1:0]                                axi_r_resp_i,
  input  logic [Cfg.DataBits-1:0]                   axi_r_data_i,
  output logic                                      axi_aw_valid_o,
  input  logic                                      axi_aw_ready_i,
  output logic [IdBits-1:0]                         axi_aw_id_o,
  output logic [AddrBits-1:0]                       axi_aw_addr_o,
  output logic [7:0]                                axi_aw_len_o,
  output logic                                      axi_w_valid_o,
  input  logic                                      axi_w_ready_i,
  output logic                                      axi_w_last_o,
  output logic [BeatBytes-1:0]                      axi_w_strb_o,
  output logic [Cfg.DataBits-1:0]                   axi_w_data_o,
  input  logic                                      axi_b_valid_i,
  input  logic [IdBits-1:0]                         axi_b_id_i,
  input  logic [1:0]                                axi_b_resp_i
);
  typedef logic [IdBits-1:0] id_t;

  // ---- reads ------------------------------------------------------------------------------------
  logic ar_valid_q, ar_free, ar_take;
  id_t  ar_id_q, ar_next;
  localparam int unsigned OpenBits = $clog2(Cfg.OpenReads + 1);
  logic [OpenBits-1:0] open_q;
  rs_dma_order #(.Channels(Cfg.Channels)) u_reads (
    .clk_i,
    .rst_ni,
    .asks_i(ar_valid_i),
    .turn_i(ar_turn_i),
    .chosen_o(ar_next)
  );
  assign ar_free = (!ar_valid_q || axi_ar_ready_i) && open_q != OpenBits'(Cfg.OpenReads);
  assign ar_take = rst_ni && ar_free && ar_valid_i != '0;
  assign ar_ready_o = ar_take ? Cfg.Channels'(1) << ar_next : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ar_valid_q <= 1'b0;
      ar_id_q    <= '0;
      open_q     <= '0;
    end else begin
      if (ar_take) ar_valid_q <= 1'b1;
      else if (axi_ar_ready_i) ar_valid_q <= 1'b0;
      if (ar_take) ar_id_q <= ar_next;
      open_q <= open_q + OpenBits'(ar_take) - OpenBits'(axi_r_valid_i && axi_r_last_i);
    end
    if (ar_take) begin
      axi_ar_addr_o <= ar_addr_i[ar_next];
      axi_ar_len_o  <= ar_len_i[ar_next];
    end
  end
  assign axi_ar_valid_o = ar_valid_q;
  assign axi_ar_id_o    = ar_id_q;

  // ---- writes -----------------------------------------------------------------------------------
  logic aw_valid_q, aw_take, busy_q, w_valid_q, w_free, w_take;
  id_t  aw_id_q, aw_next;
  assign w_free  = !w_valid_q || axi_w_ready_i;
  assign w_take  = rst_ni && busy_q && w_valid_i[aw_id_q] && w_free;
  rs_dma_order #(.Channels(Cfg.Channels)) u_writes (
    .clk_i,
    .rst_ni,
    .asks_i(aw_valid_i),
    .turn_i(aw_turn_i),
    .chosen_o(aw_next)
  );
  assign aw_take = rst_ni && (!aw_valid_q || axi_aw_ready_i) && aw_valid_i != '0 &&
                   (!busy_q || (w_take && w_last_i[aw_id_q]));
  assign aw_ready_o = aw_take ? Cfg.Channels'(1) << aw_next : '0;
  assign w_ready_o  = (rst_ni && busy_q && w_free) ? Cfg.Channels'(1) << aw_id_q : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      aw_valid_q <= 1'b0;
      aw_id_q    <= '0;
      busy_q     <= 1'b0;
      w_valid_q  <= 1'b0;
    end else begin
      if (aw_take) aw_valid_q <= 1'b1;
      else if (axi_aw_ready_i) aw_valid_q <= 1'b0;
      if (aw_take) busy_q <= 1'b1;
      else if (w_take && w_last_i[aw_id_q]) busy_q <= 1'b0;
      if (aw_take) aw_id_q <= aw_next;
      if (w_free) w_valid_q <= w_take;
    end
    if (aw_take) begin
      axi_aw_addr_o <= aw_addr_i[aw_next];
      axi_aw_len_o  <= aw_len_i[aw_next];
    end
    if (w_take) begin
      axi_w_last_o <= w_last_i[aw_id_q];
      axi_w_strb_o <= w_strb_i[aw_id_q];
      axi_w_data_o <= w_data_i[aw_id_q];
    end
  end
  assign axi_aw_valid_o = aw_valid_q;
  assign axi_aw_id_o    = aw_id_q;
  assign axi_w_valid_o  = w_valid_q;

  // ---- answers ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i) begin
    r_valid_o <= (rst_ni && axi_r_valid_i) ? Cfg.Channels'(1) << axi_r_id_i : '0;
    r_last_o  <= axi_r_last_i;
    r_error_o <= axi_r_resp_i[1];
    r_data_o  <= axi_r_data_i;
    b_valid_o <= (rst_ni && axi_b_valid_i) ? Cfg.Channels'(1) << axi_b_id_i : '0;
    b_error_o <= axi_b_resp_i[1];
  end
endmodule
