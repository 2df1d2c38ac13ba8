// Program controller: stores a program, issues its instructions in order, counts.
//
// Issue rule (docs/architecture.md): an instruction is ready FetchCycles after the one before
// issued, the first after start_i was taken. It issues in the first cycle, from then on, in which
// its unit is idle in every RPAU of its mask, and also the units that its wait bits name. A unit is
// busy from the issue until it says done. halt issues when all units of all RPAUs are idle, and
// ends the program; an opcode that does not exist, or whose unit does not exist, ends it too, with
// error_o.
//
// start_i is taken while busy_o is low. busy_o is high from the next cycle to the one in which halt
// issues, and cycles_o counts those cycles. Commands leave through a register: command_o and the
// start bits of the RPAUs come one cycle after the issue.
module rs_rpau_controller
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Rpaus = 5,
  parameter  int unsigned ProgramWords = 1024,
  parameter  bit          Dyadic = 1'b1,      // the RPAUs have dyadic units
  parameter  bit          Prng = 1'b0,        // they expand seeds
  parameter  bit          Link = 1'b0,        // they have link units
  parameter  bit          Pieces = 1'b0,      // they run rings whose polynomials lie in pieces
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 program_we_i,
  input  logic [AddrWidth-1:0] program_addr_i,
  input  logic [WordBits-1:0]  program_data_i,

  input  logic                 start_i,
  output logic                 busy_o,
  output logic                 error_o,         // the program met such an opcode
  output logic [63:0]          cycles_o,
  output logic [63:0]          instructions_o,  // issued, halt included

  output command_t             command_o,
  output logic [Rpaus-1:0]     start_main_o,
  output logic [Rpaus-1:0]     start_dyadic_o,
  output logic [Rpaus-1:0]     start_link_o,
  input  logic [Rpaus-1:0]     done_main_i,
  input  logic [Rpaus-1:0]     done_dyadic_i,
  input  logic [Rpaus-1:0]     done_link_i
);
  // Address register, program store, decoding.
  localparam int unsigned FetchCycles = 1 + RamLatency + 1;
  localparam int unsigned FetchBits = $clog2(FetchCycles);

  logic busy_q, error_q, issue, start;
  assign start = start_i && !busy_q;

  // ---- fetch ------------------------------------------------------------------------------------
  logic [AddrWidth-1:0] address_q;
  word_t                fetched, word_q;
  decoded_t             decoded_q;
  rs_ram_1r1w #(
    .Width(WordBits),
    .Depth(ProgramWords),
    .ReadLatency(RamLatency),
    .RamStyle("block")
  ) u_program (
    .clk_i,
    .we_i(program_we_i),
    .waddr_i(program_addr_i),
    .wdata_i(program_data_i),
    .re_i(busy_q),
    .raddr_i(address_q),
    .rdata_o(fetched)
  );

  // The address stands still between two issues, so the decoded word does too, from FetchCycles on.
  logic [FetchBits-1:0] fetch_q;
  logic                 ready;
  assign ready = busy_q && fetch_q == '0;
  always_ff @(posedge clk_i) begin
    word_q    <= fetched;
    decoded_q <= decode(fetched);
    if (start) address_q <= '0;
    else if (issue) address_q <= address_q + 1'b1;
    if (start || issue) fetch_q <= FetchBits'(FetchCycles - 1);
    else if (fetch_q != '0) fetch_q <= fetch_q - 1'b1;
  end

  // ---- issue ------------------------------------------------------------------------------------
  logic [Rpaus-1:0] mask, main_busy_q, dyadic_busy_q, link_busy_q;
  logic             wants_main, wants_dyadic, wants_link, missing, halt, blocked;
  assign mask         = Rpaus'(get_mask(word_q));
  assign wants_main   = decoded_q.unit == UnitMain || decoded_q.wait_main;
  assign wants_dyadic = decoded_q.unit == UnitDyadic || decoded_q.wait_dyadic;
  assign wants_link   = decoded_q.unit == UnitLink || decoded_q.wait_link;
  assign missing      = !decoded_q.valid || (!Dyadic && decoded_q.unit == UnitDyadic) ||
                        (!Link && decoded_q.unit == UnitLink) || (!Prng && decoded_q.uses_seed) ||
                        (!Pieces && decoded_q.opcode inside {OpSplit, OpJoin});
  assign halt         = decoded_q.opcode == OpHalt || missing;

  always_comb begin
    blocked = 1'b0;
    if (wants_main && |(mask & main_busy_q)) blocked = 1'b1;
    if (wants_dyadic && |(mask & dyadic_busy_q)) blocked = 1'b1;
    if (wants_link && |(mask & link_busy_q)) blocked = 1'b1;
    if (halt) blocked = |{main_busy_q, dyadic_busy_q, link_busy_q};
  end
  assign issue = ready && !blocked;

  logic [Rpaus-1:0] starts_main, starts_dyadic, starts_link;
  assign starts_main   = (issue && !halt && decoded_q.unit == UnitMain) ? mask : '0;
  assign starts_dyadic = (issue && !halt && decoded_q.unit == UnitDyadic) ? mask : '0;
  assign starts_link   = (issue && !halt && decoded_q.unit == UnitLink) ? mask : '0;

  command_t         command_q;
  logic [Rpaus-1:0] start_main_q, start_dyadic_q, start_link_q;
  logic [63:0]      cycles_q, instructions_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q         <= 1'b0;
      error_q        <= 1'b0;
      main_busy_q    <= '0;
      dyadic_busy_q  <= '0;
      link_busy_q    <= '0;
      start_main_q   <= '0;
      start_dyadic_q <= '0;
      start_link_q   <= '0;
      cycles_q       <= '0;
      instructions_q <= '0;
    end else begin
      main_busy_q    <= (main_busy_q & ~done_main_i) | starts_main;
      dyadic_busy_q  <= (dyadic_busy_q & ~done_dyadic_i) | starts_dyadic;
      link_busy_q    <= (link_busy_q & ~done_link_i) | starts_link;
      start_main_q   <= starts_main;
      start_dyadic_q <= starts_dyadic;
      start_link_q   <= starts_link;
      if (start) begin
        busy_q         <= 1'b1;
        error_q        <= 1'b0;
        cycles_q       <= '0;
        instructions_q <= '0;
      end else begin
        cycles_q       <= cycles_q + 64'(busy_q);
        instructions_q <= instructions_q + 64'(issue);
        if (issue && halt) begin
          busy_q  <= 1'b0;
          error_q <= missing;
        end
      end
    end
    command_q.decoded <= decoded_q;
    command_q.word    <= word_q;
  end
  assign busy_o         = busy_q;
  assign error_o        = error_q;
  assign cycles_o       = cycles_q;
  assign instructions_o = instructions_q;
  assign command_o      = command_q;
  assign start_main_o   = start_main_q;
  assign start_dyadic_o = start_dyadic_q;
  assign start_link_o   = start_link_q;

  WriteWhileIdle_A :
  assert property (@(posedge clk_i) !(program_we_i && busy_q))
  else $error("the program store is written while a program runs");
endmodule
