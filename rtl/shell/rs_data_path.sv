// Polynomials over AXI4, 512 bits a beat: the fast interface to an accelerator's memories.
//
// A word of a polynomial is eight bytes, a beat eight words. Byte addresses are
//
//   ((address space * 2^RpauWidth + unit) * 2^HostIndexWidth + index) * 8N + 8 * word
//
// The address space is 0 for work polynomials and 1 for the key store, which is only written. A
// burst (INCR, whole beats, within 4 KiB as AXI4 requires) lies in one polynomial. A burst that
// writes has whole rows, and its words have all their bytes. One burst at a time is
// accepted. It owns the host port (claimed_o) from grant_i on until its data have crossed; its
// answer may wait longer. Reads and writes that wait take turns. READY comes from registers alone:
// a burst that finds the block idle after one of the other direction waits one cycle.
//
// A burst that writes keys is also taken while a program runs that waits for them (streams_i).
//
// A burst that is refused is answered with SLVERR, and refused_o names the reason in one cycle: the
// device is not ready (busy), has no such address (place), or the burst has another shape (order).
// It then moves nothing, its data are dropped, and reads give 0. A word too wide or without all of
// its bytes (value), or a misplaced WLAST (order), ends the writing at its row.
//
// Words cross by rows of the device's host port (rs_rpau_pkg::host_words): a beat, or less if
// the device's rows are shorter. Either direction moves a beat a cycle, or such a row a cycle. Data
// that are read come host_read_latency() cycles later. That many beats may be in progress; they
// wait in a memory until the bus takes them.
//
// forget_i, of one cycle, is a reset of the device: the burst in progress, if there is one, gives up
// the host port and moves no more words. The bus gets its end all the same: the rest of the beats
// are dropped, or read as 0, and the answers are SLVERR. A beat, or an answer, that waits for the
// bus stays as it is. rst_ni, synchronous, is the bus's reset.
`include "rs_assert.svh"

module rs_data_path
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  parameter  int unsigned ReadLatency = host_read_latency(Cfg.Rpaus),
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned HostWords = host_words(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      forget_i,
  input  logic                      ready_i,    // the device is neither busy nor in reset
  input  logic                      streams_i,  // it is busy, and takes keys
  input  logic                      grant_i,    // the host port is free for this block
  output logic                      claimed_o,
  output refused_t                  refused_o,

  input  axi_request_t              axi_i,
  output axi_response_t             axi_o,

  output logic                      host_we_o,
  output logic                      host_re_o,
  output logic [SpaceWidth-1:0]     host_space_o,
  output logic [RpauWidth-1:0]      host_rpau_o,
  output logic [HostIndexWidth-1:0] host_index_o,
  output logic [RowWidth-1:0]       host_row_o,
  output logic [Cfg.Width-1:0]      host_wdata_o [HostWords],
  input  logic                      host_rvalid_i,
  input  logic [Cfg.Width-1:0]      host_rdata_i [HostWords]
);
  localparam int unsigned BeatRows = BeatWords / HostWords;  // of the host port
  localparam int unsigned LogBeatRows = $clog2(BeatRows);
  localparam int unsigned RowBeats = (Lanes > BeatWords) ? Lanes / BeatWords : 1;  // of a memory
  localparam int unsigned LogBeats = Cfg.LogN - $clog2(BeatWords);  // beats of a polynomial
  localparam int unsigned BeatBytes = BeatBits / 8;
  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [1:0] RespOkay = 2'b00;
  localparam logic [1:0] RespSlverr = 2'b10;

  typedef enum logic [2:0] {
    StIdle,
    StDecide,
    StWrite,
    StAnswer,
    StRead
  } state_e;
  state_e                   state_q;
  logic                     write_q;  // of the burst; of the last one in StIdle
  logic                     turn_q;  // the next burst that is taken writes
  logic [DataIdWidth-1:0]   id_q;
  logic [DataAddrWidth-1:0] addr_q;
  logic [7:0]               len_q;
  logic                     whole_q;  // of whole beats, and within 4 KiB
  logic                     failed_q;  // refused, at its begin or since
  logic                     claimed_q;
  logic [8:0]               left_q;  // beats that have not crossed the bus

  // ---- a burst ----------------------------------------------------------------------------------
  logic                     aw_ready, ar_ready, take_write, take_read;
  logic [DataAddrWidth-1:0] addr;
  logic [7:0]               len;
  logic [12:0]              end_byte;  // in its 4 KiB
  logic                     whole;
  assign aw_ready   = rst_ni && state_q == StIdle && turn_q;
  assign ar_ready   = rst_ni && state_q == StIdle && !turn_q;
  assign take_write = axi_i.aw.valid && aw_ready;
  assign take_read  = axi_i.ar.valid && ar_ready;
  assign addr       = turn_q ? axi_i.aw.addr : axi_i.ar.addr;
  assign len        = turn_q ? axi_i.aw.len : axi_i.ar.len;
  assign end_byte   = {1'b0, addr[11:0]} + 13'(len) * 13'(BeatBytes) + 13'(BeatBytes);
  assign whole      = (turn_q ? axi_i.aw.size : axi_i.ar.size) == 3'($clog2(BeatBytes)) &&
                      (turn_q ? axi_i.aw.burst : axi_i.ar.burst) == BurstIncr &&
                      addr[$clog2(BeatBytes)-1:0] == '0 && len < 8'd64 && end_byte <= 13'd4096;

  // ---- its address ------------------------------------------------------------------------------
  localparam int unsigned IndexAt = Cfg.LogN + 3;
  localparam int unsigned UnitAt = IndexAt + HostIndexWidth;
  localparam int unsigned SpaceAt = UnitAt + RpauWidth;
  logic [LogBeats-1:0]       first_beat;
  logic [RowWidth-1:0]       last_beat;
  logic [HostIndexWidth-1:0] index;
  logic [RpauWidth-1:0]      unit;
  logic                      key, exists, rows, narrow;
  refused_t                  reason;
  assign first_beat = addr_q[$clog2(BeatBytes)+:LogBeats];
  assign last_beat  = RowWidth'(first_beat) + RowWidth'(len_q);
  assign index      = addr_q[IndexAt+:HostIndexWidth];
  assign unit       = addr_q[UnitAt+:RpauWidth];
  assign key        = addr_q[SpaceAt];
  assign exists     = addr_q >> (SpaceAt + 1) == '0 && last_beat >> LogBeats == '0 &&
                      32'(unit) < Cfg.Rpaus && 32'(index) < (key ? Cfg.KeyPolys : Cfg.WorkPolys);
  assign rows       = first_beat % LogBeats'(RowBeats) == '0 &&
                      (9'(len_q) + 9'd1) % 9'(RowBeats) == '0;
  assign narrow     = 32'(unit) + Cfg.NarrowRpaus >= Cfg.Rpaus;
  always_comb begin
    reason = '0;
    if (!ready_i && !(streams_i && key && write_q)) reason.busy = 1'b1;
    else if (!exists || (key && !write_q)) reason.place = 1'b1;
    else if (!whole_q || (write_q && !rows)) reason.order = 1'b1;
  end

  // ---- words ------------------------------------------------------------------------------------
  logic [Cfg.Width-1:0] buffer_q [BeatWords];  // rows of a beat, the next one or first one lowest
  logic [2:0]           rows_q;  // that are in it: at most four, of two words
  logic [RowWidth-1:0]  row_q;  // the next one at the host port

  // Writing: a beat, and its rows one after another.
  logic w_ready, wtake, wide, whole_words, store;
  always_comb begin
    wide = 1'b0;
    for (int unsigned w = 0; w < BeatWords; w++) begin
      wide |= axi_i.w.data[64*w+:64] >> Cfg.Width != '0;
      wide |= narrow && axi_i.w.data[64*w+:64] >> Cfg.NarrowWidth != '0;
    end
  end
  assign w_ready     = rst_ni && state_q == StWrite && left_q != '0 && rows_q <= 3'd1;
  assign wtake       = axi_i.w.valid && w_ready;
  assign whole_words = (&axi_i.w.strb) && !wide;
  assign store       = state_q == StWrite && rows_q != '0;

  // Reading: every row that is fetched has a word in the memory of beats. The memory is deep enough
  // for a row in each cycle.
  localparam int unsigned AddrBits = $clog2(ReadLatency + 3);
  localparam int unsigned Places = 2 ** AddrBits;
  logic                           fetch, came, push, pop, r_valid, rtake, out_valid_q;
  logic [8:0]                     fetches_q;  // rows to fetch
  logic [AddrBits:0]              free_q;     // words that are free
  logic [AddrBits:0]              pushed_q, popped_q;  // beats of the burst; less a bit: addresses
  logic [BeatWords*Cfg.Width-1:0] in, out;
  assign fetch = state_q == StRead && fetches_q != '0 &&
                 (free_q != '0 || fetches_q % 9'(BeatRows) != '0);
  assign came  = state_q == StRead && claimed_q && host_rvalid_i;
  assign push  = came && rows_q == 3'(BeatRows - 1);
  assign pop   = state_q == StRead && !failed_q && pushed_q != popped_q && (!out_valid_q || rtake);
  assign r_valid = state_q == StRead && (failed_q || out_valid_q);
  assign rtake = r_valid && axi_i.r_ready;
  always_comb begin
    for (int unsigned w = 0; w < BeatWords; w++) begin
      in[w*Cfg.Width+:Cfg.Width] = (w + HostWords < BeatWords) ? buffer_q[(w+HostWords)%BeatWords]
                                                               : host_rdata_i[w%HostWords];
    end
  end
  rs_ram_1r1w #(
    .Width(BeatWords * Cfg.Width),
    .Depth(Places),
    .RamStyle("distributed")
  ) u_beats (
    .clk_i,
    .we_i(push),
    .waddr_i(pushed_q[AddrBits-1:0]),
    .wdata_i(in),
    .re_i(pop),
    .raddr_i(popped_q[AddrBits-1:0]),
    .rdata_o(out)
  );

  logic fails;  // the burst fails with this beat
  assign fails = wtake && !(whole_words && axi_i.w.last == (left_q == 9'd1));

  logic forget_q, drop;  // drop: the burst fails, as a reset asks; it waits for an offered beat
  assign drop = (forget_i || forget_q) && !(r_valid && !failed_q && !axi_i.r_ready);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      write_q     <= 1'b0;
      turn_q      <= 1'b0;
      forget_q    <= 1'b0;
      claimed_q   <= 1'b0;
      rows_q      <= '0;
      out_valid_q <= 1'b0;
    end else begin
      turn_q <= (take_write || (write_q && !take_read)) ? !axi_i.ar.valid : axi_i.aw.valid;
      case (state_q)
        StIdle: begin
          if (take_write || take_read) begin
            state_q <= StDecide;
            write_q <= take_write;
          end
        end
        StDecide: begin
          if (reason != '0 || grant_i || forget_i) state_q <= write_q ? StWrite : StRead;
          claimed_q <= reason == '0 && grant_i;
        end
        StWrite: begin
          if (left_q == '0 && rows_q <= 3'd1) begin
            state_q   <= StAnswer;
            claimed_q <= 1'b0;
          end
        end
        StRead: begin
          if (rtake && left_q == 9'd1) begin
            state_q   <= StIdle;
            claimed_q <= 1'b0;
          end
        end
        default: if (axi_i.b_ready) state_q <= StIdle;
      endcase

      if (wtake && !failed_q && !fails) rows_q <= 3'(BeatRows);
      else if (store) rows_q <= rows_q - 1'b1;
      else if (push) rows_q <= '0;
      else if (came) rows_q <= rows_q + 1'b1;
      if (pop) out_valid_q <= 1'b1;
      else if (rtake) out_valid_q <= 1'b0;

      forget_q <= (forget_i || forget_q) && !drop;
      if (forget_i) begin
        claimed_q <= 1'b0;
        rows_q    <= '0;
      end
      if (drop) out_valid_q <= 1'b0;
    end

    if (state_q == StIdle) begin
      id_q    <= turn_q ? axi_i.aw.id : axi_i.ar.id;
      addr_q  <= addr;
      len_q   <= len;
      whole_q <= whole;
    end
    if (state_q == StDecide) begin
      failed_q  <= reason != '0 || forget_i;
      left_q    <= 9'(len_q) + 9'd1;
      row_q     <= RowWidth'(first_beat) << LogBeatRows;
      fetches_q <= (reason != '0 || forget_i) ? '0 : 9'(len_q) + 9'd1 << LogBeatRows;
      free_q    <= (AddrBits + 1)'(Places);
      pushed_q  <= '0;
      popped_q  <= '0;
    end else begin
      if (fails || (drop && state_q != StAnswer)) failed_q <= 1'b1;
      if (wtake || rtake) left_q <= left_q - 9'd1;
      if (store || fetch) row_q <= row_q + 1'b1;
      if (forget_i) fetches_q <= '0;
      else if (fetch) fetches_q <= fetches_q - 9'd1;
      if (push) pushed_q <= pushed_q + 1'b1;
      if (pop) popped_q <= popped_q + 1'b1;
      free_q <= free_q + (AddrBits + 1)'(pop) -
                (AddrBits + 1)'(fetch && fetches_q % 9'(BeatRows) == '0);
    end

    for (int unsigned w = 0; w < BeatWords; w++) begin
      if (wtake) buffer_q[w] <= axi_i.w.data[64*w+:Cfg.Width];
      else if (store && w + HostWords < BeatWords) buffer_q[w] <= buffer_q[(w+HostWords)%BeatWords];
      else if (BeatRows > 1 && came) buffer_q[w] <= in[w*Cfg.Width+:Cfg.Width];
    end
  end

  // ---- answers ----------------------------------------------------------------------------------
  logic [1:0]          resp;
  logic [BeatBits-1:0] r_data;
  assign claimed_o = claimed_q;
  assign resp      = failed_q ? RespSlverr : RespOkay;
  assign axi_o = '{
          aw_ready: aw_ready,
          w_ready: w_ready,
          b_valid: state_q == StAnswer,
          b_id: id_q,
          b_resp: resp,
          ar_ready: ar_ready,
          r_valid: r_valid,
          r_last: left_q == 9'd1,
          r_id: id_q,
          r_resp: resp,
          r_data: r_data
      };
  always_comb begin
    for (int unsigned w = 0; w < BeatWords; w++) begin
      r_data[64*w+:64] = failed_q ? '0 : 64'(out[w*Cfg.Width+:Cfg.Width]);
    end
    refused_o = '0;
    if (state_q == StDecide) refused_o = reason;
    if (fails && !failed_q) begin
      refused_o.value = !whole_words;
      refused_o.order = whole_words;
    end
  end

  // ---- device -----------------------------------------------------------------------------------
  assign host_we_o    = store;
  assign host_re_o    = fetch;
  assign host_space_o  = key ? SpaceKey : SpacePoly;
  assign host_rpau_o  = unit;
  assign host_index_o = index;
  assign host_row_o   = row_q;
  for (genvar w = 0; w < HostWords; w++) begin : gen_word
    assign host_wdata_o[w] = buffer_q[w];
  end

  `RS_ASSERT(OwnsThePort_A,
             !(host_we_o || host_re_o) || (claimed_q && (ready_i || (key && host_we_o))),
             "a burst moves data without owning the host port")
endmodule
