// An affine map of the words of a row: X -> X^e in NTT form, inside a row.
//
//   the word of index h comes from index element_i * h + constant_i mod 2^LogLanes, element_i odd
//
// index h is in lane rs_vector_pkg::affine_lane(h). Switches of four, each for two bits of h,
// lowest bits first: a word's way at bits k and k+1 depends on the bits of h below and these two
// alone, as element_i is odd, so 2^(k+2) ways serve all lanes.
//
// element_i and constant_i come rs_vector_pkg::affine_lead() cycles before their row, others with
// each row. One row a cycle; latency: LogLanes / 2. Cost: LogLanes / 2 * Width LUTs a lane, and
// about 10 LUTs a lane to compute the ways.
module rs_vector_affine
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 8,
  parameter  int unsigned LogRadix = 4,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic                clk_i,
  input  logic [LogLanes-1:0] element_i,
  input  logic [LogLanes-1:0] constant_i,
  input  logic [   Width-1:0] x_i        [Lanes],
  output logic [   Width-1:0] x_o        [Lanes]
);
  localparam int unsigned Stages = LogLanes / 2;
  if (LogLanes % 2 != 0 || LogLanes < 4) begin : gen_bad_lanes
    $error("rs_vector_affine: LogLanes = %0d is odd or below 4", LogLanes);
  end

  // ---- ways: element * j + constant for j < Sums, in three cycles -------------------------------
  localparam int unsigned LowBits = (LogLanes - 2) / 2;
  localparam int unsigned HighBits = LogLanes - 2 - LowBits;
  localparam int unsigned Sums = 2 ** (LogLanes - 2);
  logic [LogLanes-1:0] constant_q;
  logic [LogLanes-1:0] multiple_q [2**HighBits];  // of the element
  logic [LogLanes-1:0] low_q [2**LowBits];
  logic [LogLanes-1:0] high_q [2**HighBits];
  logic [LogLanes-1:0] sum_q [Sums];
  always_ff @(posedge clk_i) constant_q <= constant_i;
  for (genvar j = 0; j < 2 ** HighBits; j++) begin : gen_multiple
    logic [LogLanes-1:0] part [HighBits+1];
    assign part[0] = '0;
    for (genvar b = 0; b < HighBits; b++) begin : gen_bit
      assign part[b+1] = ((j >> b) % 2 != 0) ? part[b] + (element_i << b) : part[b];
    end
    always_ff @(posedge clk_i) begin
      multiple_q[j] <= part[HighBits];
      high_q[j]     <= multiple_q[j];
    end
  end
  for (genvar j = 0; j < 2 ** LowBits; j++) begin : gen_low
    always_ff @(posedge clk_i) low_q[j] <= multiple_q[j] + constant_q;
  end
  for (genvar j = 0; j < Sums; j++) begin : gen_sum
    always_ff @(posedge clk_i) begin
      sum_q[j] <= low_q[j%2**LowBits] + (high_q[j>>LowBits] << LowBits);
    end
  end

  // The element modulo 4, delayed with the sums: its lowest bit is 1.
  logic twice;
  rs_delay #(.Depth(affine_lead() - 1)) u_twice (.clk_i, .d_i(element_i[1]), .d_o(twice));

  // ---- switches, by index -----------------------------------------------------------------------
  logic [Width-1:0] x [Stages+1][Lanes];
  for (genvar h = 0; h < Lanes; h++) begin : gen_in
    assign x[0][h] = x_i[affine_lane(LogLanes, LogRadix, h)];
  end
  for (genvar s = 0; s < Stages; s++) begin : gen_stage
    localparam int unsigned K = 2 * s;
    logic twice_late;
    rs_delay #(.Depth(s)) u_twice (.clk_i, .d_i(twice), .d_o(twice_late));
    logic [1:0] way_q [4*2**K];
    for (genvar j = 0; j < 2 ** K; j++) begin : gen_low
      logic [1:0] sum;
      rs_delay #(.Width(2), .Depth(s)) u_sum (.clk_i, .d_i(sum_q[j][K+:2]), .d_o(sum));
      for (genvar i = 0; i < 4; i++) begin : gen_way
        // sum + i * element mod 4
        always_ff @(posedge clk_i) begin
          way_q[i*2**K+j] <= sum + 2'(i) + {(i % 2 != 0) && twice_late, 1'b0};
        end
      end
    end
    for (genvar h = 0; h < Lanes; h++) begin : gen_switch
      localparam int unsigned Base = h - ((h >> K) % 4) * 2 ** K;
      logic [Width-1:0] word, word_q;
      rs_mux #(
        .Width(Width),
        .Words(4)
      ) u_word (
        .index_i(way_q[h%(4*2**K)]),
        .word_i('{x[s][Base], x[s][Base+2**K], x[s][Base+2*2**K], x[s][Base+3*2**K]}),
        .word_o(word)
      );
      always_ff @(posedge clk_i) word_q <= word;
      assign x[s+1][h] = word_q;
    end
  end
  for (genvar l = 0; l < Lanes; l++) begin : gen_out
    assign x_o[l] = x[Stages][affine_index(LogLanes, LogRadix, l)];
  end
endmodule
