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
  parameter  type         axi_request_t = default_axi_request_t,    // RS_AXI_TYPES
  parameter  type         axi_response_t = default_axi_response_t,
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

  output axi_request_t                              axi_o,
  input  axi_response_t                             axi_i
);
  typedef logic [IdBits-1:0] id_t;
  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [3:0] Cache = 4'b0011;
  localparam logic [2:0] Size = 3'($clog2(BeatBytes));

  // ---- reads ------------------------------------------------------------------------------------
  logic ar_valid_q, ar_free, ar_take;
  id_t  ar_id_q, ar_next;
  logic [AddrBits-1:0] ar_addr_q;
  logic [7:0] ar_len_q;
  localparam int unsigned OpenBits = $clog2(Cfg.OpenReads + 1);
  logic [OpenBits-1:0] open_q;
  rs_dma_order #(.Channels(Cfg.Channels)) u_reads (
    .clk_i,
    .rst_ni,
    .asks_i(ar_valid_i),
    .turn_i(ar_turn_i),
    .chosen_o(ar_next)
  );
  assign ar_free = (!ar_valid_q || axi_i.ar_ready) && open_q != OpenBits'(Cfg.OpenReads);
  assign ar_take = rst_ni && ar_free && ar_valid_i != '0;
  assign ar_ready_o = ar_take ? Cfg.Channels'(1) << ar_next : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ar_valid_q <= 1'b0;
      ar_id_q    <= '0;
      open_q     <= '0;
    end else begin
      if (ar_take) ar_valid_q <= 1'b1;
      else if (axi_i.ar_ready) ar_valid_q <= 1'b0;
      if (ar_take) ar_id_q <= ar_next;
      open_q <= open_q + OpenBits'(ar_take) - OpenBits'(axi_i.r_valid && axi_i.r.last);
    end
    if (ar_take) begin
      ar_addr_q <= ar_addr_i[ar_next];
      ar_len_q  <= ar_len_i[ar_next];
    end
  end
  assign axi_o.ar_valid = ar_valid_q;
  assign axi_o.ar = '{
          id: ar_id_q,
          addr: ar_addr_q,
          len: ar_len_q,
          size: Size,
          burst: BurstIncr,
          cache: Cache,
          prot: '0
      };
  assign axi_o.r_ready = 1'b1;

  // ---- writes -----------------------------------------------------------------------------------
  logic aw_valid_q, aw_take, busy_q, w_valid_q, w_free, w_take;
  id_t  aw_id_q, aw_next;
  logic [AddrBits-1:0] aw_addr_q;
  logic [7:0] aw_len_q;
  logic w_last_q;
  logic [BeatBytes-1:0] w_strb_q;
  logic [Cfg.DataBits-1:0] w_data_q;
  assign w_free  = !w_valid_q || axi_i.w_ready;
  assign w_take  = rst_ni && busy_q && w_valid_i[aw_id_q] && w_free;
  rs_dma_order #(.Channels(Cfg.Channels)) u_writes (
    .clk_i,
    .rst_ni,
    .asks_i(aw_valid_i),
    .turn_i(aw_turn_i),
    .chosen_o(aw_next)
  );
  assign aw_take = rst_ni && (!aw_valid_q || axi_i.aw_ready) && aw_valid_i != '0 &&
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
      else if (axi_i.aw_ready) aw_valid_q <= 1'b0;
      if (aw_take) busy_q <= 1'b1;
      else if (w_take && w_last_i[aw_id_q]) busy_q <= 1'b0;
      if (aw_take) aw_id_q <= aw_next;
      if (w_free) w_valid_q <= w_take;
    end
    if (aw_take) begin
      aw_addr_q <= aw_addr_i[aw_next];
      aw_len_q  <= aw_len_i[aw_next];
    end
    if (w_take) begin
      w_last_q <= w_last_i[aw_id_q];
      w_strb_q <= w_strb_i[aw_id_q];
      w_data_q <= w_data_i[aw_id_q];
    end
  end
  assign axi_o.aw_valid = aw_valid_q;
  assign axi_o.aw = '{
          id: aw_id_q,
          addr: aw_addr_q,
          len: aw_len_q,
          size: Size,
          burst: BurstIncr,
          cache: Cache,
          prot: '0
      };
  assign axi_o.w_valid = w_valid_q;
  assign axi_o.w       = '{data: w_data_q, strb: w_strb_q, last: w_last_q};
  assign axi_o.b_ready = 1'b1;

  // ---- answers ----------------------------------------------------------------------------------
  always_ff @(posedge clk_i) begin
    r_valid_o <= (rst_ni && axi_i.r_valid) ? Cfg.Channels'(1) << axi_i.r.id : '0;
    r_last_o  <= axi_i.r.last;
    r_error_o <= axi_i.r.resp[1];
    r_data_o  <= axi_i.r.data;
    b_valid_o <= (rst_ni && axi_i.b_valid) ? Cfg.Channels'(1) << axi_i.b.id : '0;
    b_error_o <= axi_i.b.resp[1];
  end
endmodule
