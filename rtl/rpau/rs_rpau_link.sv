// Link unit of an RPAU: copies a polynomial to other RPAUs, a row a cycle, and computes nothing.
//
// It stores no words. The sending RPAU reads its rows from first to last, and its work memory's
// outputs drive the interconnect. The others write the rows that they receive, and count them. Rows
// keep the order of their words: all RPAUs swap the halves of the same rows. The unit is busy for a
// cycle a row plus the latency to the last RPAU: python/ringsmith/backends/rpau/design/latency.py.
//
// start_i: one cycle, while the unit is idle; command_i and sender_i belong to it. done_o: one
// cycle, in all RPAUs at once, when the last of them has written its last row.
`include "rs_assert.svh"

module rs_rpau_link
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Hops = 4,         // cycles of rs_rpau_pkg::interconnect_latency
  parameter  int unsigned HopCycles = 1,    // of them, those of a hop: 1 to 3
  localparam int unsigned RowBits = LogN - $clog2(2 * Cores)
) (
  input  logic                clk_i,
  input  logic                rst_ni,

  input  ring_t               ring_i,       // still while a program runs
  input  logic                start_i,
  input  command_t            command_i,
  input  logic                sender_i,     // this RPAU sends
  output logic                done_o,

  // Work memory; its words go to the interconnect, and come from there.
  output logic                reads_o,      // while it may read
  output work_read_t          read_o,
  output work_write_t         write_o,

  // Interconnect.
  input  logic                link_valid_i,
  output logic                link_send_o,  // this RPAU is sending
  output logic                link_valid_o
);
  // ---- the running instruction ------------------------------------------------------------------
  logic [DstWidth-1:0] wsel_q, sel_q;
  logic                started_q, sender_q, busy_q, done_q;
  always_ff @(posedge clk_i) begin
    started_q <= rst_ni && start_i;
    if (start_i) begin
      wsel_q   <= command_i.word[DstLsb+:DstWidth];
      sel_q    <= command_i.word[ALsb+:AWidth];
      sender_q <= sender_i;
    end
  end

  // ---- send: everyone counts the rows, for all end together -------------------------------------
  logic               active_q, read_q, last_q;
  logic [RowBits-1:0] row_q, read_row_q, last_row;
  assign last_row = ring_i.last_row[RowBits-1:0];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (started_q) active_q <= 1'b1;
    else if (row_q == last_row) active_q <= 1'b0;

    if (started_q) row_q <= '0;
    else if (active_q) row_q <= row_q + 1'b1;

    read_q     <= rst_ni && active_q;
    read_row_q <= row_q;
    last_q     <= rst_ni && active_q && row_q == last_row;
  end
  assign reads_o = sender_q && busy_q;
  assign read_o = '{
          valid: read_q && sender_q,
          uses: 3'b001,
          poly: {3{sel_q}},
          row: {2{RowWidth'(read_row_q)}}
      };

  rs_delay #(
    .Width(1),
    .Depth(memory_read_latency())
  ) u_valid (
    .clk_i,
    .d_i(read_o.valid),
    .d_o(link_valid_o)
  );

  // ---- receive: what comes while idle is for others ---------------------------------------------
  logic [RowBits:0] count_d, count_q;  // the upper bit tells all rows from none: the assertion
  assign count_d = started_q ? '0 : count_q + (RowBits + 1)'(link_valid_i);
  always_ff @(posedge clk_i) count_q <= count_d;
  assign write_o = '{
          valid: link_valid_i && busy_q && !sender_q,
          poly: wsel_q,
          row: {2{RowWidth'(count_d[RowBits-1:0])}}
      };

  // ---- completion -------------------------------------------------------------------------------
  localparam int unsigned Drain = memory_read_latency() + Hops;
  localparam int unsigned DrainBits = $clog2(Drain + 1);
  logic [DrainBits-1:0] drain_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= 1'b0;
      drain_q <= '0;
    end else begin
      if (start_i) busy_q <= 1'b1;
      else if (drain_q == DrainBits'(1)) busy_q <= 1'b0;
      if (last_q) drain_q <= DrainBits'(Drain);
      else if (drain_q != '0) drain_q <= drain_q - 1'b1;
    end
    done_q <= rst_ni && (drain_q == DrainBits'(1));
  end
  assign done_o = done_q;

  // On a ring the last words return to their sender one hop after they have reached the last
  // receiver. The sender must not forward them.
  logic held;
  if (HopCycles > 1) begin : gen_held
    logic [HopCycles-2:0] ended_q;
    always_ff @(posedge clk_i) ended_q <= rst_ni ? (HopCycles - 1)'({ended_q, done_q}) : '0;
    assign held = |ended_q;
  end else begin : gen_ends
    assign held = 1'b0;
  end
  assign link_send_o = sender_q && (busy_q || done_q || held);

  `RS_ASSERT(StartWhileIdle_A, !(start_i && busy_q), "an instruction starts while another runs")
  `RS_ASSERT(ReceivesAllRows_A,
             !(done_q && !sender_q) || count_q == (RowBits + 1)'(last_row) + 1'b1,
             $sformatf("a send ends after %0d of %0d rows", count_q, 32'(last_row) + 1))
endmodule
