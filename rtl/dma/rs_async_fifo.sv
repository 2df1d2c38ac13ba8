// FIFO between two clocks of any frequencies and phases.
//
//   wvalid_i, wready_o   A word is taken at an edge of wclk_i with both.
//   rvalid_o, rready_i   A word leaves at an edge of rclk_i with both. It stands at rdata_o before
//                        it is asked for, and stays until it is taken.
//   wcount_o   Words of the memory that may be in use, as the write port knows: never fewer than
//              there are. 2^LogDepth - wcount_o more words fit. All ones, a value that is never
//              reached, while the port takes no words because one of the two is in reset.
//   rcount_o   Words that can be read without a pause, rdata_o's included: never more than there
//              are.
//
// Words keep their order. Both ports move a word a cycle. A word that enters an empty FIFO stands
// at rdata_o after one cycle of wclk_i and four of rclk_i, or one less. 2^LogDepth + 1 words fit.
//
// Pointers cross in Gray code through two registers each (rs_sync).
//
// Reset: each port has its own, synchronous to its clock and active low. Both ports are always
// reset together. The resets may begin and end at different times, in any order, but both are low
// for at least four cycles of each clock before one of them ends. When the first reset begins, the
// FIFO loses its words. While one port is in reset, the other one moves no words. A port signals
// its reset a cycle before it clears its pointer, so the other port never sees a pointer jump. If
// only one port is reset, the other one stays closed until its own reset; in simulation an
// assertion fails.
//
// Cost: the memory, and about 8 * LogDepth registers and as many LUTs.
`include "rs_assert.svh"

module rs_async_fifo #(
  parameter int unsigned Width = 64,
  parameter int unsigned LogDepth = 4,  // at least 1
  parameter string       RamStyle = "distributed"
) (
  input  logic              wclk_i,
  input  logic              wrst_ni,
  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [Width-1:0]  wdata_i,
  output logic [LogDepth:0] wcount_o,

  input  logic              rclk_i,
  input  logic              rrst_ni,
  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,
  output logic [LogDepth:0] rcount_o
);
  localparam int unsigned Bits = LogDepth + 1;  // of a pointer: one more than an address
  typedef logic [Bits-1:0] pointer_t;

  function automatic pointer_t from_gray(pointer_t gray);
    pointer_t result;
    result = gray;
    for (int unsigned i = 1; i < Bits; i++) result ^= gray >> i;
    return result;
  endfunction

  // ---- what crosses -----------------------------------------------------------------------------
  pointer_t wgray_q, rgray_q;  // Gray code of wptr_q and rptr_q
  logic     wopen_q, ropen_q;  // the port is not in reset
  pointer_t wgray, rgray;      // the same, as the other port sees it
  logic     wopen, ropen;
  rs_sync #(.Width(Bits + 1)) u_to_read (
    .clk_i(rclk_i),
    .d_i({wopen_q, wgray_q}),
    .d_o({wopen, wgray})
  );
  rs_sync #(.Width(Bits + 1)) u_to_write (
    .clk_i(wclk_i),
    .d_i({ropen_q, rgray_q}),
    .d_o({ropen, rgray})
  );

  // ---- write port -------------------------------------------------------------------------------
  pointer_t wptr_q, wptr;  // the next word to be written
  logic     wmet_q;        // since its reset the port has seen the other one open
  logic     wlost_q;       // ... and then in reset
  logic     wopened, push;
  assign wopened  = wrst_ni && wopen_q && ropen && !wlost_q;
  assign wcount_o = wopened ? wptr_q - from_gray(rgray) : '1;
  assign wready_o = wopened && wcount_o != {1'b1, LogDepth'(0)};
  assign push     = wvalid_i && wready_o;
  assign wptr     = wptr_q + Bits'(push);
  always_ff @(posedge wclk_i) begin
    wopen_q <= wrst_ni && !wlost_q;
    if (!wrst_ni) begin
      wmet_q  <= 1'b0;
      wlost_q <= 1'b0;
    end else begin
      if (wopen_q && ropen) wmet_q <= 1'b1;
      if (wmet_q && !ropen) wlost_q <= 1'b1;
    end
    if (!wopen_q) begin
      wptr_q  <= '0;
      wgray_q <= '0;
    end else begin
      wptr_q  <= wptr;
      wgray_q <= wptr ^ (wptr >> 1);
    end
  end

  // ---- read port --------------------------------------------------------------------------------
  pointer_t rptr_q, rptr;  // the next word to be fetched from the memory
  logic     rmet_q, rlost_q;
  logic     rvalid_q;      // a word stands at the memory's output
  logic     ropened, fetch;
  pointer_t there;         // words in the memory
  assign ropened  = rrst_ni && ropen_q && wopen && !rlost_q;
  assign there    = from_gray(wgray) - rptr_q;
  assign rvalid_o = rvalid_q && ropened;
  assign rcount_o = ropened ? there + Bits'(rvalid_q) : '0;
  assign fetch    = ropened && there != '0 && (!rvalid_q || rready_i);
  assign rptr     = rptr_q + Bits'(fetch);
  always_ff @(posedge rclk_i) begin
    ropen_q <= rrst_ni && !rlost_q;
    if (!rrst_ni) begin
      rmet_q  <= 1'b0;
      rlost_q <= 1'b0;
    end else begin
      if (ropen_q && wopen) rmet_q <= 1'b1;
      if (rmet_q && !wopen) rlost_q <= 1'b1;
    end
    if (!ropen_q) begin
      rptr_q   <= '0;
      rgray_q  <= '0;
      rvalid_q <= 1'b0;
    end else begin
      rptr_q  <= rptr;
      rgray_q <= rptr ^ (rptr >> 1);
      if (fetch) rvalid_q <= 1'b1;
      else if (rready_i && ropened) rvalid_q <= 1'b0;
    end
  end

  rs_ram_2clk #(
    .Width(Width),
    .Depth(2 ** LogDepth),
    .RamStyle(RamStyle)
  ) u_ram (
    .wclk_i,
    .we_i(push),
    .waddr_i(wptr_q[LogDepth-1:0]),
    .wdata_i,
    .rclk_i,
    .re_i(fetch),
    .raddr_i(rptr_q[LogDepth-1:0]),
    .rdata_o
  );

  `RS_ASSERT(ResetTogetherWrite_A, !(wlost_q && ropen),
             "the read port of a FIFO was reset without its write port", wclk_i, wrst_ni)
  `RS_ASSERT(ResetTogetherRead_A, !(rlost_q && wopen),
             "the write port of a FIFO was reset without its read port", rclk_i, rrst_ni)
endmodule
