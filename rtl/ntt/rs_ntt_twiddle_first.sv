// Twiddle factors of a transform's first steps: whole ones, from a table, until the products of
// rs_ntt_twiddle are there.
//
//   factor_o[i] = psi^e         forward: the only factor of the first stage
//               = psi^(N - e)   inverse, which is -psi^(-e): e of core i in step s
//
// valid_o is high for the ring's first_steps cycles in which these factors are the ones to take:
// from rs_rpau_pkg::step_to_operand() + 1 cycles after start_i on. Word j of the table is that of
// core j mod Cores in row j / Cores: row 0 is forward's, row 1 + s that of inverse step s, and each
// row is there for every piece of the largest ring: piece p's is row * pieces + p. Tables are
// written one word a cycle while no steps are under way. Cost, a prime set: Cores words a row, in
// memories of a power of two of rows.
module rs_ntt_twiddle_first
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Cores    = 4,
  parameter  int unsigned Width    = 48,
  parameter  int unsigned Sets     = 1,
  parameter  int unsigned Steps    = 17,  // in the ring of degree N, the most
  parameter  int unsigned LargerRings = 0,
  localparam int unsigned RowBits   = $clog2(Steps + 1),
  localparam int unsigned TableBits = RowBits + LargerRings + $clog2(Cores)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  ring_t                 ring_i,
  input  logic                  start_i,
  input  logic                  inverse_i,   // still while busy
  input  logic [1:0]            piece_i,     // likewise
  input  logic [PrimeWidth-1:0] set_i,       // prime set
  output logic [Width-1:0]      factor_o [Cores],
  output logic                  valid_o,

  input  logic                  we_i,
  input  logic [PrimeWidth-1:0] wset_i,
  input  logic [TableBits-1:0]   waddr_i,
  input  logic [Width-1:0]      wdata_i
);
  localparam int LogCores = $clog2(Cores);
  localparam int unsigned Depth = Sets << (RowBits + LargerRings);
  localparam int unsigned AddrWidth = $clog2(Depth);

  // The step's number from 1 on, which is its row in the inverse; 0 before and after.
  logic               start_late, valid_q;
  logic [RowBits-1:0] step_q;
  rs_delay #(
    .Width(1),
    .Depth(step_to_operand() - 1)
  ) u_start (
    .clk_i,
    .d_i(start_i),
    .d_o(start_late)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) step_q <= '0;
    else if (start_late) step_q <= RowBits'(1);
    else if (step_q == RowBits'(ring_i.first_steps)) step_q <= '0;
    else if (step_q != '0) step_q <= step_q + 1'b1;
    valid_q <= (step_q != '0);
  end
  assign valid_o = valid_q;

  logic [RowBits+LargerRings-1:0] row;
  if (LargerRings > 0) begin : gen_pieces
    assign row = {inverse_i ? step_q : RowBits'(0), piece_i[LargerRings-1:0]};
  end else begin : gen_whole
    logic unused_piece;
    assign unused_piece = ^piece_i;
    assign row          = inverse_i ? step_q : RowBits'(0);
  end

  for (genvar i = 0; i < Cores; i++) begin : gen_core
    logic we;
    if (LogCores > 0) begin : gen_one_of_many
      assign we = we_i && waddr_i[LogCores-1:0] == LogCores'(i);
    end else begin : gen_only
      assign we = we_i;
    end
    rs_ram_1r1w #(
      .Depth(Depth),
      .Width(Width),
      .ReadLatency(1),
      .RamStyle("distributed")
    ) u_ram (
      .clk_i,
      .we_i(we),
      .waddr_i(AddrWidth'({wset_i, waddr_i[TableBits-1:LogCores]})),
      .wdata_i,
      .re_i(!we_i),
      .raddr_i(AddrWidth'({set_i, row})),
      .rdata_o(factor_o[i])
    );
  end
endmodule
