// Constant files of one RPAU, one a modulus bank, and the constants of the running instruction.
// Main and dyadic unit have a copy each, because each runs its own instruction.
//
// start_i takes the modulus bank and the two indices; from the third cycle on, k1_o and k2_o hold
// the constants they name, or 1 and 0 where the instruction uses none, until the next start. (The
// first operands reach the lanes later than that.) The host writes words while nothing runs.
`include "rs_assert.svh"

module rs_rpau_constants
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Words = 64,
  parameter  int unsigned Sets = 1
) (
  input  logic                  clk_i,

  input  logic                  start_i,
  input  logic [PrimeWidth-1:0] set_i,
  input  logic                  use_k1_i,
  input  logic                  use_k2_i,
  input  logic [K1Width-1:0]    k1_i,
  input  logic [K2Width-1:0]    k2_i,
  output logic [Width-1:0]      k1_o,
  output logic [Width-1:0]      k2_o,

  input  logic                  we_i,
  input  logic [PrimeWidth-1:0] wset_i,
  input  logic [K1Width-1:0]    waddr_i,
  input  logic [Width-1:0]      wdata_i
);
  localparam int unsigned FileBits = $clog2(Words);
  localparam int unsigned Depth = Sets << FileBits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  // k1 is read in the cycle of start_i, k2 in the next; phase_q follows the words out of the
  // memory.
  logic [1:0]           phase_q;
  logic                 use_k1_q, use_k2_q;
  logic [AddrWidth-1:0] k2_addr_q;
  logic [AddrWidth-1:0] raddr;
  logic [Width-1:0]     rdata, k1_q, k2_q;
  assign raddr = start_i ? AddrWidth'({set_i, k1_i[FileBits-1:0]}) : k2_addr_q;

  rs_ram_1r1w #(
    .Width(Width),
    .Depth(Depth),
    .ReadLatency(1),
    .RamStyle("distributed")
  ) u_ram (
    .clk_i,
    .we_i,
    .waddr_i(AddrWidth'({wset_i, waddr_i[FileBits-1:0]})),
    .wdata_i,
    .re_i((start_i && use_k1_i) || (phase_q[0] && use_k2_q)),
    .raddr_i(raddr),
    .rdata_o(rdata)
  );

  always_ff @(posedge clk_i) begin
    phase_q <= {phase_q[0], start_i};
    if (start_i) begin
      use_k1_q  <= use_k1_i;
      use_k2_q  <= use_k2_i;
      k2_addr_q <= AddrWidth'({set_i, k2_i[FileBits-1:0]});
    end
    if (phase_q[0]) k1_q <= use_k1_q ? rdata : Width'(1);
    if (phase_q[1]) k2_q <= use_k2_q ? rdata : '0;
  end
  assign k1_o = k1_q;
  assign k2_o = k2_q;

  `RS_ASSERT(FactorInRange_A, !(start_i && use_k1_i) || 32'(k1_i) < Words,
             $sformatf("constant %0d of %0d", k1_i, Words), clk_i, 1'b1)
  `RS_ASSERT(AddendInRange_A, !(start_i && use_k2_i) || 32'(k2_i) < Words,
             $sformatf("constant %0d of %0d", k2_i, Words), clk_i, 1'b1)
  `RS_ASSERT(WriteInRange_A, !we_i || 32'(waddr_i) < Words,
             $sformatf("write to constant %0d of %0d", waddr_i, Words), clk_i, 1'b1)
endmodule
