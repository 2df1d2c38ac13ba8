// Processes the list of loads: reads rows from memory by Ports ports, and hands them to a cluster.
//
// A load begins, with ready_o, when all of this holds: the bursts of the load before it have been
// handed to the ports (rs_vector_bursts); the numbers of stores and of instructions of list
// computing that it names have ended; its stream can take its rows. Port p reads slice p of every
// row: RowCycles beats that follow each other. All ports are given the same addresses. Each has a
// FIFO, and a row is handed on when all of its beats are in them: so ports may answer at different
// times.
//
// A load is checked in the cycle before it begins, when it is there (valid_i), even before run_i. A
// malformed one fails, and does not begin. halt_i: no load begins, and no further address is sent;
// idle_o rises when memory owes no rows.
//
// Rows come in the order of the list. push_o[s] hands row_o to stream s; table_we_o writes it to
// the twiddle memory, and table_loaded_o comes with the last row of such a load.
//
// Latency: 3 cycles from the last beat of a row to row_o, and 2 from ready_o to the first address.
// Cost: for each port a FIFO of 2^LogFifo beats in LUTs; a row's registers.
`include "rs_assert.svh"

module rs_vector_loads
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned TableRows = Cfg.TableRows,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned Outstanding = Cfg.Outstanding,
  parameter  int unsigned LogFifo = 5,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned TableWidth = $clog2(TableRows),
  localparam int unsigned RowCycles = row_cycles(Cfg),
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles)
) (
  input  logic                                 clk_i,
  input  logic                                 rst_ni,
  input  logic                                 halt_i,
  output logic                                 idle_o,
  input  logic                                 run_i,
  input  logic                   [       31:0] watchdog_i,
  input  logic                   [        4:0] row_bits_i,
  // list
  input  logic                                 valid_i,
  input  load_t                                load_i,
  output logic                                 ready_o,
  output logic                                 ended_o,                    // a load has
  // what loads wait for
  input  logic [MaxClusters-1:0] [       31:0] stores_ended_i,
  input  logic                   [       31:0] computing_ended_i,
  input  logic                   [LoadStreams-1:0] free_i,
  // cluster
  output logic                   [  Width-1:0] row_o            [Lanes],
  output logic                   [LoadStreams-1:0] begin_o,
  output logic                   [LoadStreams-1:0] push_o,
  output logic                                 table_we_o,
  output logic                   [TableWidth-1:0] table_addr_o,
  output logic                                 table_loaded_o,
  // AXI read channels
  output logic                   [  Ports-1:0] ar_valid_o,
  output logic                   [HomeBits-1:0] ar_home_o,
  output logic                   [BeatWidth-1:0] ar_beat_o,
  output logic                   [        7:0] ar_len_o,
  input  logic                   [  Ports-1:0] ar_ready_i,
  input  logic                   [  Ports-1:0] r_valid_i,
  input  logic                   [  Ports-1:0] r_last_i,
  input  logic                   [        1:0] r_resp_i         [Ports],
  input  logic                   [PortBits-1:0] r_data_i        [Ports],
  output logic                   [  Ports-1:0] r_ready_o,
  // errors
  output logic                                 failed_o,
  output fault_t                               fault_o
);
  localparam int unsigned Stored = stored_bits(Width);
  localparam int unsigned CountWidth = 16 + $clog2(RowCycles) + 1;
  localparam int unsigned LogLoads = $clog2(Outstanding);

  // ---- the list ---------------------------------------------------------------------------------
  logic   busy, issue, final_burst, outstanding, burst_done, queue_ready, take, has_space;
  place_t from;
  logic   checked_q, malformed;  // checked_q: error_q is that of the load that is there
  item_error_e error, error_q;
  assign from  = load_i.address;
  always_comb begin
    error = place_error(from, load_i.rows, Cfg.Clusters, burst_rows(Cfg), span_row_bits(Cfg));
    if (load_i.to_table ? 17'(load_i.table_row) + 17'(load_i.rows) > 17'(TableRows) :
        17'(load_i.rows) != 17'(1) << row_bits_i) begin
      error = ItemRows;
    end
    if ((!load_i.to_table && 32'(load_i.stream) >= LoadStreams) ||
        32'(load_i.after_cluster) >= Cfg.Clusters) begin
      error = ItemTarget;
    end
  end
  // A load is taken from a register, a cycle after it is there: then it was checked.
  load_t  own_q;
  place_t own_from;
  assign own_from = own_q.address;
  always_ff @(posedge clk_i) begin
    checked_q <= rst_ni && valid_i && !take;
    error_q   <= error;
    own_q     <= load_i;
  end
  assign malformed = run_i && valid_i && checked_q && error_q != ItemLegal;
  assign has_space = own_q.to_table || |(free_i & (LoadStreams'(1) << own_q.stream));
  assign take  = run_i && valid_i && checked_q && error_q == ItemLegal && !halt_i && !busy &&
      queue_ready && has_space &&
      stores_ended_i[own_q.after_cluster] >= 32'(own_q.after_store) &&
      computing_ended_i >= 32'(own_q.after_computing);
  assign ready_o         = take;
  assign begin_o         = (take && !own_q.to_table) ? LoadStreams'(1) << own_q.stream : '0;
  rs_vector_bursts #(
    .Ports(Cfg.Ports),
    .BurstBeats(Cfg.BurstBeats),
    .Outstanding(Cfg.Outstanding),
    .BeatWidth(BeatWidth),
    .CountWidth(CountWidth)
  ) u_bursts (
    .clk_i,
    .rst_ni,
    .halt_i,
    .begin_i(take),
    .home_i(own_from.home),
    .beat_i(BeatWidth'(own_from.row) << $clog2(RowCycles)),
    .beats_i(CountWidth'(own_q.rows) << $clog2(RowCycles)),
    .busy_o(busy),
    .issue_o(issue),
    .final_o(final_burst),
    .done_i(burst_done),
    .outstanding_o(outstanding),
    .valid_o(ar_valid_o),
    .home_o(ar_home_o),
    .beat_o(ar_beat_o),
    .len_o(ar_len_o),
    .ready_i(ar_ready_i)
  );

  // ---- where rows go, in order ------------------------------------------------------------------
  typedef struct packed {
    logic                  to_table;
    logic [1:0]            stream;
    logic [15:0]           rows;
    logic                  single;  // one row
    logic [TableWidth-1:0] table_row;
  } moved_t;
  moved_t moved;
  logic   moved_valid, row_there, row_last;
  rs_dma_fifo #(
    .Width($bits(moved_t)),
    .LogDepth(LogLoads)
  ) u_moved (
    .clk_i,
    .rst_ni,
    .valid_i(take),
    .ready_o(queue_ready),
    .data_i({
      own_q.to_table, own_q.stream, own_q.rows, own_q.rows == 16'd1, own_q.table_row[TableWidth-1:0]
    }),
    .valid_o(moved_valid),
    .ready_i(row_there && row_last),
    .data_o(moved)
  );

  // ---- ports ------------------------------------------------------------------------------------
  logic [   Ports-1:0] there, last, failed;
  logic [PortBits-1:0] beat [Ports];
  logic                pop;
  assign pop = there == '1;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    rs_dma_fifo #(
      .Width(PortBits + 1),
      .LogDepth(LogFifo)
    ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(r_valid_i[p]),
      .ready_o(r_ready_o[p]),
      .data_i({r_last_i[p], r_data_i[p]}),
      .valid_o(there[p]),
      .ready_i(pop),
      .data_o({last[p], beat[p]})
    );
    assign failed[p] = r_valid_i[p] && r_ready_o[p] && r_resp_i[p][1];
  end
  assign burst_done = pop && last[0];
  `RS_ASSERT(SameBursts_A, !pop || last == '0 || last == '1,
             $sformatf("bursts end at some ports: %b", last))

  // ---- rows: beat c of all ports is part c of each slice ----------------------------------------
  localparam int unsigned SliceLanes = Lanes / Ports;
  localparam int unsigned BeatLanes = PortBits / Stored;
  logic [15:0]            row_q;
  logic [Width-1:0]       word_q [Lanes];
  logic [LoadStreams-1:0] push_q;
  logic [RowCycles-1:0]   part;  // which beats of the row it is
  logic                   whole;
  if (RowCycles == 1) begin : gen_at_once
    assign part  = 1'b1;
    assign whole = 1'b1;
  end else begin : gen_parts
    logic [RowCycles-1:0] part_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) part_q <= RowCycles'(1);
      else if (pop) part_q <= {part_q[RowCycles-2:0], part_q[RowCycles-1]};
    end
    assign part  = part_q;
    assign whole = part_q[RowCycles-1];
  end
  assign row_there = pop && whole;
  // Whether a row is its load's last is known before it comes: of a load's first from its length.
  logic first_q, last_q;
  assign row_last = first_q ? moved.single : last_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (row_there) first_q <= row_last;
    if (row_there) last_q <= row_q + 16'd2 == moved.rows;
  end
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    localparam int unsigned Port = l / SliceLanes;
    localparam int unsigned Part = l % SliceLanes / BeatLanes;
    localparam int unsigned Bit = l % BeatLanes * Stored;
    always_ff @(posedge clk_i) if (pop && part[Part]) word_q[l] <= beat[Port][Bit+:Width];
  end
  logic                  to_table_q, loaded_q, ended_q;
  logic [TableWidth-1:0] table_addr_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) row_q <= '0;
    else if (row_there) row_q <= row_last ? '0 : row_q + 16'd1;
    push_q <= (rst_ni && row_there && !moved.to_table) ? LoadStreams'(1) << moved.stream : '0;
    to_table_q   <= rst_ni && row_there && moved.to_table;
    loaded_q     <= rst_ni && row_there && moved.to_table && row_last;
    ended_q      <= rst_ni && row_there && row_last;
    table_addr_q <= moved.table_row + TableWidth'(row_q);
  end
  assign row_o          = word_q;
  assign push_o         = push_q;
  assign table_we_o     = to_table_q;
  assign table_addr_o   = table_addr_q;
  assign table_loaded_o = loaded_q;
  assign ended_o        = ended_q;
  `RS_ASSERT(Known_A, !pop || moved_valid, "rows come that no load has asked for")

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
    .moves_i(pop || |(ar_valid_o & ar_ready_i)),
    .missing_i(~there),
    .failed_i(failed),
    .silent_o(silent),
    .port_o(port)
  );
  assign idle_o   = !outstanding;
  assign failed_o = failed != '0 || silent || malformed;
  assign fault_o  = '{
          item_error: (failed != '0 || silent) ? ItemLegal : error_q,
          fetching: 1'b0,
          list: ListLoads,
          port: (failed != '0 || silent) ? port : '0,
          fault: (failed != '0) ? FaultResponse : silent ? FaultSilence : FaultMalformed
      };
endmodule
