// One stage of the forward transform: brings the two words of each butterfly into the lanes of one
// cycle, and computes (Cooley, Tukey; the roots of x^N + 1 are merged into the factors)
//
//   u + w*v  and  u - w*v
//
// for Polys polynomials side by side, which share the factors and the modulus. One cycle's words a
// cycle; latency rs_stream_pkg::arrange_cycles + butterfly_cycles. q_i stands from the cycle of
// first_i + arrange_cycles - 1 on; q_o is the modulus of what leaves, from before first_o on.
module rs_stream_forward_stage
  import rs_arith_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  int unsigned LogN = 12,
  parameter  int unsigned LogLanes = 1,
  parameter  int unsigned Width = 30,
  parameter  int unsigned Slots = 2,
  parameter  int unsigned Polys = 2,
  parameter  int unsigned Stage = 11,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic [SlotWidth-1:0] start_slot_i,
  input  logic                 we_i,
  input  logic [SlotWidth-1:0] slot_i,
  input  logic [LogPeriod-1:0] group_i,
  input  logic [Width-1:0]     words_i [Lanes],

  input  logic                 first_i,
  input  logic [Width-1:0]     q_i,
  input  logic [Width-1:0]     x_i [Polys*Lanes],
  output logic                 first_o,
  output logic [Width-1:0]     q_o,
  output logic [Width-1:0]     x_o [Polys*Lanes]
);
  localparam bit Exchange = Stage >= LogLanes;
  localparam int unsigned Arrange = arrange_cycles(LogN, LogLanes, Stage);
  localparam int unsigned MulCycles = mul_cycles(LogN, Width);
  localparam int unsigned Apart = lane_distance(LogLanes, Stage);

  // ---- the frame's way: read of the factors, operands, sum, result ------------------------------
  logic first, first_read, first_before, first_operand, first_sum;
  assign first = first_i && rst_ni;
  rs_stream_marker #(.Depth(Arrange - RamLatency)) u_read (
    .clk_i, .rst_ni, .first_i(first), .first_o(first_read)
  );
  rs_stream_marker #(.Depth(RamLatency - 1)) u_before (
    .clk_i, .rst_ni, .first_i(first_read), .first_o(first_before)
  );
  rs_stream_marker #(.Depth(1)) u_operand (
    .clk_i, .rst_ni, .first_i(first_before), .first_o(first_operand)
  );
  rs_stream_marker #(.Depth(MulCycles)) u_sum (
    .clk_i, .rst_ni, .first_i(first_operand), .first_o(first_sum)
  );
  rs_stream_marker #(.Depth(mod_addsub_latency())) u_result (
    .clk_i, .rst_ni, .first_i(first_sum), .first_o
  );

  // The modulus of the multipliers, and that of the additions, which take it a cycle late.
  logic [Width-1:0] q_mul_q, q_add_q;
  always_ff @(posedge clk_i) begin
    if (first_before) q_mul_q <= q_i;
    if (first_sum) q_add_q <= q_mul_q;
  end
  assign q_o = q_add_q;

  // ---- factors ----------------------------------------------------------------------------------
  localparam int unsigned Banks = banks(LogN, LogLanes, Width, Slots, Stage, 1'b0);
  localparam int unsigned BankWidth = $clog2(Banks);
  logic                 reading;
  logic [BankWidth-1:0] wbank, rbank;
  logic [LogPeriod-1:0] rtime;
  rs_stream_banks #(
    .LogPeriod(LogPeriod),
    .Slots(Slots),
    .Banks(Banks)
  ) u_banks (
    .clk_i,
    .rst_ni,
    .start_i,
    .start_slot_i,
    .slot_i,
    .wbank_o(wbank),
    .first_i(first_read),
    .active_o(reading),
    .rbank_o(rbank),
    .time_o(rtime)
  );

  logic swap;
  if (Exchange) begin : gen_swap
    logic                 unused_active;
    logic [LogPeriod-1:0] frame_time;
    rs_stream_clock #(.LogPeriod(LogPeriod)) u_clock (
      .clk_i, .rst_ni, .first_i(first), .active_o(unused_active), .time_o(frame_time)
    );
    assign swap = frame_time[log_distance(LogN, Stage)];
  end else begin : gen_no_swap
    assign swap = 1'b0;
  end

  // ---- butterflies ------------------------------------------------------------------------------
  for (genvar unit = 0; unit < Lanes / 2; unit++) begin : gen_unit
    localparam int unsigned First = first_lane(LogLanes, Stage, unit);
    logic [Width-1:0] factor;
    rs_stream_twiddles #(
      .LogN(LogN),
      .LogLanes(LogLanes),
      .Width(Width),
      .Stage(Stage),
      .Unit(unit),
      .Inverse(1'b0),
      .Banks(Banks)
    ) u_twiddles (
      .clk_i,
      .we_i,
      .wbank_i(wbank),
      .group_i,
      .words_i,
      .re_i(reading),
      .rbank_i(rbank),
      .rtime_i(rtime),
      .rdata_o(factor)
    );

    for (genvar poly = 0; poly < Polys; poly++) begin : gen_poly
      localparam int unsigned Lane0 = poly * Lanes + First;
      localparam int unsigned Lane1 = Lane0 + Apart;
      logic [Width-1:0] u, v, u_late, product;
      if (Exchange) begin : gen_exchange
        rs_stream_exchange #(
          .Width(Width),
          .Distance(2 ** log_distance(LogN, Stage))
        ) u_exchange (
          .clk_i,
          .rst_ni,
          .swap_i(swap),
          .x0_i(x_i[Lane0]),
          .x1_i(x_i[Lane1]),
          .x0_o(u),
          .x1_o(v)
        );
      end else begin : gen_wait
        logic unused_swap;
        assign unused_swap = swap;
        rs_delay #(.Width(Width), .Depth(Arrange)) u_first (.clk_i, .d_i(x_i[Lane0]), .d_o(u));
        rs_delay #(.Width(Width), .Depth(Arrange)) u_second (.clk_i, .d_i(x_i[Lane1]), .d_o(v));
      end

      rs_mod_mul_montgomery #(
        .Width(Width),
        .StepBits(step_bits(LogN))
      ) u_mul (
        .clk_i,
        .a_i(v),
        .b_i(factor),
        .q_i(q_mul_q),
        .p_o(product)
      );
      rs_delay #(.Width(Width), .Depth(MulCycles)) u_late_first (.clk_i, .d_i(u), .d_o(u_late));
      rs_mod_addsub #(.Width(Width)) u_sum_of (
        .clk_i,
        .sub_i(1'b0),
        .a_i(u_late),
        .b_i(product),
        .q_i(q_add_q),
        .s_o(x_o[Lane0])
      );
      rs_mod_addsub #(.Width(Width)) u_difference (
        .clk_i,
        .sub_i(1'b1),
        .a_i(u_late),
        .b_i(product),
        .q_i(q_add_q),
        .s_o(x_o[Lane1])
      );
    end
  end
endmodule
