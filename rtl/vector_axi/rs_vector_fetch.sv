// Reads a cluster's three lists from memory, by a port of its own, ahead of their use.
//
// start_i takes the lists' addresses, multiples of SlotBytes, and lengths. Slots of each list are
// asked for while its FIFO has space for them: first computing, then loads, then stores. filled_o:
// no more can be requested and all requested slots have come; the program may begin (run_i).
// From then on, at most one instruction leaves in 8 cycles, since a limb has 8 rows or more. The
// same holds for loads and stores. So memory keeps ahead if it answers within 8 * 2^LogListed
// cycles (docs/reference/vector.md): Ahead_A checks it.
//
// Cost: a FIFO of 2^LogListed instructions and two of 2^LogListBeats beats, in LUTs.
`include "rs_assert.svh"

module rs_vector_fetch
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned AddrWidth = 40,
  localparam int unsigned SlotWidth = AddrWidth - $clog2(SlotBytes)
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  input  logic                                  halt_i,
  input  logic                [           31:0] watchdog_i,
  input  logic                                  start_i,
  input  logic                                  run_i,
  input  logic    [Lists-1:0] [  AddrWidth-1:0] address_i,            // list_e
  input  logic    [Lists-1:0] [           31:0] count_i,
  output logic                                  filled_o,
  // items
  output logic                                  load_valid_o,
  output load_t                                 load_o,
  input  logic                                  load_ready_i,
  output logic                                  instruction_valid_o,
  output instruction_t                          instruction_o,
  input  logic                                  instruction_ready_i,
  output logic                                  store_valid_o,
  output store_t                                store_o,
  input  logic                                  store_ready_i,
  // AXI read channels
  output logic                                  ar_valid_o,
  output logic                [  AddrWidth-1:0] ar_addr_o,
  output logic                [            7:0] ar_len_o,
  input  logic                                  ar_ready_i,
  input  logic                                  r_valid_i,
  input  logic                                  r_last_i,
  input  logic                [            1:0] r_resp_i,
  input  logic                [   ListBits-1:0] r_data_i,
  output logic                                  r_ready_o,
  // errors
  output logic                                  failed_o,
  output fault_t                                fault_o
);
  localparam int unsigned LoadsOfBeat = ListBits / $bits(load_t);
  localparam int unsigned StoresOfBeat = ListBits / $bits(store_t);
  localparam int unsigned CreditWidth = LogListed + 1;
  localparam int unsigned Slots = 2 ** LogListBeats / SlotBeats;  // of loads, and of stores

  // ---- slots that are asked for -----------------------------------------------------------------
  logic  [    Lists-1:0]                  wants, returns;
  logic  [    Lists-1:0][  SlotWidth-1:0] slot_q;
  logic  [    Lists-1:0][           31:0] left_q;
  logic  [    Lists-1:0][CreditWidth-1:0] credit_q;
  list_e                                  which, answered;
  logic  [          1:0]                  answered_bits;
  logic                                   ask, order_ready, order_valid, ar_q, slot_came;
  logic  [SlotWidth-1:0]                  asked_q;
  logic  [          7:0]                  len_q;
  always_comb begin
    for (int unsigned k = 0; k < Lists; k++) wants[k] = left_q[k] != '0 && credit_q[k] != '0;
    which = wants[ListComputing] ? ListComputing : wants[ListLoads] ? ListLoads : ListStores;
  end
  assign ask = wants != '0 && !halt_i && order_ready && (!ar_q || ar_ready_i);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ar_q <= 1'b0;
    else ar_q <= ask || (ar_q && !ar_ready_i);
    if (ask) begin
      asked_q <= slot_q[which];
      len_q   <= (which == ListComputing) ? 8'(InstructionBeats - 1) : 8'(SlotBeats - 1);
    end
    for (int unsigned k = 0; k < Lists; k++) begin
      if (start_i) slot_q[k] <= address_i[k][AddrWidth-1:$clog2(SlotBytes)];
      else if (ask && which == 2'(k)) slot_q[k] <= slot_q[k] + 1'b1;
      if (!rst_ni) credit_q[k] <= (k == 32'(ListComputing)) ? CreditWidth'(2 ** LogListed) :
          CreditWidth'(Slots);
      else
        credit_q[k] <= credit_q[k] - CreditWidth'(ask && which == 2'(k)) + CreditWidth'(returns[k]);
      if (!rst_ni) left_q[k] <= '0;
      else if (start_i) begin
        unique case (k)
          32'(ListComputing): left_q[k] <= count_i[k];
          32'(ListLoads):
          left_q[k] <= (count_i[k] + SlotBeats * LoadsOfBeat - 1) / (SlotBeats * LoadsOfBeat);
          default:
          left_q[k] <= (count_i[k] + SlotBeats * StoresOfBeat - 1) / (SlotBeats * StoresOfBeat);
        endcase
      end else left_q[k] <= left_q[k] - 32'(ask && which == 2'(k));
    end
  end
  assign ar_valid_o = ar_q;
  assign ar_addr_o  = {asked_q, ($clog2(SlotBytes))'(0)};
  assign ar_len_o   = len_q;
  rs_dma_fifo #(
    .Width(2),
    .LogDepth(5)
  ) u_order (
    .clk_i,
    .rst_ni,
    .valid_i(ask),
    .ready_o(order_ready),
    .data_i(which),
    .valid_o(order_valid),
    .ready_i(slot_came),
    .data_o(answered_bits)
  );
  logic [5:0] flight_q;
  assign answered  = list_e'(answered_bits);
  assign slot_came = r_valid_i && r_last_i;
  assign filled_o  = wants == '0 && flight_q == '0 && !start_i;
  assign r_ready_o = 1'b1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) flight_q <= '0;
    else flight_q <= flight_q + 6'(ask) - 6'(slot_came);
  end
  `RS_ASSERT(Asked_A, !r_valid_i || order_valid, "beats of lists come that were not asked for")

  // ---- instructions: the lowest bits of InstructionBeats beats ----------------------------------
  localparam int unsigned Held = InstructionBeats - 1;
  logic [Held-1:0][ListBits-1:0] held_q;  // the latest beat highest
  logic [InstructionBeats*ListBits-1:0] instruction;
  logic instruction_ready;
  always_ff @(posedge clk_i) if (r_valid_i) held_q <= {r_data_i, held_q[Held-1:1]};
  assign instruction        = {r_data_i, held_q};
  rs_dma_fifo #(
    .Width($bits(instruction_t)),
    .LogDepth(LogListed)
  ) u_computing (
    .clk_i,
    .rst_ni,
    .valid_i(slot_came && answered == ListComputing),
    .ready_o(instruction_ready),
    .data_i(instruction[$bits(instruction_t)-1:0]),
    .valid_o(instruction_valid_o),
    .ready_i(instruction_ready_i),
    .data_o(instruction_o)
  );
  assign returns[ListComputing] = instruction_valid_o && instruction_ready_i;

  // ---- loads and stores: a beat of several ------------------------------------------------------
  // A slot is used up with the last item of its last beat.
  localparam int unsigned LoadWidth = $clog2(LoadsOfBeat);
  localparam int unsigned StoreWidth = $clog2(StoresOfBeat);
  localparam int unsigned BeatWidth = $clog2(SlotBeats);
  logic [LoadsOfBeat-1:0][$bits(load_t)-1:0] load_beat;
  logic [StoresOfBeat-1:0][$bits(store_t)-1:0] store_beat;
  logic [31:0] loads_q, stores_q;  // left
  logic [LoadWidth-1:0] load_index_q;
  logic [StoreWidth-1:0] store_index_q;
  logic [BeatWidth-1:0] load_beat_q, store_beat_q;
  logic load_there, load_last, load_fits, store_there, store_last, store_fits;
  rs_dma_fifo #(
    .Width(ListBits),
    .LogDepth(LogListBeats)
  ) u_loads (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i && answered == ListLoads),
    .ready_o(load_fits),
    .data_i(r_data_i),
    .valid_o(load_there),
    .ready_i(load_last),
    .data_o(load_beat)
  );
  rs_dma_fifo #(
    .Width(ListBits),
    .LogDepth(LogListBeats)
  ) u_stores (
    .clk_i,
    .rst_ni,
    .valid_i(r_valid_i && answered == ListStores),
    .ready_o(store_fits),
    .data_i(r_data_i),
    .valid_o(store_there),
    .ready_i(store_last),
    .data_o(store_beat)
  );
  // The rest of a list's last slot is dropped: loads_q and stores_q are 0 then.
  assign load_valid_o  = load_there && loads_q != '0;
  assign load_o        = load_beat[load_index_q];
  assign load_last     = load_there &&
      ((load_valid_o && load_ready_i && load_index_q == '1) || loads_q == '0);
  assign store_valid_o = store_there && stores_q != '0;
  assign store_o       = store_beat[store_index_q];
  assign store_last    = store_there &&
      ((store_valid_o && store_ready_i && store_index_q == '1) || stores_q == '0);
  assign returns[ListLoads]  = load_last && load_beat_q == '1;
  assign returns[ListStores] = store_last && store_beat_q == '1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loads_q       <= '0;
      stores_q      <= '0;
      load_index_q  <= '0;
      store_index_q <= '0;
      load_beat_q   <= '0;
      store_beat_q  <= '0;
    end else begin
      if (start_i) loads_q <= count_i[ListLoads];
      else if (load_valid_o && load_ready_i) loads_q <= loads_q - 1'b1;
      if (start_i) stores_q <= count_i[ListStores];
      else if (store_valid_o && store_ready_i) stores_q <= stores_q - 1'b1;
      if (load_last) load_index_q <= '0;
      else if (load_valid_o && load_ready_i) load_index_q <= load_index_q + 1'b1;
      if (store_last) store_index_q <= '0;
      else if (store_valid_o && store_ready_i) store_index_q <= store_index_q + 1'b1;
      if (load_last) load_beat_q <= load_beat_q + 1'b1;
      if (store_last) store_beat_q <= store_beat_q + 1'b1;
    end
  end
  `RS_ASSERT(Fits_A,
             (instruction_ready || !(slot_came && answered == ListComputing)) &&
             (load_fits || !(r_valid_i && answered == ListLoads)) &&
             (store_fits || !(r_valid_i && answered == ListStores)),
             "a list comes that there is no space for")

  logic [31:0] computing_q;  // left
  always_ff @(posedge clk_i) begin
    if (!rst_ni) computing_q <= '0;
    else if (start_i) computing_q <= count_i[ListComputing];
    else computing_q <= computing_q - 32'(returns[ListComputing]);
  end
  `RS_ASSERT(Ahead_A,
             !run_i || halt_i || ((load_valid_o || loads_q == '0) &&
                 (store_valid_o || stores_q == '0) && (instruction_valid_o || computing_q == '0)),
             "a list was not read in time")

  // ---- what goes wrong --------------------------------------------------------------------------
  logic       silent, failed;
  assign failed      = r_valid_i && r_resp_i[1];
  rs_vector_watchdog #(
    .Ports(1)
  ) u_watchdog (
    .clk_i,
    .rst_ni,
    .limit_i(watchdog_i),
    .waits_i(flight_q != '0),
    .moves_i(r_valid_i || (ar_valid_o && ar_ready_i)),
    .missing_i(1'b1),
    .failed_i(failed),
    .silent_o(silent),
    .port_o()
  );
  assign failed_o = failed || silent;
  assign fault_o  = '{
          fetching: 1'b1,
          list: order_valid ? answered : which,
          port: '0,
          fault: failed ? FaultResponse : FaultSilence
      };
endmodule
