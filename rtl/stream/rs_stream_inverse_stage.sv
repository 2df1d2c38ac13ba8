// One stage of the inverse transform, undoing the forward stage of the same number:
//
//   u + v  and  w*(v - u)      w = -psi^-e (Gentleman, Sande), without the division by two
//
// and then the words go back to the lanes and cycles that the forward stage took them from. One
// cycle's words a cycle; latency rs_stream_pkg::butterfly_cycles + exchange_cycles. q_i stands in the
// cycle of first_i; q_o is the modulus of what leaves, from before first_o on.
module rs_stream_inverse_stage
  import rs_arith_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  int unsigned LogN = 12,
  parameter  int unsigned LogLanes = 1,
  parameter  int unsigned Width = 30,
  parameter  int unsigned Slots = 2,
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
  input  logic [Width-1:0]     x_i [Lanes],
  output logic                 first_o,
  output logic [Width-1:0]     q_o,
  output logic [Width-1:0]     x_o [Lanes]
);
  localparam bit Exchange = Stage >= LogLanes;
  localparam int unsigned MulCycles = mul_cycles(LogN, Width);
  localparam int unsigned Apart = lane_distance(LogLanes, Stage);
  localparam int unsigned Banks = banks(LogN, LogLanes, Width, Slots, Stage, 1'b1);
  localparam int unsigned BankWidth = $clog2(Banks);

  // ---- the frame's way: sums, products, exchange, result ----------------------------------------
  logic first, first_before, first_exchange;
  assign first = first_i && rst_ni;
  rs_stream_marker #(.Depth(mod_addsub_latency() - 1)) u_before (
    .clk_i, .rst_ni, .first_i(first), .first_o(first_before)
  );
  rs_stream_marker #(.Depth(MulCycles + 1)) u_exchange_begins (
    .clk_i, .rst_ni, .first_i(first_before), .first_o(first_exchange)
  );
  rs_stream_marker #(.Depth(exchange_cycles(LogN, LogLanes, Stage))) u_result (
    .clk_i, .rst_ni, .first_i(first_exchange), .first_o
  );

  // The modulus of the additions, which take it a cycle late, and that of the multipliers.
  logic [Width-1:0] q_add_q, q_mul_q;
  always_ff @(posedge clk_i) begin
    if (first) q_add_q <= q_i;
    if (first_before) q_mul_q <= q_add_q;
  end
  assign q_o = q_mul_q;

  // ---- factors: their memory takes as long as the sums ------------------------------------------
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
    .first_i(first),
    .active_o(reading),
    .rbank_o(rbank),
    .time_o(rtime)
  );

  logic swap;
  if (Exchange) begin : gen_swap
    logic                 unused_active;
    logic [LogPeriod-1:0] frame_time;
    rs_stream_clock #(.LogPeriod(LogPeriod)) u_clock (
      .clk_i, .rst_ni, .first_i(first_exchange), .active_o(unused_active), .time_o(frame_time)
    );
    assign swap = frame_time[log_distance(LogN, Stage)];
  end else begin : gen_no_swap
    assign swap = 1'b0;
  end

  // ---- butterflies ------------------------------------------------------------------------------
  for (genvar unit = 0; unit < Lanes / 2; unit++) begin : gen_unit
    localparam int unsigned Lane0 = first_lane(LogLanes, Stage, unit);
    localparam int unsigned Lane1 = Lane0 + Apart;
    logic [Width-1:0] factor, sum, difference, sum_late, product;
    rs_stream_twiddles #(
      .LogN(LogN),
      .LogLanes(LogLanes),
      .Width(Width),
      .Stage(Stage),
      .Unit(unit),
      .Inverse(1'b1),
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
    rs_mod_addsub #(.Width(Width)) u_sum (
      .clk_i,
      .sub_i(1'b0),
      .a_i(x_i[Lane0]),
      .b_i(x_i[Lane1]),
      .q_i(q_add_q),
      .s_o(sum)
    );
    rs_mod_addsub #(.Width(Width)) u_difference (
      .clk_i,
      .sub_i(1'b1),
      .a_i(x_i[Lane1]),
      .b_i(x_i[Lane0]),
      .q_i(q_add_q),
      .s_o(difference)
    );
    rs_delay #(.Width(Width), .Depth(MulCycles)) u_late_sum (.clk_i, .d_i(sum), .d_o(sum_late));
    rs_mod_mul_montgomery #(
      .Width(Width),
      .StepBits(step_bits(LogN))
    ) u_mul (
      .clk_i,
      .a_i(difference),
      .b_i(factor),
      .q_i(q_mul_q),
      .p_o(product)
    );

    if (Exchange) begin : gen_exchange
      rs_stream_exchange #(
        .Width(Width),
        .Distance(2 ** log_distance(LogN, Stage))
      ) u_exchange (
        .clk_i,
        .rst_ni,
        .swap_i(swap),
        .x0_i(sum_late),
        .x1_i(product),
        .x0_o(x_o[Lane0]),
        .x1_o(x_o[Lane1])
      );
    end else begin : gen_pass
      logic unused_swap;
      assign unused_swap = swap;
      assign x_o[Lane0] = sum_late;
      assign x_o[Lane1] = product;
    end
  end
endmodule
