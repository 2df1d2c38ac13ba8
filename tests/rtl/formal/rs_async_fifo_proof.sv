// What test_proofs.py proves of rs_async_fifo, for two clocks of any frequencies and phases: both
// are free inputs, whose edges may come in any order, or together.
//
// The proof watches any one of the words taken since the last reset: it leaves in order, with its
// content. No word leaves that was not there, and no word enters a full FIFO. The counts never
// promise a word or a space that is not there. A pointer that crosses changes in one bit at most.
// No word of the memory is read while it is written. A word that is offered stays until it is
// taken. Resets come at any time, as the block's header allows them.
module rs_async_fifo_proof #(
  parameter int unsigned Width = 1,
  parameter int unsigned LogDepth = 1
) (
  input logic             wclk_i,
  input logic             wreset_i,
  input logic             wvalid_i,
  input logic             watch_i,
  input logic [Width-1:0] wdata_i,
  input logic             rclk_i,
  input logic             rreset_i,
  input logic             rready_i
);
  localparam int unsigned Bits = LogDepth + 1;
  localparam int unsigned Depth = 2 ** LogDepth;
  typedef logic [Bits-1:0] pointer_t;
  function automatic pointer_t from_gray(pointer_t gray);
    pointer_t result;
    result = gray;
    for (int unsigned i = 1; i < Bits; i++) result ^= gray >> i;
    return result;
  endfunction

  // ---- resets -----------------------------------------------------------------------------------
  // A port ends its reset when both resets were low for four edges of each clock, or when the other
  // port has already ended its reset.
  logic       wrst_n_q, rrst_n_q;
  logic [2:0] wlow_q, rlow_q;  // edges with both low, up to four, in this reset of the port
  logic       wrun, rrun;      // the port runs, or may
  initial {wrst_n_q, rrst_n_q, wlow_q, rlow_q} = '0;
  assign wrun = wrst_n_q || wlow_q == 3'd4;
  assign rrun = rrst_n_q || rlow_q == 3'd4;
  always_ff @(posedge wclk_i) begin
    wrst_n_q <= !wreset_i && (wrst_n_q || (wrun && rrun));
    if (wrst_n_q) wlow_q <= '0;
    else if (!rrst_n_q && wlow_q != 3'd4) wlow_q <= wlow_q + 3'd1;
  end
  always_ff @(posedge rclk_i) begin
    rrst_n_q <= !rreset_i && (rrst_n_q || (wrun && rrun));
    if (rrst_n_q) rlow_q <= '0;
    else if (!wrst_n_q && rlow_q != 3'd4) rlow_q <= rlow_q + 3'd1;
  end

  logic              wready, rvalid;
  logic [Width-1:0]  rdata;
  logic [LogDepth:0] wcount, rcount;
  rs_async_fifo #(
    .Width(Width),
    .LogDepth(LogDepth)
  ) u_dut (
    .wclk_i,
    .wrst_ni(wrst_n_q),
    .wvalid_i,
    .wready_o(wready),
    .wdata_i,
    .wcount_o(wcount),
    .rclk_i,
    .rrst_ni(rrst_n_q),
    .rvalid_o(rvalid),
    .rready_i,
    .rdata_o(rdata),
    .rcount_o(rcount)
  );

  // ---- the block's state ------------------------------------------------------------------------
  pointer_t wptr, rptr, wat1, wat2, rat1, rat2;  // pointers, and as far as they have crossed
  logic     wopen, ropen, wopen1, wopen2, ropen1, ropen2;
  assign wptr   = u_dut.wptr_q;
  assign rptr   = u_dut.rptr_q;
  assign wopen  = u_dut.wopen_q;
  assign ropen  = u_dut.ropen_q;
  assign wat1   = from_gray(u_dut.u_to_read.first_q[Bits-1:0]);
  assign wat2   = from_gray(u_dut.u_to_read.second_q[Bits-1:0]);
  assign rat1   = from_gray(u_dut.u_to_write.first_q[Bits-1:0]);
  assign rat2   = from_gray(u_dut.u_to_write.second_q[Bits-1:0]);
  assign wopen1 = u_dut.u_to_read.first_q[Bits];
  assign wopen2 = u_dut.u_to_read.second_q[Bits];
  assign ropen1 = u_dut.u_to_write.first_q[Bits];
  assign ropen2 = u_dut.u_to_write.second_q[Bits];

  // ---- the watched word -------------------------------------------------------------------------
  logic             watched_q;  // it is known, since the last reset of the write port
  pointer_t         place_q;
  logic [Width-1:0] word_q;
  always_ff @(posedge wclk_i) begin
    if (!wrst_n_q) begin
      watched_q <= 1'b0;
    end else if (wvalid_i && wready && watch_i && !watched_q) begin
      watched_q <= 1'b1;
      place_q   <= wptr;
      word_q    <= wdata_i;
    end
  end
  logic left_q;  // it has left the FIFO
  always_ff @(posedge rclk_i) begin
    if (!rrst_n_q) left_q <= 1'b0;
    else if (rvalid && rready_i && watched_q && rptr - pointer_t'(1) == place_q) left_q <= 1'b1;
  end

  // ---- what is offered stays, and pointers move by one ------------------------------------------
  logic             held_q;
  logic             wknown_q, rknown_q;    // the port has been reset
  logic             wtold_q, rtold_q;      // it was open in the cycle before, for the other to see
  logic [Width-1:0] held_data_q;
  pointer_t         wgray_q, rgray_q;
  initial {wknown_q, rknown_q} = '0;
  always_ff @(posedge wclk_i) begin
    if (wlow_q == 3'd4) wknown_q <= 1'b1;
    wtold_q <= wopen;
    wgray_q  <= u_dut.wgray_q;
  end
  always_ff @(posedge rclk_i) begin
    held_q      <= rvalid && !rready_i && rrst_n_q;
    held_data_q <= rdata;
    if (rlow_q == 3'd4) rknown_q <= 1'b1;
    rtold_q     <= ropen;
    rgray_q     <= u_dut.rgray_q;
  end

  logic live;  // the last reset is over, or each port may end its own
  assign live = wrun && rrun;
  always_comb begin
    // What is promised.
    if (live && wrst_n_q && wvalid_i && wready) begin
      assert (pointer_t'(wptr - rptr) < pointer_t'(Depth));
    end
    if (live && u_dut.wopened) begin
      assert (wcount <= pointer_t'(Depth) && wcount >= pointer_t'(wptr - rptr));
    end
    if (!u_dut.wopened) assert (!wready && wcount == '1);
    if (live && rrst_n_q) begin
      assert (rcount <= pointer_t'(wptr - rptr) + pointer_t'(u_dut.rvalid_q));
      assert (rvalid == (rcount != '0 && u_dut.rvalid_q));
    end
    if (live && rrst_n_q && rvalid && watched_q && !left_q && rptr - pointer_t'(1) == place_q) begin
      assert (rdata == word_q);
    end
    if (live && watched_q && !left_q && wrst_n_q) begin  // it is there
      assert (pointer_t'(wptr - place_q) != '0);
      assert (pointer_t'(wptr - place_q) <= pointer_t'(wptr - rptr) + pointer_t'(u_dut.rvalid_q));
    end
    if (live && rrst_n_q && held_q) assert (rvalid && rdata == held_data_q);
    if (wknown_q && wtold_q) assert ($countones(wgray_q ^ u_dut.wgray_q) <= 1);
    if (rknown_q && rtold_q) assert ($countones(rgray_q ^ u_dut.rgray_q) <= 1);
    if (live && wvalid_i && wready && u_dut.fetch) begin
      assert (wptr[LogDepth-1:0] != rptr[LogDepth-1:0]);
    end
    // Also while the other port is in reset already: neither port sees the other's pointer jump.
    if (wrst_n_q && wready) assert (pointer_t'(wptr - rat2) < pointer_t'(Depth));
    if (rrst_n_q && u_dut.ropened) begin
      assert (pointer_t'(wat2 - rptr) <= pointer_t'(Depth));
      assert (rcount <= pointer_t'(Depth) + pointer_t'(u_dut.rvalid_q));
    end
    if (!wrst_n_q) assert (!wready);
    if (!rrst_n_q) assert (!rvalid && rcount == '0);
    if (live) assert (!u_dut.wlost_q || !wrst_n_q);
    if (live) assert (!u_dut.rlost_q || !rrst_n_q);

    // What the induction needs to know of the state, first of resets.
    if (wknown_q) assert (u_dut.wgray_q == (wptr ^ (wptr >> 1)));
    if (rknown_q) assert (u_dut.rgray_q == (rptr ^ (rptr >> 1)));
    assert (wlow_q <= 3'd4 && rlow_q <= 3'd4);
    if (!wrst_n_q) begin
      if (wlow_q >= 3'd1) assert (!wopen && !u_dut.wmet_q && !u_dut.wlost_q && !watched_q);
      if (wlow_q >= 3'd2) assert (wptr == '0 && u_dut.wgray_q == '0);
    end else begin
      assert (wknown_q);
      if (!wopen) assert (wptr == '0 || u_dut.wlost_q);
    end
    if (!rrst_n_q) begin
      if (rlow_q >= 3'd1) assert (!ropen && !u_dut.rmet_q && !u_dut.rlost_q && !left_q);
      if (rlow_q >= 3'd2) assert (rptr == '0 && u_dut.rgray_q == '0 && !u_dut.rvalid_q);
    end else begin
      assert (rknown_q);
      if (!ropen) assert ((rptr == '0 && !u_dut.rvalid_q) || u_dut.rlost_q);
    end

    // Pointers: each is at or after the value that the other port has seen, and at most Depth words
    // lie between the two.
    if (live && wrst_n_q) begin
      assert (!ropen1 || ropen);
      assert (pointer_t'(wptr - rptr) <= pointer_t'(wptr - rat1));
      assert (pointer_t'(wptr - rat1) <= pointer_t'(Depth));
      assert (!u_dut.wmet_q || (wopen && ropen2));
      assert (u_dut.wmet_q || (wptr == '0 && rptr == '0 && !u_dut.rvalid_q));
      if (wopen) begin
        assert (!ropen2 || ropen1);
        assert (pointer_t'(wptr - rat1) <= pointer_t'(wptr - rat2));
        assert (pointer_t'(wptr - rat2) <= pointer_t'(Depth));
      end
    end
    if (live && rrst_n_q) begin
      assert (!wopen1 || wopen);
      assert (pointer_t'(wat1 - rptr) <= pointer_t'(wptr - rptr));
      assert (!u_dut.rmet_q || (ropen && wopen2));
      assert ((rptr == '0 && !u_dut.rvalid_q) || u_dut.rmet_q);
      if (ropen) begin
        assert (!wopen2 || wopen1);
        assert (pointer_t'(wat2 - rptr) <= pointer_t'(wat1 - rptr));
      end
    end
    if (live) assert (watched_q || !left_q);

    if (wrst_n_q && !rrun && !u_dut.wlost_q) begin
      if (ropen1) assert (pointer_t'(wptr - rat1) <= pointer_t'(Depth));
      if (ropen && ropen1) assert (pointer_t'(wptr - rptr) <= pointer_t'(wptr - rat1));
      if (ropen) assert (pointer_t'(wptr - rptr) <= pointer_t'(Depth));
      if (wopen && ropen2) assert (pointer_t'(wptr - rat2) <= pointer_t'(Depth));
      if (wopen && ropen1 && ropen2) begin
        assert (pointer_t'(wptr - rat1) <= pointer_t'(wptr - rat2));
      end
      if (!u_dut.wmet_q) assert (!ropen || rptr == '0);
    end
    if (wrst_n_q && !u_dut.wmet_q) begin
      assert (wptr == '0 && rat1 == '0 && (!wopen || rat2 == '0));
    end
    if (rrst_n_q && !wrun && !u_dut.rlost_q) begin
      if (wopen1) assert (pointer_t'(wat1 - rptr) <= pointer_t'(Depth));
      if (wopen) assert (pointer_t'(wptr - rptr) <= pointer_t'(Depth));
      if (wopen && wopen1) assert (pointer_t'(wat1 - rptr) <= pointer_t'(wptr - rptr));
      if (ropen && wopen2) assert (pointer_t'(wat2 - rptr) <= pointer_t'(Depth));
      if (ropen && wopen1 && wopen2) begin
        assert (pointer_t'(wat2 - rptr) <= pointer_t'(wat1 - rptr));
      end
      if (!u_dut.rmet_q) assert (rptr == '0 && !u_dut.rvalid_q);
    end
    if (wrst_n_q && u_dut.wmet_q) assert (wopen || u_dut.wlost_q);
    if (rrst_n_q && u_dut.rmet_q) assert (ropen || u_dut.rlost_q);

    // When a port stops because the other one is in reset, the other one's open signal falls once.
    if (wrst_n_q && u_dut.wmet_q && !ropen2) assert (!ropen1);
    if (wrst_n_q && u_dut.wmet_q && !ropen1) assert (!ropen);
    if (wrst_n_q && u_dut.wlost_q) assert (!ropen2 && u_dut.wmet_q);
    if (wrst_n_q && u_dut.wmet_q && !ropen) assert (!rrst_n_q || u_dut.rlost_q);
    if (rrst_n_q && u_dut.rmet_q && !wopen2) assert (!wopen1);
    if (rrst_n_q && u_dut.rmet_q && !wopen1) assert (!wopen);
    if (rrst_n_q && u_dut.rlost_q) assert (!wopen2 && u_dut.rmet_q);
    if (rrst_n_q && u_dut.rmet_q && !wopen) assert (!wrst_n_q || u_dut.wlost_q);

    // And of the watched word.
    if (live && watched_q && !left_q) begin
      if (pointer_t'(wptr - place_q) <= pointer_t'(wptr - rptr)) begin
        assert (u_dut.u_ram.mem[place_q[LogDepth-1:0]] == word_q);
      end else begin
        assert (u_dut.rvalid_q && pointer_t'(rptr - place_q) == pointer_t'(1));
        assert (u_dut.u_ram.read_q == word_q);
      end
    end
  end
endmodule
