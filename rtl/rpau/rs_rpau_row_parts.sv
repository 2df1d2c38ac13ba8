// Rows of up to three polynomials, taken from the banks' registers a part at a time.
//
// word_i are the words of a row, by lane and bank, where they stay until the last of its parts has
// been taken. Part p is words p*Words to p*Words + Words - 1 of the row, whose halves are exchanged
// with swap_i; operand_o[k] are those of bank bank_i[k], which holds still, a cycle after part_i.
// Cost: a multiplexer of the parts for each bank and word, which the operands share, and then one
// of the banks for each operand and word.
module rs_rpau_row_parts
  import rs_rpau_pkg::*;
#(
  parameter  rpau_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned Words = 2,   // of a part, 1 ... 2*Cores
  parameter  int unsigned Banks = 16,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned PartBits = part_bits(Lanes, Words),
  localparam int unsigned BankWidth = $clog2(Banks)
) (
  input  logic                 clk_i,
  input  logic                 swap_i,
  input  logic [PartBits-1:0]  part_i,
  input  logic [BankWidth-1:0] bank_i [3],
  input  logic [Width-1:0]     word_i [Lanes][Banks],
  output logic [Width-1:0]     operand_o [3][Words]
);
  // A part's word l comes from lane l % Step of a group of Step lanes, halves swapped or not.
  localparam int unsigned Step = (Words < Cores) ? Words : Cores;
  localparam int unsigned Positions = Lanes / Step;
  localparam int unsigned PositionBits = $clog2(Positions);
  localparam int unsigned LogLanes = $clog2(Lanes);

  for (genvar l = 0; l < Words; l++) begin : gen_word
    logic [PositionBits-1:0] position;
    logic [LogLanes-1:0]  lane;
    assign position = PositionBits'((32'(part_i) * Words + l) / Step)
                   ^ (swap_i ? PositionBits'(Cores / Step) : '0);
    assign lane  = LogLanes'(32'(position) * Step + l % Step);

    logic [Width-1:0] own [Banks];  // of the part, in every bank
    always_ff @(posedge clk_i) begin
      for (int unsigned b = 0; b < Banks; b++) own[b] <= word_i[lane][b];
    end

    for (genvar k = 0; k < 3; k++) begin : gen_operand
      rs_rpau_bank_mux #(
        .Width(Cfg.Width),
        .Banks(Banks)
      ) u_bank (
        .bank_i(bank_i[k]),
        .word_i(own),
        .word_o(operand_o[k][l])
      );
    end
  end
endmodule
