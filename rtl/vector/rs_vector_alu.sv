// A modular multiplier between adders: a butterfly of a transform, or a point operation.
//
//   inverse_i  combine_i  low_o             high_o
//   0          1          u + t*w           u - t*w          forward butterfly
//   1          0          u + t             (u - t)*w        inverse butterfly
//   0          0          u                 -t*w             no butterfly: w = -1 passes t
//
// All modulo q, and divided by f where there is a product: f = 1 with Barrett's reduction, 2^Width
// with Montgomery's. A point operation x*y + z is the sum of a forward butterfly, t = x, w = y, u =
// z; with negative_i u_i is the complement of z, the sum x*y - z, and there is no difference.
//
// Operands are below q, but for one of the factors: t where inverse_i is low, or w. With Reduce, u
// may be below 2q where inverse_i and negative_i are low.
//
// A modular adder and subtractor are in front of the multiplier, and two more behind it. A masked
// summand makes each of them a delay. So all operations have the same latency and may follow each
// other in any order, each with its own modulus. The user delays the other inputs of an operation,
// once for all ALUs of a stage. After u_i, t_i, inverse_i and negative_i come
//
//   w_i           factor_time() cycles later
//   combine_i     combine_time() cycles later, late_negative_i one more
//   q_i[i]        alu_modulus_time(i) cycles later
//   mu_i, shift_i with q_i[1]; of Barrett's reduction
//
// One operation a cycle, latency rs_vector_pkg::alu_latency. Cost: rs_vector_mul, about 10 * Width
// LUTs, and 3 * Width more with Reduce.
module rs_vector_alu
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  parameter  bit          Reduce = 1'b0,
  localparam int unsigned Moduli = alu_moduli(Cfg),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  inverse_i,
  input  logic                  negative_i,
  input  logic                  combine_i,
  input  logic                  late_negative_i,
  input  logic [     Width-1:0] u_i,
  input  logic [     Width-1:0] t_i,
  input  logic [     Width-1:0] w_i,
  input  logic [     Width-1:0] q_i            [Moduli],
  input  logic [     Width-1:0] mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  output logic [     Width-1:0] low_o,
  output logic [     Width-1:0] high_o
);
  localparam int unsigned ProductModuli = product_moduli(Cfg);
  logic [Width-1:0] q_first, q_last;
  logic [Width-1:0] q_product [ProductModuli];
  assign q_first = q_i[0];
  assign q_last  = q_i[Moduli-1];
  for (genvar i = 0; i < ProductModuli; i++) begin : gen_q
    assign q_product[i] = q_i[i+1];
  end

  // t, or t - u, in two cycles; u + t, u or -z in one. A sum has a bit more: a carry, or a sign.
  //
  // Here and below, a masked summand is always subtracted; to add it, its complement is subtracted.
  // Synthesis then puts the mask into the adder's LUTs, not in front of them. An extra low bit
  // corrects the carry-in of the subtraction.
  logic [Width:0]   difference_q, sum_q;
  logic [Width-1:0] a_q;
  always_ff @(posedge clk_i) begin
    difference_q <= {1'b0, t_i} - {1'b0, {Width{inverse_i}} & u_i};
    a_q          <= Width'(({difference_q[Width-1:0], 1'b0} -
                            {~({Width{difference_q[Width]}} & q_first), 1'b1}) >> 1);
    sum_q        <= (Width + 1)'(
        ({negative_i, u_i, 1'b0} - {1'b1, ~({Width{inverse_i}} & t_i), !negative_i}) >> 1);
  end

  logic [Width:0] sum_late;
  if (Reduce) begin : gen_reduce
    logic [Width:0] less, reduced_q;
    logic           negative_q;
    assign less = sum_q - {1'b0, q_first};
    always_ff @(posedge clk_i) begin
      negative_q <= negative_i;
      reduced_q  <= (less[Width] || negative_q) ? sum_q : less;
    end
    rs_delay #(
      .Width(Width + 1),
      .Depth(product_latency(Cfg))
    ) u_wait (
      .clk_i,
      .d_i(reduced_q),
      .d_o(sum_late)
    );
  end else begin : gen_no_reduce
    rs_delay #(
      .Width(Width + 1),
      .Depth(product_latency(Cfg) + 1)
    ) u_wait (
      .clk_i,
      .d_i(sum_q),
      .d_o(sum_late)
    );
  end

  logic [Width-1:0] product;
  rs_vector_mul #(
    .Cfg(Cfg)
  ) u_mul (
    .clk_i,
    .a_i(a_q),
    .b_i(w_i),
    .q_i(q_product),
    .mu_i,
    .shift_i,
    .p_o(product)
  );

  // Before its correction the sum is below 2q and not negative, or with late_negative_i between -q
  // and q. The difference z - p is between -q and q, and is kept as its complement p + ~z.
  logic [Width:0]   low_raw_q, high_raw_q, corrected;
  logic [Width-1:0] low_q, high_q;
  logic             keep;
  assign corrected = (Width + 1)'(
      ({low_raw_q, 1'b1} + {{(Width + 1){!late_negative_i}} ^ {1'b0, q_last}, !late_negative_i})
      >> 1);
  assign keep = late_negative_i ? !low_raw_q[Width] : corrected[Width];
  always_ff @(posedge clk_i) begin
    low_raw_q  <= (Width + 1)'(
        ({sum_late, 1'b0} - {1'b1, ~({Width{combine_i}} & product), 1'b1}) >> 1);
    high_raw_q <= {1'b0, product} + ~{1'b0, {Width{combine_i}} & sum_late[Width-1:0]};
    low_q      <= keep ? low_raw_q[Width-1:0] : corrected[Width-1:0];
    high_q     <= high_raw_q[Width-1:0] - ({Width{!high_raw_q[Width]}} & q_last);
  end
  assign low_o  = low_q;
  assign high_o = ~high_q;
endmodule
