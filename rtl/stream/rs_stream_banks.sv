// Which banks of a stage's twiddle memories are written and read.
//
// Each frame has a bank of its own, one after the other and round again. start_i says that the
// generator begins a frame in slot start_slot_i, wbank_o is the bank of slot_i's frame. Reading
// goes through the bank of the next frame from first_i on.
//
// The word that stands at read time t is number time_o of the bank; active_o says that it is
// wanted.
`include "rs_assert.svh"

module rs_stream_banks
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogPeriod = Cfg.LogN - Cfg.LogLanes,
  localparam int unsigned Slots = Cfg.Slots,
  parameter  int unsigned Banks = 4,
  localparam int unsigned BankWidth = $clog2(Banks),
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  logic [SlotWidth-1:0] start_slot_i,
  input  logic [SlotWidth-1:0] slot_i,
  output logic [BankWidth-1:0] wbank_o,
  input  logic                 first_i,
  output logic                 active_o,
  output logic [BankWidth-1:0] rbank_o,
  output logic [LogPeriod-1:0] time_o
);
  localparam logic [BankWidth-1:0] Last = BankWidth'(Banks - 1);

  rs_stream_clock #(
    .Cfg(Cfg)
  ) u_clock (
    .clk_i,
    .rst_ni,
    .first_i,
    .active_o,
    .last_o(),
    .time_o
  );

  logic [BankWidth-1:0] bank_of_q [Slots];
  logic [BankWidth-1:0] write_next_q, read_next_q, read_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_next_q <= '0;
      read_next_q  <= '0;
      read_q       <= '0;
      for (int unsigned i = 0; i < Slots; i++) bank_of_q[i] <= '0;
    end else begin
      if (start_i) begin
        bank_of_q[start_slot_i] <= write_next_q;
        write_next_q <= (write_next_q == Last) ? '0 : write_next_q + 1'b1;
      end
      if (first_i) begin
        read_q      <= read_next_q;
        read_next_q <= (read_next_q == Last) ? '0 : read_next_q + 1'b1;
      end
    end
  end
  assign wbank_o = bank_of_q[slot_i];
  assign rbank_o = first_i ? read_next_q : read_q;

  // Frames that have a bank: the first word is written, and the last one is not read yet.
  logic [BankWidth:0] used_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) used_q <= '0;
    else used_q <= used_q + (BankWidth + 1)'(start_i) - (BankWidth + 1)'(&time_o);
  end
  `RS_ASSERT(BankFree_A, 32'(used_q) <= Banks,
             $sformatf("%0d frames share %0d banks", used_q, Banks))
  `RS_ASSERT(BankWritten_A, !first_i || used_q != '0, "a frame has no factors")
endmodule
