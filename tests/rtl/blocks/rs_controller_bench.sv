// A program controller with units that are busy as long as a command's field dst says.
//
// A unit that starts counts from dst to 1 and then says done, so that it is done dst cycles after
// its start.
module rs_controller_bench
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Rpaus = 2,
  parameter  int unsigned ProgramWords = 16,
  parameter  int unsigned Has = 0,        // units that there are, a bit each
  parameter  int unsigned Knows = 0,      // features, likewise
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        program_we_i,
  input  logic [AddrWidth-1:0]        program_addr_i,
  input  logic [63:0]                 program_data_i,
  input  logic                        start_i,
  output logic                        busy_o,
  output logic                        error_o,
  output logic [63:0]                 cycles_o,
  output logic [63:0]                 instructions_o,
  output logic [Rpaus-1:0][Units-1:0] start_o,
  output logic [63:0]                 word_o
);
  logic [ArrivedWidth-1:0]     unused_arrived, unused_awaited;
  command_t                    command;
  logic [Rpaus-1:0][Units-1:0] done;
  rs_rpau_controller #(
    .Rpaus(Rpaus),
    .ProgramWords(ProgramWords),
    .HasUnits(Units'(Has)),
    .HasFeatures(Features'(Knows))
  ) u_controller (
    .clk_i,
    .rst_ni,
    .program_we_i,
    .program_addr_i,
    .program_data_i,
    .start_i,
    .streamed_i(1'b0),
    .arrived_i(1'b0),
    .arrived_o(unused_arrived),
    .awaited_o(unused_awaited),
    .busy_o,
    .error_o,
    .cycles_o,
    .instructions_o,
    .command_o(command),
    .start_o,
    .done_i(done)
  );
  assign word_o = command.word;

  for (genvar r = 0; r < Rpaus; r++) begin : gen_rpau
    for (genvar u = 0; u < Units; u++) begin : gen_unit
      logic [DstWidth-1:0] left_q;
      always_ff @(posedge clk_i) begin
        if (!rst_ni) left_q <= '0;
        else if (start_o[r][u]) left_q <= command.word[DstLsb+:DstWidth];
        else if (left_q != '0) left_q <= left_q - 1'b1;
      end
      assign done[r][u] = left_q == DstWidth'(1);
    end
  end
endmodule
