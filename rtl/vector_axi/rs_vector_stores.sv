// Processes the list of stores: takes rows of a cluster's store streams, and writes them to memory.
//
// A store begins, with ready_o, when the bursts of the store before it have been handed to the
// ports (rs_vector_bursts), and its stream holds a full limb. It is checked as a load is
// (rs_vector_loads). Rows are popped one in RowCycles
// cycles while the ports' FIFOs have space. Port p writes slice p of every row, by the addresses
// that all ports are given.
//
// done_o[h]: memory has taken the last beat of a limb of stream h. ended_o: it has answered for all
// of its bursts, at all ports. A read of those rows then gets what was written.
//
// halt_i: no store begins. One that has begun is written to its end, since its beats may be at the
// ports before their addresses. idle_o rises when memory has answered for all of it.
//
// Latency: the first beat stands at the ports 7 cycles after ready_o, or right after the beats
// before it. Cost: for each port a FIFO of 2^LogFifo beats in LUTs, and a row's registers.
`include "rs_assert.svh"

module rs_vector_stores
  import rs_mem_pkg::*;
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned BurstBeats = Cfg.BurstBeats,
  localparam int unsigned Outstanding = Cfg.Outstanding,
  localparam int unsigned Points = Cfg.LogRadix / 2,
  parameter  int unsigned LogFifo = 5,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned RowCycles = row_cycles(Cfg),
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 halt_i,
  output logic                 idle_o,
  input  logic                 run_i,
  input  logic [         31:0] watchdog_i,
  input  logic [          4:0] row_bits_i,
  // list
  input  logic                 valid_i,
  input  store_t               store_i,
  output logic                 ready_o,
  output logic                 ended_o,
  // cluster
  input  logic [   Points-1:0] limb_i,
  output logic [   Points-1:0] begin_o,
  output logic [   Points-1:0] pop_o,
  input  logic [    Width-1:0] row_i    [Points*Lanes],
  output logic [   Points-1:0] done_o,
  // AXI write channels
  output logic [    Ports-1:0] aw_valid_o,
  output logic [ HomeBits-1:0] aw_home_o,
  output logic [BeatWidth-1:0] aw_beat_o,
  output logic [          7:0] aw_len_o,
  input  logic [    Ports-1:0] aw_ready_i,
  output logic [    Ports-1:0] w_valid_o,
  output logic [    Ports-1:0] w_last_o,
  output logic [ PortBits-1:0] w_data_o [Ports],
  input  logic [    Ports-1:0] w_ready_i,
  input  logic [    Ports-1:0] b_valid_i,
  input  logic [          1:0] b_resp_i [Ports],
  output logic [    Ports-1:0] b_ready_o,
  // errors
  output logic                 failed_o,
  output fault_t               fault_o
);
  localparam int unsigned Stored = stored_bits(Width);
  localparam int unsigned CountWidth = 16 + $clog2(RowCycles) + 1;
  localparam int unsigned LogStores = $clog2(Outstanding);

  // ---- the list ---------------------------------------------------------------------------------
  logic   busy, issue, final_burst, outstanding, burst_done, rows_ready, take;
  logic   streams_ready, finals_ready;
  place_t to;
  logic   checked_q, malformed;  // checked_q: error_q is that of the store that is there
  item_error_e error, error_q;
  assign to   = store_i.address;
  always_comb begin
    error = place_error(to, store_i.rows, Cfg.Clusters, burst_rows(Cfg), span_row_bits(Cfg));
    if (17'(store_i.rows) != 17'(1) << row_bits_i) error = ItemRows;
    if (32'(store_i.stream) >= Points) error = ItemTarget;
  end
  // A store is taken from a register, a cycle after it is there: then it was checked.
  store_t own_q;
  place_t own_to;
  assign own_to = own_q.address;
  always_ff @(posedge clk_i) begin
    checked_q <= rst_ni && valid_i && !take;
    error_q   <= error;
    own_q     <= store_i;
  end
  assign malformed = run_i && valid_i && checked_q && error_q != ItemLegal;
  assign take = run_i && valid_i && checked_q && error_q == ItemLegal && !halt_i && !busy &&
      rows_ready && streams_ready && |(limb_i & (Points'(1) << own_q.stream));
  assign ready_o         = take;
  assign begin_o         = take ? Points'(1) << own_q.stream : '0;
  rs_vector_bursts #(
    .Ports(Cfg.Ports),
    .BurstBeats(Cfg.BurstBeats),
    .Outstanding(Cfg.Outstanding),
    .BeatWidth(BeatWidth),
    .CountWidth(CountWidth)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .halt_i(1'b0),
    .begin_i(take),
    .home_i(own_to.home),
    .beat_i(BeatWidth'(own_to.row) << $clog2(RowCycles)),
    .beats_i(CountWidth'(own_q.rows) << $clog2(RowCycles)),
    .busy_o(busy),
    .issue_o(issue),
    .final_o(final_burst),
    .done_i(burst_done),
    .outstanding_o(outstanding),
    .valid_o(aw_valid_o),
    .home_o(aw_home_o),
    .beat_o(aw_beat_o),
    .len_o(aw_len_o),
    .ready_i(aw_ready_i)
  );

  // ---- rows leave the stream --------------------------------------------------------------------
  localparam int unsigned Capacity = 2 ** LogFifo;
  localparam int unsigned AheadWidth = $clog2(Capacity + 1);
  logic                    rows_valid, stream, pops, last_row, space, paced;
  logic [            15:0] rows, row_q;
  logic [  AheadWidth-1:0] ahead_q [Ports];  // beats of rows that were popped, not yet written
  logic [       Ports-1:0] full, written;
  rs_dma_fifo #(
    .Width(17),
    .LogDepth(LogStores)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(rows_ready),
    .data_i({own_q.stream, own_q.rows}),
    .valid_o(rows_valid),
    .ready_i(pops && last_row),
    .data_o({stream, rows})
  );
  always_comb begin
    for (int unsigned p = 0; p < Ports; p++) begin
      full[p] = ahead_q[p] > AheadWidth'(Capacity - RowCycles);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Ports; p++) begin
      if (!rst_ni) ahead_q[p] <= '0;
      else
        ahead_q[p] <= ahead_q[p] + (pops ? AheadWidth'(RowCycles) : '0) - AheadWidth'(written[p]);
    end
  end
  assign space    = full == '0;
  assign pops     = rows_valid && space && paced;
  assign last_row = row_q + 16'd1 == rows;
  assign pop_o    = pops ? Points'(1) << stream : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) row_q <= '0;
    else if (pops) row_q <= last_row ? '0 : row_q + 16'd1;
  end

  // ---- a row, RamLatency cycles later, becomes RowCycles beats of each port ---------------------
  localparam int unsigned SliceLanes = Lanes / Ports;
  localparam int unsigned BeatLanes = PortBits / Stored;
  typedef struct packed {
    logic valid;
    logic stream;
    logic final_row;  // of its limb
  } popped_t;
  popped_t              popped, row_now_q;
  logic [    Width-1:0] word_q [Lanes];
  logic [RowCycles-1:0] part_q;  // which beats are written
  logic                 beats, final_beat, burst_last;
  logic [          7:0] beat_q;  // in its burst
  rs_delay #(.Width($bits(popped_t)), .Depth(RamLatency)) u_popped (
    .clk_i,
    .d_i({pops && rst_ni, stream, last_row}),
    .d_o(popped)
  );
  if (RowCycles == 1) begin : gen_at_once
    always_ff @(posedge clk_i) part_q <= rst_ni && popped.valid;
    assign paced = 1'b1;
  end else begin : gen_parts
    logic [RowCycles-2:0] since_q;  // the last pop, shifted by one bit a cycle
    always_ff @(posedge clk_i) begin
      if (!rst_ni) part_q <= '0;
      else part_q <= popped.valid ? RowCycles'(1) : part_q << 1;
      if (!rst_ni) since_q <= '0;
      else since_q <= (RowCycles - 1)'({since_q, pops});
    end
    assign paced = since_q == '0;
  end
  always_ff @(posedge clk_i) begin
    if (popped.valid) begin
      row_now_q <= popped;
      for (int unsigned l = 0; l < Lanes; l++) begin
        word_q[l] <= row_i[((Points>1&&popped.stream)?Lanes : 0)+l];
      end
    end
  end
  assign beats      = part_q != '0;
  assign final_beat = row_now_q.final_row && part_q[RowCycles-1];
  assign burst_last = final_beat || beat_q == 8'(BurstBeats - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_q <= '0;
    else if (beats) beat_q <= burst_last ? '0 : beat_q + 8'd1;
  end

  // ---- ports ------------------------------------------------------------------------------------
  logic [Ports-1:0] has_space, limb_end, failed;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    logic [PortBits-1:0] parts [RowCycles];
    logic [PortBits-1:0] data;
    for (genvar c = 0; c < RowCycles; c++) begin : gen_part
      for (genvar w = 0; w < BeatLanes; w++) begin : gen_word
        assign parts[c][w*Stored+:Stored] = Stored'(word_q[p*SliceLanes+c*BeatLanes+w]);
      end
    end
    always_comb begin
      data = '0;
      for (int unsigned c = 0; c < RowCycles; c++) data |= parts[c] & {PortBits{part_q[c]}};
    end
    logic last_of_limb;
    rs_dma_fifo #(
      .Width(PortBits + 2),
      .LogDepth(LogFifo)
    ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(beats),
      .ready_o(has_space[p]),
      .data_i({final_beat, burst_last, data}),
      .valid_o(w_valid_o[p]),
      .ready_i(w_ready_i[p]),
      .data_o({last_of_limb, w_last_o[p], w_data_o[p]})
    );
    assign written[p]   = w_valid_o[p] && w_ready_i[p];
    assign limb_end[p]  = written[p] && last_of_limb;
    assign failed[p]    = b_valid_i[p] && b_resp_i[p][1];
    assign b_ready_o[p] = 1'b1;
  end
  `RS_ASSERT(HasPlace_A, !beats || has_space == '1,
             $sformatf("a beat comes to a full FIFO: %b", has_space))

  // ---- what has ended ---------------------------------------------------------------------------
  logic             limb_taken, done_stream, streams_valid, final_done, finals_valid, ended_q;
  logic [Ports-1:0] missing;
  rs_vector_join #(.Ports(Cfg.Ports), .Most(Cfg.Outstanding)) u_taken (
    .clk_i, .rst_ni, .event_i(limb_end), .all_o(limb_taken), .missing_o()
  );
  rs_dma_fifo #(.Width(1), .LogDepth(LogStores)) u_streams (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(streams_ready),
    .data_i(own_q.stream),
    .valid_o(streams_valid),
    .ready_i(limb_taken),
    .data_o(done_stream)
  );
  assign done_o = limb_taken ? Points'(1) << done_stream : '0;
  rs_vector_join #(.Ports(Cfg.Ports), .Most(Cfg.Outstanding)) u_answered (
    .clk_i, .rst_ni, .event_i(b_valid_i), .all_o(burst_done), .missing_o(missing)
  );
  rs_dma_fifo #(.Width(1), .LogDepth(LogStores)) u_finals (
    .clk_i,
    .rst_ni,
    .valid_i(issue),
    .ready_o(finals_ready),
    .data_i(final_burst),
    .valid_o(finals_valid),
    .ready_i(burst_done),
    .data_o(final_done)
  );
  always_ff @(posedge clk_i) ended_q <= rst_ni && burst_done && final_done;
  assign ended_o = ended_q;
  `RS_ASSERT(Known_A,
             (!limb_taken || streams_valid) && (!burst_done || finals_valid) &&
             (!issue || finals_ready),
             "memory answers what no store has asked for")

  // ---- what goes wrong --------------------------------------------------------------------------
  logic       silent;
  logic [7:0] port;
  rs_vector_watchdog #(
    .Ports(Cfg.Ports)
  ) u_watchdog (
    .clk_i,
    .rst_ni,
    .limit_i(watchdog_i),
    .waits_i(outstanding),
    .moves_i(burst_done || |written || |(aw_valid_o & aw_ready_i)),
    .missing_i(missing),
    .failed_i(failed),
    .silent_o(silent),
    .port_o(port)
  );
  assign idle_o   = !busy && !outstanding;
  assign failed_o = failed != '0 || silent || malformed;
  assign fault_o  = '{
          item_error: (failed != '0 || silent) ? ItemLegal : error_q,
          fetching: 1'b0,
          list: ListStores,
          port: (failed != '0 || silent) ? port : '0,
          fault: (failed != '0) ? FaultResponse : silent ? FaultSilence : FaultMalformed
      };
endmodule
