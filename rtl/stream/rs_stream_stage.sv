// One stage of a transform of Polys polynomials in parallel, which share factors and modulus.
//
//   forward   brings the two words of a butterfly into the lanes of one cycle, then butterflies;
//             the roots of x^N + 1 are merged into the factors
//   inverse   undoes the forward stage of the same number: butterflies, without a division by two,
//             then the words go back to the lanes and cycles they came from
//
// One cycle's words a cycle; latency rs_stream_pkg::arrange_cycles + butterfly_cycles. modulus_i
// stands from the cycle before the first butterfly's on, for the inverse from that of first_i on.
// modulus_o is that of what leaves, from before first_o on.
module rs_stream_stage
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Polys = 2,
  parameter  int unsigned Stage = 11,
  parameter  bit          Inverse = 1'b0,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned ModulusWidth = modulus_width(Cfg),
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    start_i,
  input  logic [SlotWidth-1:0]    start_slot_i,
  input  logic                    we_i,
  input  logic [SlotWidth-1:0]    slot_i,
  input  logic [LogPeriod-1:0]    group_i,
  input  logic [Width-1:0]        words_i [Lanes],

  input  logic                    first_i,
  input  logic [ModulusWidth-1:0] modulus_i,
  input  logic [Width-1:0]        x_i [Polys*Lanes],
  output logic                    first_o,
  output logic [ModulusWidth-1:0] modulus_o,
  output logic [Width-1:0]        x_o [Polys*Lanes]
);
  localparam int unsigned Arrange = arrange_cycles(Cfg, Stage, Inverse);
  localparam int unsigned MulCycles = mul_cycles(Cfg);
  localparam int unsigned Apart = lane_distance(LogLanes, Stage);

  // ---- the frame's way --------------------------------------------------------------------------
  // The modulus is registered in front of the first of multiplier and adders, which use it a cycle
  // later, and then in front of the second.
  logic first, first_arrange, first_read, take_first, take_second;
  assign first = first_i && rst_ni;
  if (Inverse) begin : gen_inverse_way
    assign first_read = first;
    assign take_first = first;
    rs_stream_marker #(.Depth(mod_addsub_latency() - 1)) u_second (
      .clk_i, .rst_ni, .first_i(first), .first_o(take_second)
    );
    rs_stream_marker #(.Depth(MulCycles + 1)) u_arrange (
      .clk_i, .rst_ni, .first_i(take_second), .first_o(first_arrange)
    );
    rs_stream_marker #(.Depth(Arrange)) u_result (
      .clk_i, .rst_ni, .first_i(first_arrange), .first_o
    );
  end else begin : gen_forward_way
    assign first_arrange = first;
    rs_stream_marker #(.Depth(Arrange - RamLatency)) u_read (
      .clk_i, .rst_ni, .first_i(first), .first_o(first_read)
    );
    rs_stream_marker #(.Depth(RamLatency - 1)) u_first (
      .clk_i, .rst_ni, .first_i(first_read), .first_o(take_first)
    );
    rs_stream_marker #(.Depth(1 + MulCycles)) u_second (
      .clk_i, .rst_ni, .first_i(take_first), .first_o(take_second)
    );
    rs_stream_marker #(.Depth(mod_addsub_latency())) u_result (
      .clk_i, .rst_ni, .first_i(take_second), .first_o
    );
  end

  logic [ModulusWidth-1:0] modulus_first_q, modulus_second_q;
  always_ff @(posedge clk_i) begin
    if (take_first) modulus_first_q <= modulus_i;
    if (take_second) modulus_second_q <= modulus_first_q;
  end
  assign modulus_o = modulus_second_q;

  // ---- words ------------------------------------------------------------------------------------
  logic [Width-1:0] factors [Lanes/2];
  rs_stream_factors #(
    .Cfg(Cfg),
    .Stage(Stage),
    .Inverse(Inverse)
  ) u_factors (
    .clk_i,
    .rst_ni,
    .start_i,
    .start_slot_i,
    .we_i,
    .slot_i,
    .group_i,
    .words_i,
    .first_i(first_read),
    .factors_o(factors)
  );

  logic [Width-1:0] unarranged [Polys*Lanes];
  logic [Width-1:0] arranged [Polys*Lanes];
  logic [Width-1:0] operand [Polys*Lanes];
  logic [Width-1:0] result [Polys*Lanes];
  rs_stream_arrange #(
    .Cfg(Cfg),
    .Polys(Polys),
    .Stage(Stage),
    .Wait(Arrange)
  ) u_arrange (
    .clk_i,
    .rst_ni,
    .first_i(first_arrange),
    .x_i(unarranged),
    .x_o(arranged)
  );
  for (genvar l = 0; l < Polys * Lanes; l++) begin : gen_lane
    assign unarranged[l] = Inverse ? result[l] : x_i[l];
    assign operand[l]    = Inverse ? x_i[l] : arranged[l];
    assign x_o[l]        = Inverse ? arranged[l] : result[l];
  end

  for (genvar unit = 0; unit < Lanes / 2; unit++) begin : gen_unit
    for (genvar poly = 0; poly < Polys; poly++) begin : gen_poly
      localparam int unsigned Lane0 = poly * Lanes + first_lane(LogLanes, Stage, unit);
      localparam int unsigned Lane1 = Lane0 + Apart;
      rs_stream_butterfly #(
        .Cfg(Cfg),
        .Inverse(Inverse)
      ) u_butterfly (
        .clk_i,
        .q_i(Inverse ? modulus_first_q[Width-1:0] : modulus_second_q[Width-1:0]),
        .modulus_i(Inverse ? modulus_second_q : modulus_first_q),
        .factor_i(factors[unit]),
        .u_i(operand[Lane0]),
        .v_i(operand[Lane1]),
        .u_o(result[Lane0]),
        .v_o(result[Lane1])
      );
    end
  end
endmodule
