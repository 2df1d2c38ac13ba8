// Modular multiplication by a pseudo-Mersenne prime q = 2^b - s, with s loaded at run time.
//
//   p_o = a_i * b_i mod q_i      0 <= p_o < q_i
//
// Both operands may be any words. s has a sign: primes lie above and below 2^b. The modulus ports
// hold still from the cycle in which operands enter until their result leaves:
//
//   q_i      the modulus, below 2^Width
//   mu_i     s in the upper bits, from bit folded_scaled_bits + 1 on, and scaled = s * 2^(Width -
//            b) below it, both in two's complement: 2^Width is scaled modulo q
//   shift_i  bits of q: b, or b + 1 where s is negative
//
// Which primes: |s| < 2^folded_tail_bits, |scaled| < 2^folded_scaled_bits and Width - b <=
// folded_shifts: docs/reference/arithmetic.md, with the bound of every sum. At 60 bits: |s| < 2^26,
// |scaled| < 2^32, b >= 45.
//
//   x = a*b = top 2^(W+A) + rest
//   y = rest - 2^G + top scaled 2^A                   fold the upper B bits, G = W + F
//   z = low(y) + 2^G + high(y) scaled 2^F             fold those from G on
//   d = low(z) + high(z) s, less q where s > 0        fold those from b on; -q <= d < q
//   p = d, or d + q where d is negative
//
// One result a cycle, latency rs_arith_pkg::mod_mul_folded_latency(). Every product is a pair of
// DSP slices in cascade, which also adds the lower 46 bits of the summand. LUTs add the bits above,
// and two of the four partial products of a*b. Cost at 60 bits: 15 DSP48E2.
module rs_mod_mul_folded
  import rs_arith_pkg::*;
