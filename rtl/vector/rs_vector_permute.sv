// The permutation network in front of the units: rows of 2^LogLanes words, one a cycle.
//
//   rotate    lanes by LogRadix bits: L(k) becomes L(k-1), L0 the last
//   exchange  bit i of L0 with bit i of the time, where permute_i.exchange has bit i
//   affine    the word of index h from index element_i * h + constant_i (rs_vector_affine)
//   arrange   lanes rotated back, and the bits of L0 reversed
//
// In this order, each or none: permute_i.rotate = 0, permute_i.exchange = 0, element_i = 1 and
// constant_i = 0, ArrangeStraight leave a row as it is. The rows of an exchange come in the order
// of their time, one each cycle, a multiple of 2^LogRadix of them; time_i is the low bits of it.
// permute_i.exchange is 0 where no row comes. All else may change from row to row.
//
// Latency: rs_vector_pkg::permute_latency, for every operation. Cost for each lane, in words of
// Width bits: LUTs for 2 + LogRadix + LogLanes / 2 and for the delays (one of each power of two
// below 2^LogRadix, a word a LUT from four cycles on).
module rs_vector_permute
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 8,
  parameter  int unsigned LogRadix = 4,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic                clk_i,
  input  permute_t            permute_i,
  input  logic [LogRadix-1:0] time_i,
  input  logic [LogLanes-1:0] element_i,
  input  logic [LogLanes-1:0] constant_i,
  input  logic [   Width-1:0] x_i        [Lanes],
  output logic [   Width-1:0] x_o        [Lanes]
);
  // ---- rotation, and exchanges ------------------------------------------------------------------
  logic [Width-1:0] x [LogRadix+1][Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_rotate
    logic [Width-1:0] x_q;
    always_ff @(posedge clk_i) begin
      x_q <= permute_i.rotate ? x_i[rotated(LogLanes, LogRadix, l)] : x_i[l];
    end
    assign x[0][l] = x_q;
  end
  for (genvar i = 0; i < LogRadix; i++) begin : gen_exchange
    logic swap;
    rs_delay #(.Depth(exchange_time(i))) u_swap (
      .clk_i, .d_i(permute_i.exchange[i] && time_i[i]), .d_o(swap)
    );
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      if ((l >> i) % 2 == 0) begin : gen_pair
        rs_vector_exchange #(
          .Width(Width),
          .Distance(2 ** i)
        ) u_exchange (
          .clk_i,
          .swap_i(swap),
          .x0_i(x[i][l]),
          .x1_i(x[i][l+2**i]),
          .x0_o(x[i+1][l]),
          .x1_o(x[i+1][l+2**i])
        );
      end
    end
  end

  // ---- affine map -------------------------------------------------------------------------------
  logic [LogLanes-1:0] element, constant;
  rs_delay #(.Width(2 * LogLanes), .Depth(affine_time(LogRadix) - affine_lead())) u_affine_map (
    .clk_i, .d_i({element_i, constant_i}), .d_o({element, constant})
  );
  logic [Width-1:0] mapped [Lanes];
  rs_vector_affine #(
    .Width(Width),
    .LogLanes(LogLanes),
    .LogRadix(LogRadix)
  ) u_affine (
    .clk_i,
    .element_i(element),
    .constant_i(constant),
    .x_i(x[LogRadix]),
    .x_o(mapped)
  );

  // ---- arrangement for the units ----------------------------------------------------------------
  logic [1:0] arrange;
  rs_delay #(.Width(2), .Depth(permute_latency(LogLanes, LogRadix) - 1)) u_arrange (
    .clk_i, .d_i(permute_i.arrange), .d_o(arrange)
  );
  for (genvar l = 0; l < Lanes; l++) begin : gen_arrange
    localparam int unsigned Reversed = unit_reversed(LogRadix, l);
    logic [Width-1:0] word, word_q;
    rs_mux #(
      .Width(Width),
      .Words(3)
    ) u_word (
      .index_i(arrange),
      .word_i('{mapped[l], mapped[Reversed], mapped[rotated_back(LogLanes, LogRadix, Reversed)]}),
      .word_o(word)
    );
    always_ff @(posedge clk_i) word_q <= word;
    assign x_o[l] = word_q;
  end
endmodule
