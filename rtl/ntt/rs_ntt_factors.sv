// Twiddle factors of the NTT by the way that the design names, ahead of the butterflies.
//
//   Twiddles                 hi_o             lo_o      factor of butterfly i
//   TwiddlesGenerated (0)    upper factors    lower     hi_o[i] * lo_o: rs_ntt_twiddle
//   TwiddlesStored    (1)    factors          0         hi_o[i]: rs_ntt_twiddle_stored
//
// From block_i and stride_i (rs_ntt_sequencer) to factors at the butterflies' operands: see
// rs_rpau_pkg::twiddle_lead(). Tables of the other way are not there, and their writes are ignored.
module rs_ntt_factors
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN     = 13,
  parameter  int unsigned Cores    = 4,
  parameter  int unsigned Width    = 48,
  parameter  int unsigned Sets     = 1,
  parameter  int unsigned Twiddles = TwiddlesGenerated
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic [PrimeWidth-1:0] set_i,       // prime set
  input  logic [LogN-1:0]       block_i,
  input  logic [LogN-1:0]       stride_i,
  output logic [Width-1:0]      hi_o [Cores],
  output logic [Width-1:0]      lo_o,

  input  host_t                 host_i,      // writes of the zones of twiddle tables
  input  logic [Width-1:0]      host_word_i
);
  localparam int unsigned LoBits = (LogN + 1) / 2;

  logic unused_re;
  assign unused_re = host_i.re;

  logic [PrimeWidth-1:0] host_set;
  assign host_set = host_i.index[PrimeWidth-1:0];

  if (Twiddles == TwiddlesStored) begin : gen_stored
    assign lo_o = '0;
    rs_ntt_twiddle_stored #(
      .LogN(LogN),
      .Cores(Cores),
      .Width(Width),
      .Sets(Sets),
      .Wait(stored_twiddle_wait())
    ) u_stored (
      .clk_i,
      .inverse_i,
      .set_i,
      .block_i,
      .stride_i,
      .factor_o(hi_o),
      .we_i(host_i.we && host_i.zone == ZoneTwiddle),
      .wset_i(host_set),
      .waddr_i(host_i.row[LogN-1:0]),
      .wdata_i(host_word_i)
    );
  end else begin : gen_generated
    rs_ntt_twiddle #(
      .LogN(LogN),
      .Cores(Cores),
      .Width(Width),
      .Sets(Sets)
    ) u_generated (
      .clk_i,
      .inverse_i,
      .set_i,
      .block_i,
      .stride_i,
      .hi_o,
      .lo_o,
      .lo_we_i(host_i.we && host_i.zone == ZoneTwiddleLo),
      .hi_we_i(host_i.we && host_i.zone == ZoneTwiddleHi),
      .wset_i(host_set),
      .waddr_i(host_i.row[LoBits-1:0]),
      .wdata_i(host_word_i)
    );
  end
endmodule