#(
  parameter int unsigned Width = 60
) (
  input  logic                       clk_i,
  input  logic [Width-1:0]           a_i,
  input  logic [Width-1:0]           b_i,
  input  logic [Width-1:0]           q_i,
  input  logic [Width-1:0]           mu_i,
  input  logic [$clog2(Width+1)-1:0] shift_i,
  output logic [Width-1:0]           p_o
);
  localparam int unsigned B = folded_split(Width);
  localparam int unsigned A = Width - B;
  localparam int unsigned C = A - B;  // width of the centre
  localparam int unsigned F = C + 2;
  localparam int unsigned Low = (A > DspShort) ? DspShort : (A + 1) / 2;
  localparam int unsigned Part = (Width - 2 < 46) ? Width - 2 : 46;  // of a sum, in a slice
  localparam int unsigned ScaledBits = folded_scaled_bits(Width);
  localparam int unsigned TailBits = folded_tail_bits(Width);
  localparam int unsigned Shifts = folded_shifts(Width);
  localparam int unsigned TimesBits = F + 2 + Shifts;  // of high(z)
  localparam int unsigned XWidth = B + 1;

  if (Width < 8 || Width > MaxWidth) begin : gen_bad_width
    $error("rs_mod_mul_folded: Width = %0d is outside 8 to %0d", Width, MaxWidth);
  end

  // The modulus. Operands of slices have a sign, and one bit more than the lower slice takes.
  localparam int unsigned ScaledWidth = (ScaledBits > Low) ? ScaledBits + 1 : Low + 1;
  logic signed [ScaledWidth-1:0] scaled;
  logic signed [TailBits:0]      tail;
  logic                          positive;
  logic [3:0]                    back_q;  // Shifts - (Width - b)
  assign scaled   = ScaledWidth'($signed(mu_i[ScaledBits:0]));
  assign tail     = mu_i[ScaledBits+1+:TailBits+1];
  assign positive = !tail[TailBits];
  always_ff @(posedge clk_i) begin
    back_q <= 4'(Shifts) - 4'(Width) + 4'(shift_i) - 4'(!positive);
  end

  // Partial products: south at bit 0, north at B, east at A, the centre at 2B, top at Width.
  logic [Low-1:0] south_low, east_low, top_low, north_low;
  logic signed [DspSum-1:0] south_high, east_high, top_high, north_high;
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(A + 1),
    .LowBits(Low)
  ) u_south (
    .clk_i,
    .x_i({1'b0, b_i[B-1:0]}),
    .y_i({1'b0, a_i[A-1:0]}),
    .c_i('0),
    .low_o(south_low),
    .high_o(south_high)
  );
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(A + 1),
    .LowBits(Low)
  ) u_east (
    .clk_i,
    .x_i({1'b0, a_i[Width-1:A]}),
    .y_i({1'b0, b_i[A-1:0]}),
    .c_i('0),
    .low_o(east_low),
    .high_o(east_high)
  );
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(A + 1),
    .LowBits(Low)
  ) u_top (
    .clk_i,
    .x_i({1'b0, b_i[Width-1:A]}),
    .y_i({1'b0, a_i[Width-1:B]}),
    .c_i('0),
    .low_o(top_low),
    .high_o(top_high)
  );


  // North also adds the centre, and subtracts 2^G.
  logic signed [DspSum-1:0] centre;
  localparam logic signed [DspSum-1:0] Bias = -(DspSum'(1) <<< (Width + F - B));
  if (C > 0) begin : gen_centre
    logic [C-1:0] a_q, b_q;
    logic [2*C-1:0] square_q;
    always_ff @(posedge clk_i) begin
      a_q      <= a_i[A-1:B];
      b_q      <= b_i[A-1:B];
      square_q <= (2 * C)'(a_q) * (2 * C)'(b_q);
    end
    assign centre = Bias + (DspSum'(square_q) <<< B);
  end else begin : gen_no_centre
    assign centre = Bias;
  end
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(A + 1),
    .LowBits(Low),
    .Stages(2)
  ) u_north (
    .clk_i,
    .x_i({1'b0, a_i[B-1:0]}),
    .y_i({1'b0, b_i[Width-1:B]}),
    .c_i(centre),
    .low_o(north_low),
    .high_o(north_high)
  );

  // South, east and top as words. The low words of pairs come one cycle before the high words.
  logic [Low-1:0] south_low_q, east_low_q, top_low_q, north_low_q;
  always_ff @(posedge clk_i) begin
    south_low_q <= south_low;
    east_low_q  <= east_low;
    top_low_q   <= top_low;
    north_low_q <= north_low;
  end
  logic [Width-1:0] south, east, top;
  assign south = {south_high[Width-Low-1:0], south_low_q};
  assign east  = {east_high[Width-Low-1:0], east_low_q};
  assign top   = {top_high[Width-Low-1:0], top_low_q};

  // rest - 2^G. Bits below B are those of south; from bit B on north is added, from bit A on also
  // east.
  localparam int unsigned RestWidth = Width + 3;  // from bit A on, with its sign
  logic [Width:0] with_east_q;
  logic signed [RestWidth-1:0] north, rest;
  logic carry_q;
  logic [A-1:0] rest_low;
  logic [B-1:0] rest_south_q;
  logic signed [RestWidth-Part-1:0] rest_above_q;
  if (C > 0) begin : gen_between
    logic [C:0] between_q;
    always_ff @(posedge clk_i) between_q <= {1'b0, south[A-1:B]} + {1'b0, north_low[C-1:0]};
    assign carry_q  = between_q[C];
    assign rest_low = {between_q[C-1:0], rest_south_q};
  end else begin : gen_nothing_between
    assign carry_q  = 1'b0;
    assign rest_low = rest_south_q;
  end
  assign north = RestWidth'($signed({north_high, north_low_q}) >>> C);
  assign rest  = RestWidth'(({2'b00, with_east_q, 1'b1} + {north, carry_q}) >> 1);
  always_ff @(posedge clk_i) begin
    with_east_q  <= {1'b0, top[A-1:0], south[Width-1:A]} + {1'b0, east};
    rest_south_q <= south[B-1:0];
    rest_above_q <= rest[RestWidth-1:Part];
  end

  // y: the product's slices add to the lowest Part bits of the rest.
  logic [Low-1:0] y_low;
  logic signed [DspSum-1:0] y_high;
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(ScaledWidth),
    .LowBits(Low)
  ) u_fold_top (
    .clk_i,
    .x_i({1'b0, top[Width-1:A]}),
    .y_i(scaled),
    .c_i(DspSum'(rest[Part-1:0])),
    .low_o(y_low),
    .high_o(y_high)
  );
  localparam int unsigned AboveWidth = RestWidth - Part;
  localparam int unsigned PartHigh = Part - Low;  // of the bits that slices add, in high_o
  logic signed [AboveWidth-1:0] rest_above, y_above_q;
  logic [PartHigh-1:0] y_high_q;
  logic [Low-1:0] y_low_delayed;
  logic [A-1:0] rest_low_delayed;
  rs_delay #(
    .Width(AboveWidth),
    .Depth(pair_latency() - 2)
  ) u_delay_rest_above (
    .clk_i,
    .d_i(rest_above_q),
    .d_o(rest_above)
  );
  rs_delay #(
    .Width(Low),
    .Depth(2)
  ) u_delay_y_low (
    .clk_i,
    .d_i(y_low),
    .d_o(y_low_delayed)
  );
  rs_delay #(
    .Width(A),
    .Depth(pair_latency())
  ) u_delay_rest_low (
    .clk_i,
    .d_i(rest_low),
    .d_o(rest_low_delayed)
  );
  always_ff @(posedge clk_i) begin
    y_above_q <= rest_above + AboveWidth'(y_high >>> PartHigh);
    y_high_q  <= y_high[PartHigh-1:0];
  end

  // z: the same for the bits of y from G on. Those from F to G are a word.
  localparam int unsigned LastWidth = Width + 2 - Part;
  logic signed [RestWidth-1:0] y;  // from bit A on
  logic [Width-1:0] y_word;
  logic [Part-1:0] y_part_q;
  logic [LastWidth-1:0] y_above_part, z_above_q;
  logic [F-1:0] z_least;
  logic [Low-1:0] z_low, z_low_delayed;
  logic signed [DspSum-1:0] z_high;
  logic [PartHigh-1:0] z_high_q;
  assign y      = {y_above_q, y_high_q, y_low_delayed};
  assign y_word = {y[B+F-1:0], rest_low_delayed[A-1:F]};
  rs_mul_add_pair #(
    .XWidth(XWidth),
    .YWidth(ScaledWidth),
    .LowBits(Low)
  ) u_fold_high (
    .clk_i,
    .x_i(y[RestWidth-1:B+F]),
    .y_i(scaled),
    .c_i(DspSum'(y_part_q)),
    .low_o(z_low),
    .high_o(z_high)
  );
  rs_delay #(
    .Width(LastWidth),
    .Depth(pair_latency())
  ) u_delay_y_above (
    .clk_i,
    .d_i({2'b01, y_word[Width-1:Part]}),
    .d_o(y_above_part)
  );
  rs_delay #(
    .Width(F),
    .Depth(pair_latency() + 1)
  ) u_delay_least (
    .clk_i,
    .d_i(rest_low_delayed[F-1:0]),
    .d_o(z_least)
  );
  rs_delay #(
    .Width(Low),
    .Depth(2)
  ) u_delay_z_low (
    .clk_i,
    .d_i(z_low),
    .d_o(z_low_delayed)
  );
  always_ff @(posedge clk_i) begin
    y_part_q  <= y_word[Part-1:0];
    z_above_q <= y_above_part + LastWidth'(z_high >>> PartHigh);
    z_high_q  <= z_high[PartHigh-1:0];
  end

  // The bits of z from b on, and those below it. Where s is positive q is subtracted: 2^b from
  // the bits below, and s by using one more multiple of it.
  localparam int unsigned Base = Width - Shifts;
  logic [Width+1:0] z;  // from bit F on
  logic [Width-1:0] z_word, below_d, below_q;
  logic [TimesBits-1:0] coarse_q, times;
  assign z      = {z_above_q, z_high_q, z_low_delayed};
  assign z_word = {z[Width-F-1:0], z_least};
  always_comb begin
    below_d = z_word;
    for (int unsigned j = 0; j < Shifts; j++) begin
      if (j >= 32'(back_q)) below_d[Base+j] = positive;
    end
  end
  always_ff @(posedge clk_i) begin
    coarse_q <= z[Width+1:Base-F] >> {back_q[3:2], 2'b00};
    below_q  <= below_d;
  end
  assign times = (coarse_q >> back_q[1:0]) + TimesBits'(positive);

  // d
  localparam int unsigned TimesWidth = (TimesBits > Low) ? TimesBits + 1 : Low + 2;
  logic [Part-1:0] below_part_q;
  logic [Width-Part:0] below_above, d_above_q;
  logic [Low-1:0] d_low, d_low_delayed;
  logic signed [DspSum-1:0] d_high;
  logic [PartHigh-1:0] d_high_q;
  rs_mul_add_pair #(
    .XWidth(TailBits + 1),
    .YWidth(TimesWidth),
    .LowBits(Low)
  ) u_fold_last (
    .clk_i,
    .x_i(tail),
    .y_i(TimesWidth'(times)),
    .c_i(DspSum'(below_part_q)),
    .low_o(d_low),
    .high_o(d_high)
  );
  rs_delay #(
    .Width(Width + 1 - Part),
    .Depth(pair_latency())
  ) u_delay_below (
    .clk_i,
    .d_i({positive, below_q[Width-1:Part]}),
    .d_o(below_above)
  );
  rs_delay #(
    .Width(Low),
    .Depth(2)
  ) u_delay_d_low (
    .clk_i,
    .d_i(d_low),
    .d_o(d_low_delayed)
  );
  always_ff @(posedge clk_i) begin
    below_part_q <= below_q[Part-1:0];
    d_above_q    <= below_above + (Width - Part + 1)'(d_high >>> PartHigh);
    d_high_q     <= d_high[PartHigh-1:0];
  end

  // p
  logic [Width-1:0] p_q;
  always_ff @(posedge clk_i) begin
    p_q <= {d_above_q[Width-Part-1:0], d_high_q, d_low_delayed} +
        (d_above_q[Width-Part] ? q_i : '0);
  end
  assign p_o = p_q;
endmodule
