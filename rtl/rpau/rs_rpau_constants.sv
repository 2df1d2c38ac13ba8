// Constant file and modulus of one RPAU, and the constants of the instruction under way.
//
// start_i takes the two indices; from the third cycle on, k1_o and k2_o hold the constants they
// name, or 1 and 0 where the instruction uses none, until the next start. (The first operands reach
// the lanes later than that.) The host writes words while nothing runs.
module rs_rpau_constants
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Words = 64,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,

  input  logic                  start_i,
  input  logic                  use_k1_i,
  input  logic                  use_k2_i,
  input  logic [K1Width-1:0]    k1_i,
  input  logic [K2Width-1:0]    k2_i,
  output logic [Width-1:0]      k1_o,
  output logic [Width-1:0]      k2_o,

  output logic [Width-1:0]      q_o,
  output logic [Width-1:0]      mu_o,
  output logic [ShiftWidth-1:0] shift_o,

  input  logic                  constant_we_i,
  input  logic                  modulus_we_i,
  input  logic [K1Width-1:0]    waddr_i,
  input  logic [Width-1:0]      wdata_i
);
  localparam int unsigned AddrWidth = $clog2(Words);

  // k1 is read in the cycle of start_i, k2 in the next; phase_q follows the words out of the
  // memory.
  logic [1:0]           phase_q;
  logic                 use_k1_q, use_k2_q;
  logic [AddrWidth-1:0] k2_index_q;
  logic [AddrWidth-1:0] raddr;
  logic [Width-1:0]     rdata, k1_q, k2_q;
  assign raddr = start_i ? k1_i[AddrWidth-1:0] : k2_index_q;

  rs_ram_1r1w #(
    .Width(Width),
    .Depth(Words),
    .ReadLatency(1),
    .RamStyle("distributed")
  ) u_ram (
    .clk_i,
    .we_i(constant_we_i),
    .waddr_i(waddr_i[AddrWidth-1:0]),
    .wdata_i,
    .re_i((start_i && use_k1_i) || (phase_q[0] && use_k2_q)),
    .raddr_i(raddr),
    .rdata_o(rdata)
  );

  always_ff @(posedge clk_i) begin
    phase_q <= {phase_q[0], start_i};
    if (start_i) begin
      use_k1_q   <= use_k1_i;
      use_k2_q   <= use_k2_i;
      k2_index_q <= k2_i[AddrWidth-1:0];
    end
    if (phase_q[0]) k1_q <= use_k1_q ? rdata : Width'(1);
    if (phase_q[1]) k2_q <= use_k2_q ? rdata : '0;
  end
  assign k1_o = k1_q;
  assign k2_o = k2_q;

  logic [Width-1:0]      q_q, mu_q;
  logic [ShiftWidth-1:0] shift_q;
  always_ff @(posedge clk_i) begin
    if (modulus_we_i) begin
      case (waddr_i[1:0])
        2'd0: q_q <= wdata_i;
        2'd1: mu_q <= wdata_i;
        default: shift_q <= wdata_i[ShiftWidth-1:0];
      endcase
    end
  end
  assign q_o     = q_q;
  assign mu_o    = mu_q;
  assign shift_o = shift_q;

  FactorInRange_A :
  assert property (@(posedge clk_i) !(start_i && use_k1_i) || 32'(k1_i) < Words)
  else $error("constant %0d of %0d", k1_i, Words);
  AddendInRange_A :
  assert property (@(posedge clk_i) !(start_i && use_k2_i) || 32'(k2_i) < Words)
  else $error("constant %0d of %0d", k2_i, Words);
  WriteInRange_A :
  assert property (@(posedge clk_i) !constant_we_i || 32'(waddr_i) < Words)
  else $error("write to constant %0d of %0d", waddr_i, Words);
endmodule
