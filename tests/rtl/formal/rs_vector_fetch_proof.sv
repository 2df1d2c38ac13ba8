// What test_proofs.py proves of rs_vector_fetch, an AXI master that reads lists, for lists of any
// places and lengths, and for a port that takes its bursts and answers at any time.
//
// A burst lies within 4 KiB, is one slot or the part of it that an instruction has, and stays at the
// port until it is taken. As many are offered or on their way as the order's FIFO names, and all
// their beats have space. No burst begins to be offered after halt_i. idle_o and filled_o stand when
// no burst is offered or on its way, and idle_o then at once: a reset while it is high leaves memory
// nothing to answer.
//
// The order's FIFO is an rs_dma_fifo, whose own proof says that words leave as they entered. So a
// slot that comes is one of a list that has been asked for.

// Words in the memory of an rs_dma_fifo. The braces keep the difference as wide as the pointers,
// which wrap around: slang would widen them to 32 bits before it subtracts.
`define RS_QUEUED(Fifo) 32'({Fifo.wptr_q - Fifo.rptr_q})

module rs_vector_fetch_proof
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter int unsigned AddrWidth = 16
) (
  input logic                            clk_i,
  input logic                            rst_ni,
  input logic                            halt_i,
  input logic                            start_i,
  input logic [Lists-1:0][AddrWidth-1:0] address_i,
  input logic [Lists-1:0][31:0]          count_i,
  input logic [31:0]                     watchdog_i,
  input logic                            load_ready_i,
  input logic                            instruction_ready_i,
  input logic                            store_ready_i,
  input logic                            ar_ready_i,
  input logic                            r_valid_i,
  input logic                            r_last_i,
  input logic [1:0]                      r_resp_i,
  input logic [ListBits-1:0]             r_data_i
);
  localparam int unsigned OrderDepth = 33;  // of the FIFO, with its output
  localparam int unsigned Beats = 2 ** LogListBeats;
  logic                 idle, filled, ar_valid;
  logic [AddrWidth-1:0] ar_addr;
  logic [7:0]           ar_len;
  rs_vector_fetch #(
    .AddrWidth(AddrWidth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .idle_o(idle),
    .watchdog_i,
    .start_i,
    .address_i,
    .count_i,
    .filled_o(filled),
    .load_valid_o(),
    .load_o(),
    .load_ready_i,
    .instruction_valid_o(),
    .instruction_o(),
    .instruction_ready_i,
    .store_valid_o(),
    .store_o(),
    .store_ready_i,
    .ar_valid_o(ar_valid),
    .ar_addr_o(ar_addr),
    .ar_len_o(ar_len),
    .ar_ready_i,
    .r_valid_i,
    .r_last_i,
    .r_resp_i,
    .r_data_i,
    .r_ready_o(),
    .failed_o(),
    .fault_o()
  );

  // ---- the model --------------------------------------------------------------------------------
  int unsigned      open;     // bursts that the port has taken and that have not ended
  logic             held_q, halted_q;
  logic [1:0]       beat_q;   // beats of the slot that comes
  logic [1:0]       last;     // its last beat
  logic [Lists-1:0] coming;   // the list that it is of
  logic [Lists-1:0] asks;
  logic [5:0]       slots_q [Lists];  // of each list, offered or on their way
  rs_axi_burst_rules #(
    .AddrWidth(AddrWidth),
    .BeatBytes(ListBits / 8),
    .MostBeats(SlotBeats),
    .Outstanding(OrderDepth)
  ) u_rules (
    .clk_i,
    .rst_ni,
    .valid_i(ar_valid),
    .ready_i(ar_ready_i),
    .addr_i(ar_addr),
    .len_i(ar_len),
    .ends_i(r_valid_i && r_last_i),
    .open_o(open)
  );
  assign coming = Lists'(1) << u_dut.answered_bits;
  assign asks   = u_dut.ask ? Lists'(1) << u_dut.which : '0;
  assign last   = coming[ListComputing] ? 2'(InstructionBeats - 1) : 2'(SlotBeats - 1);
  always_ff @(posedge clk_i) begin
    held_q   <= rst_ni && ar_valid && !ar_ready_i;
    halted_q <= rst_ni && halt_i;
    if (!rst_ni || (r_valid_i && r_last_i)) beat_q <= '0;
    else if (r_valid_i) beat_q <= beat_q + 2'd1;
    for (int unsigned k = 0; k < Lists; k++) begin
      if (!rst_ni) slots_q[k] <= '0;
      else slots_q[k] <= slots_q[k] + 6'(asks[k]) - 6'(r_valid_i && r_last_i && coming[k]);
    end
  end

  // ---- what the block may assume ----------------------------------------------------------------
  always_comb begin
    assume (!r_valid_i || open != 0);
    assume (!r_valid_i || r_last_i == (beat_q == last));
    for (int unsigned k = 0; k < Lists; k++) begin
      assume (!r_valid_i || !coming[k] || slots_q[k] != '0);  // proved of rs_dma_fifo
    end
    assume (!u_dut.order_valid || coming != '0);
  end

  // ---- what holds -------------------------------------------------------------------------------
  // Of the FIFOs: words that they hold, the one at their output among them.
  int unsigned ordered, instructions, loads, stores;
  assign ordered      = `RS_QUEUED(u_dut.u_order) + 32'(u_dut.u_order.valid_q);
  assign instructions = `RS_QUEUED(u_dut.u_computing) + 32'(u_dut.u_computing.valid_q);
  assign loads        = `RS_QUEUED(u_dut.u_loads) + 32'(u_dut.u_loads.valid_q);
  assign stores       = `RS_QUEUED(u_dut.u_stores) + 32'(u_dut.u_stores.valid_q);

  // Beats that have space or use it: those of the credit, of slots on their way, and in the FIFO;
  // of a slot that comes or is being used up, a part is in neither.
  function automatic int unsigned taken(logic [LogListed:0] credit, logic [5:0] slots,
                                        int unsigned held, logic [1:0] used, logic [1:0] come);
    return SlotBeats * (32'(credit) + 32'(slots)) + held + 32'(used) - 32'(come);
  endfunction

  always_comb begin
    if (rst_ni) begin
      if (halted_q && !held_q) assert (!ar_valid);
      assert (idle == (open == 0 && !ar_valid));
      if (filled) assert (open == 0 && !ar_valid);
      if (r_valid_i) begin
        assert (u_dut.order_valid);
        if (coming[ListComputing] && r_last_i) assert (u_dut.u_computing.ready_o);
        if (coming[ListLoads]) assert (u_dut.u_loads.ready_o);
        if (coming[ListStores]) assert (u_dut.u_stores.ready_o);
      end

      // What the induction needs to know.
      assert (ordered == open + 32'(ar_valid) && 32'(u_dut.flight_q) == ordered);
      assert (`RS_QUEUED(u_dut.u_order) < OrderDepth);
      assert (open == 0 || u_dut.order_valid);
      assert (beat_q == '0 || (u_dut.order_valid && beat_q <= last));
      for (int unsigned k = 0; k < Lists; k++) begin
        if (beat_q != '0 && coming[k]) assert (slots_q[k] != '0);
      end
      assert (32'(u_dut.credit_q[ListComputing]) + 32'(slots_q[ListComputing]) + instructions ==
              2 ** LogListed);
      assert (taken(u_dut.credit_q[ListLoads], slots_q[ListLoads], loads, u_dut.load_beat_q,
                    coming[ListLoads] ? beat_q : 2'd0) == Beats);
      assert (taken(u_dut.credit_q[ListStores], slots_q[ListStores], stores, u_dut.store_beat_q,
                    coming[ListStores] ? beat_q : 2'd0) == Beats);
    end
  end
endmodule

`undef RS_QUEUED
