// The host's window into the program store: a register of 64 bits, one instruction after another.
//
// An instruction is stored with its upper half (rs_word_halves), in the cycle after that access,
// and advance_o counts the address up. Writes while the device is not ready, and writes behind the
// end of the store, are refused and have no effect.
module rs_program_window
  import rs_shell_pkg::*;
#(
  parameter  int unsigned ProgramWords = 1024,
  localparam int unsigned AddrWidth = $clog2(ProgramWords)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 ready_i,    // the device is neither busy nor in reset

  input  logic [16:0]          address_i,  // register program_address
  output logic                 advance_o,
  input  access_t              access_i,
  output refused_t             refused_o,

  output logic                 program_we_o,
  output logic [AddrWidth-1:0] program_addr_o,
  output logic [63:0]          program_data_o
);
  logic        complete, exists, store;
  logic [63:0] word;
  refused_t    refused_half;
  rs_word_halves u_halves (
    .clk_i,
    .rst_ni,
    .clear_i(!ready_i),
    .access_i,
    .complete_o(complete),
    .word_o(word),
    .refused_o(refused_half)
  );
  assign exists = address_i < 17'(ProgramWords);
  assign store  = ready_i && complete && exists;

  always_comb begin
    refused_o = '0;
    if (!ready_i) begin
      refused_o.busy = access_i.valid;
    end else begin
      refused_o       = refused_half;
      refused_o.place = complete && !exists;
    end
  end

  logic                 we_q;
  logic [AddrWidth-1:0] addr_q;
  logic [63:0]          data_q;
  always_ff @(posedge clk_i) begin
    we_q <= rst_ni && store;
    if (store) begin
      addr_q <= address_i[AddrWidth-1:0];
      data_q <= word;
    end
  end
  assign advance_o      = store;
  assign program_we_o   = we_q;
  assign program_addr_o = addr_q;
  assign program_data_o = data_q;
endmodule
