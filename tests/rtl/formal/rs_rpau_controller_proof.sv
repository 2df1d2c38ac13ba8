// What test_proofs.py proves of rs_rpau_controller, for every program, of units that say done_i
// once, at any time after their start.
//
// The program's part of the hazard rule is that the units which an instruction waits for are idle.
// This is the controller's: an instruction starts the units that it names in the RPAUs of its mask,
// all in one cycle, and only when they and all units of its wait bits are idle there. Instructions
// issue once each, in the program's order, FetchCycles apart or more. The program ends with a halt,
// or with an instruction that the design lacks, when all units are idle.
module rs_rpau_controller_proof
  import rs_mem_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned         Rpaus = 2,
  parameter  int unsigned         ProgramWords = 4,
  parameter  logic [Units-1:0]    HasUnits = '1,
  parameter  logic [Features-1:0] HasFeatures = '1,
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input logic                        clk_i,
  input logic                        rst_ni,
  input logic                        program_we_i,
  input logic [AddrWidth-1:0]        program_addr_i,
  input logic [WordBits-1:0]         program_data_i,
  input logic                        start_i,
  input logic                        streamed_i,
  input logic                        arrived_i,
  input logic [Rpaus-1:0][Units-1:0] done_i
);
  typedef logic [Rpaus-1:0][Units-1:0] units_t;
  localparam int unsigned FetchCycles = 1 + RamLatency + 1;

  logic [ArrivedWidth-1:0] arrived, awaited;
  logic                    busy, failed;
  logic [63:0]             cycles, instructions;
  command_t                command;
  units_t                  start;
  rs_rpau_controller #(
    .Rpaus(Rpaus),
    .ProgramWords(ProgramWords),
    .HasUnits(HasUnits),
    .HasFeatures(HasFeatures)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .program_we_i,
    .program_addr_i,
    .program_data_i,
    .start_i,
    .streamed_i,
    .arrived_i,
    .arrived_o(arrived),
    .awaited_o(awaited),
    .busy_o(busy),
    .error_o(failed),
    .cycles_o(cycles),
    .instructions_o(instructions),
    .command_o(command),
    .start_o(start),
    .done_i
  );

  // ---- the model --------------------------------------------------------------------------------
  word_t              program_q [ProgramWords];
  units_t             running_q;  // started, and not done
  logic [AddrWidth:0] next_q;     // the instruction that is to issue
  int unsigned        since_q;    // cycles since the one before, up to FetchCycles
  logic               busy_q;
  always_comb begin
    assume (!(program_we_i && busy));
    assume ((done_i & ~running_q) == '0);
  end

  // The instruction at hand, by the definition of the ISA.
  word_t            word;
  decoded_t         decoded;
  logic             lacks, missing, halt;
  logic [Rpaus-1:0] mask;
  units_t           starts, waits;
  always_comb begin
    word    = program_q[next_q[AddrWidth-1:0]];
    decoded = decode(word);
    mask    = Rpaus'(get_mask(word));
    lacks   = |(decoded.needs & ~HasFeatures);
    missing = !decoded.valid || lacks || |(decoded.unit & ~HasUnits);
    halt    = missing || decoded.opcode == OpHalt;
    for (int unsigned r = 0; r < Rpaus; r++) begin
      starts[r] = (mask[r] && !missing) ? decoded.unit : '0;
      waits[r]  = halt ? '1 : mask[r] ? decoded.unit | decoded.waits : '0;
    end
  end

  logic   issue, issued_q, halted_q, missing_q;
  word_t  issued_word_q;
  units_t expected_q, waited_q, before_q;
  assign issue = u_dut.issue;
  always_ff @(posedge clk_i) begin
    if (program_we_i) program_q[program_addr_i] <= program_data_i;
    busy_q        <= rst_ni && busy;
    issued_q      <= rst_ni && issue;
    issued_word_q <= word;
    expected_q    <= starts;
    waited_q      <= waits;
    before_q      <= running_q & ~done_i;
    halted_q      <= rst_ni && issue && halt;
    missing_q     <= missing;
    if (!rst_ni) begin
      running_q <= '0;
      next_q    <= '0;
    end else begin
      running_q <= (running_q & ~done_i) | (issue ? starts : '0);
      if (start_i && !busy) next_q <= '0;
      else if (issue) next_q <= next_q + 1'b1;
    end
    if (start_i && !busy || issue) since_q <= 1;
    else if (since_q < FetchCycles) since_q <= since_q + 1;
  end

  always_comb begin
    if (rst_ni) begin
      if (issue) begin
        assert (busy && since_q == FetchCycles);
        assert ((waits & running_q) == '0);  // and so the units that start are idle, too
        assert ((starts & running_q) == '0);
      end
      assert (start == (issued_q ? expected_q : '0));
      if (start != '0) assert (command.word == issued_word_q && (start & before_q) == '0);
      if (issued_q && halted_q) assert (!busy && start == '0 && failed == missing_q);
      if (busy_q && !halted_q) assert (busy);  // a program ends in no other way
      if (busy) assert (instructions == 64'(next_q));

      // What the induction needs to know.
      assert (u_dut.units_busy_q == running_q && u_dut.start_q == start);
      if (busy) begin
        assert (u_dut.issued_q == next_q && since_q >= 1 && since_q <= FetchCycles);
        assert (u_dut.ready_q == (since_q == FetchCycles));
        assert (32'(u_dut.fetch_q) == FetchCycles - since_q);
        if (since_q >= 2) assert (u_dut.u_program.read_q == word);
        if (since_q >= 3) begin
          assert (u_dut.u_program.gen_output_register.output_q == word);
        end
        if (since_q >= 4) begin
          assert (u_dut.word_q == word && u_dut.decoded_q == decoded);
          assert (u_dut.missing_q == missing && u_dut.halt_q == halt);
          assert (u_dut.waits_q == waits);
          if (!halt) assert (u_dut.starts_q == starts);
          else assert (u_dut.starts_q == '0);
        end
      end else begin
        assert (!u_dut.ready_q);
      end
    end
  end
  for (genvar i = 0; i < ProgramWords; i++) begin : gen_word
    always_comb begin
      if (!rst_ni) assume (u_dut.u_program.gen_read_undefined.mem[i] == program_q[i]);
      else assert (u_dut.u_program.gen_read_undefined.mem[i] == program_q[i]);
    end
  end
endmodule
