// Twiddle memory of one butterfly of a stage: takes what it needs from the generator's stream.
//
// Block b of stage s multiplies by psi^e, e = (2r + 1) 2^(LogN-1-s), r = b with its s bits turned
// around; the inverse by -psi^-e = psi^(N-e), which is r with its bits inverted. The generator's
// group t is the words psi^(Lanes*t + 1 + l) in lanes l. So each butterfly finds its factors in one
// lane: those of a stage whose exponents are no multiples of Lanes in a lane of their own, all
// others in the last. Read in the order of blocks, rdata_o comes RamLatency cycles after rtime_i.
//
// Cost: Banks memories of 2^(s - LogLanes + 1) words, or of one.
module rs_stream_twiddles
  import rs_mem_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned Stage = 11,
  parameter  int unsigned Unit = 0,
  parameter  bit          Inverse = 1'b0,
  parameter  int unsigned Banks = 4,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned BankWidth = $clog2(Banks)
) (
  input  logic                 clk_i,
  input  logic                 we_i,
  input  logic [BankWidth-1:0] wbank_i,
  input  logic [LogPeriod-1:0] group_i,
  input  logic [Width-1:0]     words_i [2**LogLanes],
  input  logic                 re_i,
  input  logic [BankWidth-1:0] rbank_i,
  input  logic [LogPeriod-1:0] rtime_i,
  output logic [Width-1:0]     rdata_o
);
  // Bits of r that distinguish butterflies, the low ones, and their value here; the others are
  // time.
  localparam int unsigned UnitBits = (LogLanes - 1 < Stage) ? LogLanes - 1 : Stage;
  localparam int unsigned TimeBits = Stage - UnitBits;
  localparam int unsigned Plain = reversed(Unit >> (LogLanes - 1 - UnitBits), UnitBits);
  localparam int unsigned Rank = Inverse ? (1 << UnitBits) - 1 - Plain : Plain;

  // The stage's exponents are multiples of 2^Even and not of twice that.
  localparam int unsigned Even = LogN - 1 - Stage;
  localparam bit InLast = Even >= LogLanes;

  // Groups are numbered from 0, those of the last lane from 1: adding 1 to bits 0111 ... of a number
  // changes no bit above them.
  logic        mine;
  logic [31:0] number, waddr;
  assign number = 32'(group_i);
  logic [Width-1:0] word;
  if (InLast) begin : gen_last_lane
    localparam int unsigned Zeros = Even - LogLanes;  // of the number from 1
    assign mine   = (number & ((32'd2 << Zeros) - 32'd1)) == (32'd1 << Zeros) - 32'd1 &&
        ((number >> (Zeros + 1)) & ((32'd1 << UnitBits) - 32'd1)) == Rank;
    assign waddr  = number >> (Zeros + 1 + UnitBits);
    assign word   = words_i[2**LogLanes-1];
  end else begin : gen_own_lane
    localparam int unsigned LaneBits = LogLanes - 1 - Even;  // of Rank; the rest is in the number
    localparam int unsigned Lane = (2 * (Rank % (1 << LaneBits)) + 1) * (1 << Even) - 1;
    assign mine   = (number & ((32'd1 << Even) - 32'd1)) == Rank >> LaneBits;
    assign waddr  = number >> Even;
    assign word   = words_i[Lane];
  end

  logic [31:0] raddr;
  for (genvar i = 0; i < 32; i++) begin : gen_raddr
    if (i < TimeBits) begin : gen_bit
      assign raddr[i] = rtime_i[LogPeriod-1-i] ^ Inverse;
    end else begin : gen_zero
      assign raddr[i] = 1'b0;
    end
  end

  localparam int unsigned Depth = Banks << TimeBits;
  localparam int unsigned AddrWidth = $clog2(Depth);
  localparam string Style = (Depth <= 256) ? "distributed" : "block";
  rs_ram_1r1w #(
    .Width(Cfg.Width),
    .Depth(Depth),
    .ReadLatency(RamLatency),
    .RamStyle(Style)
  ) u_ram (
    .clk_i,
    .we_i(we_i && mine),
    .waddr_i(AddrWidth'((32'(wbank_i) << TimeBits) | waddr)),
    .wdata_i(word),
    .re_i,
    .raddr_i(AddrWidth'((32'(rbank_i) << TimeBits) | raddr)),
    .rdata_o
  );
endmodule
