// Program controller: stores a program, issues its instructions in order, counts.
//
// Issue rule (docs/reference/rpau.md): an instruction is ready FetchCycles after the issue of the
// one before; the first one after start_i was taken. It then issues as soon as its unit, and all
// units that its wait bits name, are idle in every RPAU of its mask. A unit is busy from the issue
// until its done signal. halt issues when all units of all RPAUs are idle,
// and ends the program; an opcode that does not exist, or that needs a unit or a feature that the
// design lacks, ends it too, with error_o.
//
// await also needs the number of key polynomials that it names: they must have arrived two cycles
// earlier. arrived_i: one polynomial has arrived, while a program runs. A program that starts with
// streamed_i counts from 0; for any other program all keys are there.
//
// start_i is taken while busy_o is low. busy_o is high from the next cycle to the one in which halt
// issues, and cycles_o counts those cycles. cycles_o and instructions_o are those of the cycles
// before; when busy_o falls they are complete, and they stay until the next start. Commands leave
// through a register: command_o and the start bits of the RPAUs come one cycle after the issue.
//
// The units that an instruction starts and waits for are decoded when its word arrives from the
// program store, one bit for each unit of each RPAU. The issue compares these bits with the busy
// units.
`include "rs_assert.svh"

module rs_rpau_controller
  import rs_mem_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Rpaus = 5,
  parameter  int unsigned ProgramWords = 1024,
  parameter  logic [Units-1:0]    HasUnits = '1,     // units of the RPAUs, by unit_e
  parameter  logic [Features-1:0] HasFeatures = '1,  // features of the design, by feature_e
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic                        program_we_i,
  input  logic [AddrWidth-1:0]        program_addr_i,
  input  logic [WordBits-1:0]         program_data_i,

  input  logic                        start_i,
  input  logic                        streamed_i,      // taken with start_i
  input  logic                        arrived_i,       // a polynomial is in its key store
  output logic [ArrivedWidth-1:0]     arrived_o,       // how many, since a start with streamed_i
  output logic [ArrivedWidth-1:0]     awaited_o,       // that the program waits for; 0: for none
  output logic                        busy_o,
  output logic                        error_o,         // the program met such an opcode
  output logic [63:0]                 cycles_o,
  output logic [63:0]                 instructions_o,  // issued, halt included

  output command_t                    command_o,
  output logic [Rpaus-1:0][Units-1:0] start_o,
  input  logic [Rpaus-1:0][Units-1:0] done_i
);
  // Address register, program store, decoding.
  localparam int unsigned FetchCycles = 1 + RamLatency + 1;
  localparam int unsigned FetchBits = $clog2(FetchCycles);
  typedef logic [Rpaus-1:0][Units-1:0] units_t;

  logic busy_q, error_q, issue, start;
  assign start = start_i && !busy_q;

  // ---- fetch ------------------------------------------------------------------------------------
  // A program has no jumps: the address is the number of instructions that have issued.
  logic [AddrWidth:0] issued_q;
  word_t              fetched;
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
    .raddr_i(issued_q[AddrWidth-1:0]),
    .rdata_o(fetched)
  );

  // ---- decode: the units that the instruction starts, and those that must be idle ---------------
  decoded_t         decoded;
  logic             lacks;  // the design lacks a feature that the instruction needs
  logic             missing, halt;
  logic [Rpaus-1:0] mask;
  units_t           starts, waits;
  always_comb begin
    decoded = decode(fetched);
    mask    = Rpaus'(get_mask(fetched));
    lacks   = |(decoded.needs & ~HasFeatures);
    missing = !decoded.valid || lacks || |(decoded.unit & ~HasUnits);
    halt    = missing || decoded.opcode == OpHalt;
    // halt and illegal instructions belong to no unit.
    for (int unsigned r = 0; r < Rpaus; r++) begin
      starts[r] = (mask[r] && !lacks) ? decoded.unit & HasUnits : '0;
      waits[r]  = halt ? '1 : mask[r] ? decoded.unit | decoded.waits : '0;
    end
  end

  // The address does not change between two issues, so these are stable after FetchCycles.
  word_t    word_q;
  decoded_t decoded_q;
  logic     missing_q, halt_q;
  units_t   starts_q, waits_q;
  always_ff @(posedge clk_i) begin
    word_q    <= fetched;
    decoded_q <= decoded;
    missing_q <= missing;
    halt_q    <= halt;
    starts_q  <= starts;
    waits_q   <= waits;
  end

  // ---- arrivals ---------------------------------------------------------------------------------
  logic ready_q;  // the instruction at hand stands at the registers above
  logic enough;   // as many keys have arrived as it waits for
  if (HasFeatures[NeedsKeyStream]) begin : gen_key_stream
    localparam logic [ArrivedWidth-1:0] All = '1;
    logic [ArrivedWidth-1:0] arrived_q;
    logic                    streamed_q, enough_q;
    always_ff @(posedge clk_i) begin
      if (start) arrived_q <= streamed_i ? '0 : All;
      else if (arrived_i && arrived_q != All) arrived_q <= arrived_q + 1'b1;
      if (start) streamed_q <= streamed_i;
      enough_q <= !decoded.uses_arrived || arrived_q >= fetched[ArrivedLsb+:ArrivedWidth];
    end
    assign enough    = enough_q;
    assign arrived_o = streamed_q ? arrived_q : '0;
    assign awaited_o = (ready_q && !enough_q) ? word_q[ArrivedLsb+:ArrivedWidth] : '0;
  end else begin : gen_no_key_stream
    assign enough    = 1'b1;
    assign arrived_o = '0;
    assign awaited_o = '0;
  end

  // ---- issue ------------------------------------------------------------------------------------
  logic [FetchBits-1:0] fetch_q;
  units_t               units_busy_q, start_q;
  assign issue = ready_q && enough && (waits_q & units_busy_q) == '0;

  logic [63:0] cycles_q;
  command_t    command_q;
  always_ff @(posedge clk_i) begin
    if (start || issue) fetch_q <= FetchBits'(FetchCycles - 1);
    else if (fetch_q != '0) fetch_q <= fetch_q - 1'b1;
    ready_q <= rst_ni && busy_q && !issue && fetch_q <= FetchBits'(1);

    if (!rst_ni) begin
      busy_q       <= 1'b0;
      error_q      <= 1'b0;
      units_busy_q <= '0;
      start_q      <= '0;
      cycles_q     <= '0;
      issued_q     <= '0;
    end else begin
      units_busy_q <= (units_busy_q & ~done_i) | (issue ? starts_q : '0);
      start_q      <= issue ? starts_q : '0;
      if (start) begin
        busy_q   <= 1'b1;
        error_q  <= 1'b0;
        cycles_q <= '0;
        issued_q <= '0;
      end else begin
        cycles_q <= cycles_q + 64'(busy_q);
        issued_q <= issued_q + (AddrWidth + 1)'(issue);
        if (issue && halt_q) begin
          busy_q  <= 1'b0;
          error_q <= missing_q;
        end
      end
    end
    command_q.decoded <= decoded_q;
    command_q.word    <= word_q;
  end
  assign busy_o         = busy_q;
  assign error_o        = error_q;
  assign cycles_o       = cycles_q;
  assign instructions_o = 64'(issued_q);
  assign command_o      = command_q;
  assign start_o        = start_q;

  `RS_ASSERT(WriteWhileIdle_A, !(program_we_i && busy_q),
             "the program store is written while a program runs")
endmodule
