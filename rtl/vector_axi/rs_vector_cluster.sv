// A cluster with its memory interface: rs_vector_core, and the units that process its three lists.
//
// start_i, and filled_o some time later: the lists' beginnings are read. run_i, of one cycle,
// begins the program: the cycle after it is cycle 0 of timeline.py. done_o is high when all
// lists have ended. stores_ended_o counts stores that memory has answered for; stores_ended_i has
// every cluster's. start_i takes the lists' addresses and lengths.
//
// failed_o: memory has answered with an error, or not at all, or an item of a list is malformed;
// fault_o says what and where, fault_item_o the malformed item's number. Then, and with halt_i,
// nothing more begins. idle_o rises when memory owes nothing any more; rst_ni, which ends that
// state, needs it, unless memory's ports are reset, too.
//
// Ports' channels are those of AXI4 without constant signals; addresses are beats of the ports' own
// memory, the same ones for all ports, and home is the number of the cluster whose memory is
// addressed.
module rs_vector_cluster
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned TableRows = Cfg.TableRows,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned TableWidth = $clog2(TableRows),
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses),
  localparam int unsigned ShiftWidth = $clog2(Width + 1),
  localparam int unsigned RowCycles = row_cycles(Cfg),
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles)
) (
  input  logic                                   clk_i,
  input  logic                                   rst_ni,
  input  logic                                   halt_i,
  // settings of a program
  input  logic                                   prime_we_i,
  input  logic                  [PrimeWidth-1:0] prime_addr_i,
  input  logic                  [     Width-1:0] prime_q_i,
  input  logic                  [     Width-1:0] prime_mu_i,
  input  logic                  [ShiftWidth-1:0] prime_shift_i,
  input  logic                                   pass_we_i,
  input  logic                  [ PassWidth-1:0] pass_addr_i,
  input  pass_t                                  pass_i,
  input  logic                  [           4:0] row_bits_i,
  input  logic                  [           3:0] passes_i,
  input  logic                  [          31:0] watchdog_i,
  input  logic [     Lists-1:0] [ AddrWidth-1:0] list_address_i,
  input  logic [     Lists-1:0] [          31:0] list_count_i,
  // the run
  input  logic                                   start_i,
  output logic                                   filled_o,
  input  logic                                   run_i,
  output logic                                   done_o,
  output logic                                   failed_o,
  output fault_t                                 fault_o,
  output logic                  [          31:0] fault_item_o,
  output logic                                   idle_o,
  output logic                  [          31:0] stores_ended_o,
  input  logic [MaxClusters-1:0][          31:0] stores_ended_i,
  // begin and end of instructions: for a simulation
  output logic                                   load_begun_o,
  output logic                                   issued_o,
  output logic                                   store_begun_o,
  output logic                  [          31:0] ended_o,
  // AXI4: ports for rows
  output logic                  [     Ports-1:0] ar_valid_o,
  output logic                  [  HomeBits-1:0] ar_home_o,
  output logic                  [ BeatWidth-1:0] ar_beat_o,
  output logic                  [           7:0] ar_len_o,
  input  logic                  [     Ports-1:0] ar_ready_i,
  input  logic                  [     Ports-1:0] r_valid_i,
  input  logic                  [     Ports-1:0] r_last_i,
  input  logic                  [           1:0] r_resp_i       [Ports],
  input  logic                  [  PortBits-1:0] r_data_i       [Ports],
  output logic                  [     Ports-1:0] r_ready_o,
  output logic                  [     Ports-1:0] aw_valid_o,
  output logic                  [  HomeBits-1:0] aw_home_o,
  output logic                  [ BeatWidth-1:0] aw_beat_o,
  output logic                  [           7:0] aw_len_o,
  input  logic                  [     Ports-1:0] aw_ready_i,
  output logic                  [     Ports-1:0] w_valid_o,
  output logic                  [     Ports-1:0] w_last_o,
  output logic                  [  PortBits-1:0] w_data_o       [Ports],
  input  logic                  [     Ports-1:0] w_ready_i,
  input  logic                  [     Ports-1:0] b_valid_i,
  input  logic                  [           1:0] b_resp_i       [Ports],
  output logic                  [     Ports-1:0] b_ready_o,
  // AXI4: the port for lists
  output logic                                   list_ar_valid_o,
  output logic                  [ AddrWidth-1:0] list_ar_addr_o,
  output logic                  [           7:0] list_ar_len_o,
  input  logic                                   list_ar_ready_i,
  input  logic                                   list_r_valid_i,
  input  logic                                   list_r_last_i,
  input  logic                  [           1:0] list_r_resp_i,
  input  logic                  [  ListBits-1:0] list_r_data_i,
  output logic                                   list_r_ready_o
);
  // Deep enough for the beats of two rows, and for the latency through the FIFOs.
  localparam int unsigned LogFifo = ($clog2(RowCycles) + 2 > 5) ? $clog2(RowCycles) + 2 : 5;

  // The reset of each part, a cycle later, and this module's own.
  localparam int unsigned Parts = 5;
  logic [Parts-1:0] run;
  for (genvar part = 0; part < Parts; part++) begin : gen_reset
    rs_copy u_run (
      .clk_i,
      .d_i(rst_ni),
      .q_o(run[part])
    );
  end

  logic           running_q, halt, failed_q, idle_q;
  logic [2:0]     fails, idle;
  fault_t         fault [3];
  fault_t         fault_q;
  always_ff @(posedge clk_i) begin
    running_q <= run[4] && (running_q || run_i) && !start_i;
    failed_q  <= run[4] && (failed_q || fails != '0);
    idle_q    <= run[4] && halt && (&idle);
    if (!failed_q) fault_q <= fails[0] ? fault[0] : fails[1] ? fault[1] : fault[2];
  end
  assign halt     = halt_i || failed_q;
  assign failed_o = failed_q;
  assign fault_o  = fault_q;
  assign idle_o   = idle_q;

  // ---- lists ------------------------------------------------------------------------------------
  logic         load_valid, load_ready, instruction_valid, issued, store_valid, store_ready;
  load_t        load;
  instruction_t instruction;
  store_t       store;
  rs_vector_fetch #(
    .AddrWidth(Cfg.AddrWidth)
  ) u_fetch (
    .clk_i,
    .rst_ni(run[0]),
    .halt_i(halt),
    .idle_o(idle[2]),
    .watchdog_i,
    .start_i,
    .address_i(list_address_i),
    .count_i(list_count_i),
    .filled_o,
    .load_valid_o(load_valid),
    .load_o(load),
    .load_ready_i(load_ready),
    .instruction_valid_o(instruction_valid),
    .instruction_o(instruction),
    .instruction_ready_i(issued),
    .store_valid_o(store_valid),
    .store_o(store),
    .store_ready_i(store_ready),
    .ar_valid_o(list_ar_valid_o),
    .ar_addr_o(list_ar_addr_o),
    .ar_len_o(list_ar_len_o),
    .ar_ready_i(list_ar_ready_i),
    .r_valid_i(list_r_valid_i),
    .r_last_i(list_r_last_i),
    .r_resp_i(list_r_resp_i),
    .r_data_i(list_r_data_i),
    .r_ready_o(list_r_ready_o),
    .failed_o(fails[2]),
    .fault_o(fault[2])
  );

  // ---- rows to and from memory ------------------------------------------------------------------
  logic                   load_ended, store_ended;
  logic [     Width-1:0]  load_row [Lanes];
  logic [LoadStreams-1:0] load_begin, load_push, load_free;
  logic                   table_we, table_loaded;
  logic [ TableWidth-1:0] table_addr;
  logic [     Points-1:0] store_limb, store_begin, store_pop, store_done;
  logic [     Width-1:0]  store_row [Points*Lanes];
  logic [           31:0] ended;
  rs_vector_loads #(
    .Cfg(Cfg),
    .LogFifo(LogFifo)
  ) u_loads (
    .clk_i,
    .rst_ni(run[1]),
    .halt_i(halt),
    .idle_o(idle[0]),
    .run_i(running_q),
    .watchdog_i,
    .row_bits_i,
    .valid_i(load_valid),
    .load_i(load),
    .ready_o(load_ready),
    .ended_o(load_ended),
    .stores_ended_i,
    .computing_ended_i(ended),
    .free_i(load_free),
    .row_o(load_row),
    .begin_o(load_begin),
    .push_o(load_push),
    .table_we_o(table_we),
    .table_addr_o(table_addr),
    .table_loaded_o(table_loaded),
    .ar_valid_o,
    .ar_home_o,
    .ar_beat_o,
    .ar_len_o,
    .ar_ready_i,
    .r_valid_i,
    .r_last_i,
    .r_resp_i,
    .r_data_i,
    .r_ready_o,
    .failed_o(fails[0]),
    .fault_o(fault[0])
  );
  rs_vector_stores #(
    .Cfg(Cfg),
    .LogFifo(LogFifo)
  ) u_stores (
    .clk_i,
    .rst_ni(run[2]),
    .halt_i(halt),
    .idle_o(idle[1]),
    .run_i(running_q),
    .watchdog_i,
    .row_bits_i,
    .valid_i(store_valid),
    .store_i(store),
    .ready_o(store_ready),
    .ended_o(store_ended),
    .limb_i(store_limb),
    .begin_o(store_begin),
    .pop_o(store_pop),
    .row_i(store_row),
    .done_o(store_done),
    .aw_valid_o,
    .aw_home_o,
    .aw_beat_o,
    .aw_len_o,
    .aw_ready_i,
    .w_valid_o,
    .w_last_o,
    .w_data_o,
    .w_ready_i,
    .b_valid_i,
    .b_resp_i,
    .b_ready_o,
    .failed_o(fails[1]),
    .fault_o(fault[1])
  );

  // ---- computing --------------------------------------------------------------------------------
  rs_vector_core #(
    .Cfg(Cfg)
  ) u_core (
    .clk_i,
    .rst_ni(run[3]),
    .prime_we_i,
    .prime_addr_i,
    .prime_q_i,
    .prime_mu_i,
    .prime_shift_i,
    .pass_we_i,
    .pass_addr_i,
    .pass_i,
    .row_bits_i,
    .passes_i,
    .start_i(run_i),
    .instruction_valid_i(running_q && instruction_valid && !halt),
    .instruction_i(instruction),
    .instruction_ready_o(issued),
    .ended_o(ended),
    .load_row_i(load_row),
    .load_push_i(load_push),
    .load_begin_i(load_begin),
    .load_free_o(load_free),
    .table_we_i(table_we),
    .table_addr_i(table_addr),
    .table_loaded_i(table_loaded),
    .store_limb_o(store_limb),
    .store_begin_i(store_begin),
    .store_pop_i(store_pop),
    .store_row_o(store_row),
    .store_done_i(store_done)
  );

  // ---- what has ended ---------------------------------------------------------------------------
  logic [31:0] loads_ended_q, stores_ended_q, loads_begun_q, stores_begun_q;
  logic [Lists-1:0][31:0] count_q;
  always_ff @(posedge clk_i) begin
    if (start_i) count_q <= list_count_i;
    loads_begun_q  <= (!run[4] || start_i) ? '0 : loads_begun_q + 32'(load_ready);
    stores_begun_q <= (!run[4] || start_i) ? '0 : stores_begun_q + 32'(store_ready);
    loads_ended_q  <= (!run[4] || start_i) ? '0 : loads_ended_q + 32'(load_ended);
    stores_ended_q <= (!run[4] || start_i) ? '0 : stores_ended_q + 32'(store_ended);
  end
  assign stores_ended_o = stores_ended_q;
  assign done_o         = running_q && loads_ended_q == count_q[ListLoads] &&
      ended == count_q[ListComputing] && stores_ended_q == count_q[ListStores];
  assign fault_item_o   = (fault_q.list == ListStores) ? stores_begun_q : loads_begun_q;
  assign load_begun_o   = load_ready;
  assign issued_o       = issued;
  assign store_begun_o  = store_ready;
  assign ended_o        = ended;
endmodule
