// The host's window into the memories of an accelerator: a register of 64 bits, word after word.
//
// The address is word word_i of polynomial index_i of memory space_i of RPAU unit_i. Words are
// written by halves (rs_word_halves). Rows of the address spaces poly and key are written from
// their first word to their last, with which they are stored: here the words of a row of the
// device's host port are gathered (rs_rpau_pkg::host_words). Words of the other address spaces are
// rows of their own. Reads fetch such a row and keep it until the host moves, writes, or runs a
// program. advance_o counts word_i up after a word was written, or its upper half read.
//
// An access is answered by ack_o, in its own cycle, or, where a row must be fetched, when it is
// there; the next access comes after that. idle_o: no access is in progress, and none
// is at the device's port in the next cycle. Accesses while the device is not ready, to addresses
// that it does not have, or of words out of order or too wide are refused and have no effect.
`include "rs_assert.svh"

module rs_host_window
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned HostWords = host_words(Lanes)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      ready_i,    // the device is neither busy nor in reset

  input  logic [7:0]                space_i,     // registers host_space, host_unit, …
  input  logic [7:0]                unit_i,
  input  logic [15:0]               index_i,
  input  logic [16:0]               word_i,
  input  logic                      moved_i,    // the host writes one of these registers
  output logic                      advance_o,

  input  access_t                   access_i,
  output logic                      ack_o,
  output logic                      idle_o,
  output logic [31:0]               data_o,     // of a read; 0 where it is refused
  output refused_t                  refused_o,

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
  localparam int unsigned LogLanes = $clog2(Lanes);
  localparam int unsigned LogHostWords = $clog2(HostWords);

  // ---- the address ------------------------------------------------------------------------------
  logic [16:0] indices, words;  // that the address space has
  logic        whole_rows;
  rs_host_space #(
    .Cfg(Cfg)
  ) u_space (
    .space_i,
    .indices_o(indices),
    .words_o(words),
    .whole_rows_o(whole_rows)
  );

  logic                    exists, narrow;  // the address exists, and is in a narrow RPAU
  logic [LogLanes-1:0]     lane;            // of the memory's row
  logic [LogHostWords-1:0] slot;            // of the port's row
  logic [RowWidth-1:0]     row;
  assign exists = unit_i < 8'(Cfg.Rpaus) && {1'b0, index_i} < indices && word_i < words;
  assign narrow = 32'(unit_i) + Cfg.NarrowRpaus >= Cfg.Rpaus;
  assign lane   = whole_rows ? word_i[LogLanes-1:0] : '0;
  assign slot   = lane[LogHostWords-1:0];
  assign row    = whole_rows ? RowWidth'(word_i >> LogHostWords) : RowWidth'(word_i);

  // ---- writes -----------------------------------------------------------------------------------
  logic                complete, fits, next, accept, store;
  logic [63:0]         word;
  logic [LogLanes-1:0] filled_q;  // words of the memory's row that were written
  refused_t            refused_half;
  rs_word_halves u_halves (
    .clk_i,
    .rst_ni,
    .clear_i(!ready_i || moved_i),
    .access_i,
    .complete_o(complete),
    .word_o(word),
    .refused_o(refused_half)
  );
  assign fits   = (word >> Cfg.Width) == '0 && !(narrow && (word >> Cfg.NarrowWidth) != '0);
  assign next   = lane == filled_q;
  assign accept = ready_i && complete && exists && fits && next;
  assign store  = accept && (!whole_rows || &slot);

  // ---- reads ------------------------------------------------------------------------------------
  logic read, readable, serve, fetch, abandon, upper;
  logic row_valid_q;  // row_q is the row of the address
  logic fetching_q;   // a read waits for its row
  logic upper_q;      // and is of the upper half
  assign read     = access_i.valid && !access_i.write;
  assign readable = exists && space_i == 8'(SpacePoly);
  assign upper    = fetching_q ? upper_q : access_i.upper;
  assign serve    = ready_i && row_valid_q && (fetching_q || (read && readable));
  assign fetch    = ready_i && !row_valid_q && read && readable;
  assign abandon  = !ready_i && fetching_q;

  // ---- the row ----------------------------------------------------------------------------------
  logic [Cfg.Width-1:0] row_q [HostWords];
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i) begin
      row_valid_q <= 1'b0;
      fetching_q  <= 1'b0;
      filled_q    <= '0;
    end else begin
      if (fetch) fetching_q <= 1'b1;
      else if (serve) fetching_q <= 1'b0;
      if (fetching_q && host_rvalid_i) row_valid_q <= 1'b1;
      else if (moved_i || accept || (serve && upper && (&slot))) row_valid_q <= 1'b0;
      if (moved_i || fetch) filled_q <= '0;
      else if (accept && whole_rows) filled_q <= filled_q + 1'b1;
    end
    if (fetch) upper_q <= access_i.upper;
    if (fetching_q && host_rvalid_i) row_q <= host_rdata_i;
    else if (accept) row_q[slot] <= word[Cfg.Width-1:0];
  end

  // ---- answers ----------------------------------------------------------------------------------
  logic [63:0] served;
  assign served    = 64'(row_q[slot]);
  assign advance_o = accept || (serve && upper);
  assign ack_o     = (access_i.valid && !fetch) || (fetching_q && serve) || abandon;
  assign data_o    = !serve ? '0 : upper ? served[63:32] : served[31:0];

  always_comb begin
    refused_o = '0;
    if (!ready_i) begin
      refused_o.busy = access_i.valid || fetching_q;
    end else begin
      refused_o       = refused_half;
      refused_o.place = (read && !readable) || (complete && !exists);
      if (complete && exists) begin
        refused_o.value = !fits;
        refused_o.order = !next;
      end
    end
  end

  // ---- device -----------------------------------------------------------------------------------
  // The access has its own registers: the host may change the address while it is in progress.
  logic                      we_q, re_q;
  logic [SpaceWidth-1:0]      space_q;
  logic [RpauWidth-1:0]      rpau_q;
  logic [HostIndexWidth-1:0] index_q;
  logic [RowWidth-1:0]       row_address_q;
  always_ff @(posedge clk_i) begin
    we_q <= rst_ni && store;
    re_q <= rst_ni && fetch;
    if (store || fetch) begin
      space_q        <= space_i[SpaceWidth-1:0];
      rpau_q        <= unit_i[RpauWidth-1:0];
      index_q       <= index_i[HostIndexWidth-1:0];
      row_address_q <= row;
    end
  end
  assign idle_o       = !access_i.valid && !fetching_q;
  assign host_we_o    = we_q;
  assign host_re_o    = re_q;
  assign host_space_o  = space_q;
  assign host_rpau_o  = rpau_q;
  assign host_index_o = index_q;
  assign host_row_o   = row_address_q;
  assign host_wdata_o = row_q;

  `RS_ASSERT(OneAtATime_A, !(access_i.valid && fetching_q),
             "an access comes while the one before waits for its row")
endmodule
