// A complete NTT: one polynomial of 2^LogN words in a memory of its own, transformed in place,
// modulo X^N + 1.
//
//   forward  coefficients in order to values in bit-reversed order: word j becomes
//            sum over i of a_i * psi^(i * (2 * brev(j) + 1)) modulo q
//   inverse  back, the factor 1/N included
//
// A row of the memory has 2*Cores words, the lowest first: row r holds words 2*Cores*r on. While
// idle the user writes and reads rows: word_o has row_i of a cycle with re_i
// rs_ntt_pkg::memory_read_latency() cycles later, and not both of a row in one cycle. It also loads
// the tables of twiddle factors, of each of Sets primes: with TwiddlesStored word j of the table is
// psi^brev(j), with factor_we_i; with TwiddlesGenerated word e of the lower table is psi^e, with
// lo_we_i, and word e of the upper one psi^(e << twiddle_lo_bits(LogN)), with hi_we_i.
//
// start_i: one cycle, while idle. inverse_i, the prime set_i, and its q_i, mu_i, shift_i and
// index_i as rs_mod_mul takes them hold still from it to done_o, which is high for one cycle, the
// first idle one. Words are residues below q_i. Latency from start_i to done_o:
// rs_ntt_pkg::transform_latency(). rst_ni is low for as many cycles as
// rs_ntt_pkg::read_to_write() says, or more.
//
// Cost: a modular multiplier a core with TwiddlesStored, two with TwiddlesGenerated, and the memory
// of N words beside that of the tables.
`include "rs_assert.svh"

module rs_ntt
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;
  import rs_ntt_pkg::*;
  import rs_sparse_pkg::*;
#(
  parameter  int unsigned LogN = 10,
  parameter  int unsigned Cores = 2,  // a power of two
  parameter  int unsigned Width = 30,
  parameter  int unsigned Sets = 1,
  parameter  twiddles_e   Twiddles = TwiddlesStored,
  parameter  reduction_e  Reduction = ReductionBarrett,
  parameter  family_e     Family = FamilyNone,  // counts only with ReductionSparse
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned RowBits = LogN - LogLanes,
  localparam int unsigned SetBits = (Sets > 1) ? $clog2(Sets) : 1
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,

  // Transforms.
  input  logic                             start_i,
  input  logic                             inverse_i,
  input  logic [SetBits-1:0]               set_i,
  input  logic [Width-1:0]                 q_i,
  input  logic [Width-1:0]                 mu_i,
  input  logic [$clog2(Width+1)-1:0]       shift_i,
  input  logic [IndexWidth-1:0]            index_i,
  output logic                             busy_o,
  output logic                             done_o,

  // Rows, while idle.
  input  logic                             we_i,
  input  logic                             re_i,
  input  logic [RowBits-1:0]               row_i,
  input  logic [Width-1:0]                 word_i [Lanes],
  output logic [Width-1:0]                 word_o [Lanes],

  // Tables of twiddle factors, while idle.
  input  logic                             factor_we_i,
  input  logic                             lo_we_i,
  input  logic                             hi_we_i,
  input  logic [SetBits-1:0]               wset_i,
  input  logic [LogN-1:0]                  waddr_i,
  input  logic [Width-1:0]                 wdata_i
);
  localparam int unsigned PatternBits = (LogLanes > 1) ? $clog2(LogLanes) : 1;
  localparam ntt_cfg_t Cfg = '{
      LogN: LogN,
      LargerRings: 0,
      Cores: Cores,
      Width: Width,
      Multipliers: (Twiddles == TwiddlesStored) ? 1 : 2,
      Sets: Sets,
      SetBits: SetBits,
      Twiddles: Twiddles,
      Reduction: Reduction,
      Family: Family
  };
  localparam ring_t Ring = ring_of(Reduction, LogN, LogLanes, LogN);
  if (2 ** $clog2(Cores) != Cores || LogN <= LogLanes) begin : gen_bad_cores
    $error("rs_ntt: Cores = %0d is no power of two below N / 2 = %0d", Cores, 2 ** (LogN - 1));
  end

  typedef struct packed {
    logic                   valid;
    logic                   swap;
    logic [RowBits-1:0]     row_u;
    logic [RowBits-1:0]     row_t;
    logic [PatternBits-1:0] pattern;
  } step_t;

  // ---- order of the transform -------------------------------------------------------------------
  step_t step, later_step, read_step, result_step;
  logic  begins, last, ended;
  rs_delay #(
    .Width(1),
    .Depth(twiddle_lead(Twiddles, Reduction))
  ) u_start (
    .clk_i,
    .d_i(start_i),
    .d_o(begins)
  );
  rs_ntt_sequencer #(
    .Cfg(Cfg)
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .ring_i(Ring),
    .start_i(begins),
    .inverse_i,
    .valid_o(step.valid),
    .again_o(),
    .last_o(last),
    .row_u_o(step.row_u),
    .row_t_o(step.row_t),
    .swap_o(step.swap),
    .pattern_o(step.pattern)
  );
  // Inverse butterflies need their operands earlier.
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(lanes_wait())
  ) u_later_step (
    .clk_i,
    .d_i(step),
    .d_o(later_step)
  );
  assign read_step = inverse_i ? step : later_step;
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(read_to_write(Reduction) - 1)
  ) u_result_step (
    .clk_i,
    .d_i(step),
    .d_o(result_step)
  );
  rs_delay #(
    .Width(1),
    .Depth(read_to_write(Reduction))
  ) u_ended (
    .clk_i,
    .d_i(last),
    .d_o(ended)
  );

  logic busy_q, done_q;
  always_ff @(posedge clk_i) begin
    done_q <= rst_ni && busy_q && ended;
    if (!rst_ni) busy_q <= 1'b0;
    else if (start_i) busy_q <= 1'b1;
    else if (ended) busy_q <= 1'b0;
  end
  assign busy_o = busy_q;
  assign done_o = done_q;

  // ---- memory: half h of row r lies in memory h ^ parity(r) -------------------------------------
  logic                   re_q, we_q, own_q;
  logic [RowBits-1:0]     read_row [2], write_row [2];
  logic [RowBits-1:0]     raddr_q [2], waddr_q [2];
  logic [Width-1:0]       host_q [Lanes];
  logic [Width-1:0]       written [Lanes];
  logic [Width-1:0]       word_q [Lanes];
  assign read_row[0]  = read_step.swap ? read_step.row_t : read_step.row_u;
  assign read_row[1]  = read_step.swap ? read_step.row_u : read_step.row_t;
  assign write_row[0] = result_step.swap ? result_step.row_t : result_step.row_u;
  assign write_row[1] = result_step.swap ? result_step.row_u : result_step.row_t;
  always_ff @(posedge clk_i) begin
    own_q <= busy_q;
    re_q  <= busy_q ? read_step.valid : re_i;
    we_q  <= busy_q ? result_step.valid : we_i;
    for (int unsigned h = 0; h < 2; h++) begin
      raddr_q[h] <= busy_q ? read_row[h] : row_i;
      waddr_q[h] <= busy_q ? write_row[h] : row_i;
    end
    for (int unsigned l = 0; l < Lanes; l++) begin
      host_q[l] <= (^row_i) ? word_i[(l+Cores)%Lanes] : word_i[l];
    end
  end
  for (genvar h = 0; h < 2; h++) begin : gen_half
    logic [Cores-1:0][Width-1:0] wdata, rdata;
    for (genvar i = 0; i < Cores; i++) begin : gen_word
      assign wdata[i] = own_q ? written[h*Cores+i] : host_q[h*Cores+i];
      always_ff @(posedge clk_i) word_q[h*Cores+i] <= rdata[i];
    end
    rs_ram_1r1w #(
      .Width(Cores * Width),
      .Depth(2 ** RowBits),
      .ReadLatency(RamLatency)
    ) u_ram (
      .clk_i,
      .we_i(rst_ni && we_q),  // contents survive a reset
      .waddr_i(waddr_q[h]),
      .wdata_i(wdata),
      .re_i(re_q),
      .raddr_i(raddr_q[h]),
      .rdata_o(rdata)
    );
  end

  logic odd;
  rs_delay #(
    .Width(1),
    .Depth(memory_read_latency())
  ) u_odd (
    .clk_i,
    .d_i(^row_i),
    .d_o(odd)
  );
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      word_o[l] = odd ? word_q[(l+Cores)%Lanes] : word_q[l];
    end
  end

  // ---- butterflies ------------------------------------------------------------------------------
  logic                   swap;
  logic [PatternBits-1:0] pattern;
  logic [Width-1:0]       factor [Cores];
  logic [Width-1:0]       hi [Cores];
  logic [Width-1:0]       lo;
  logic [Width-1:0]       operand [Lanes];
  logic [Width-1:0]       result [Lanes];
  rs_ntt_factors #(
    .Cfg(Cfg)
  ) u_factors (
    .clk_i,
    .rst_ni,
    .ring_i(Ring),
    .sub_poly_i('0),
    .start_i,
    .inverse_i,
    .set_i,
    .factor_o(factor),
    .hi_o(hi),
    .lo_o(lo),
    .factor_we_i,
    .lo_we_i,
    .hi_we_i,
    .wset_i,
    .waddr_i,
    .wdata_i
  );
  // rs_lane_gather registers its controls.
  rs_delay #(
    .Width(1 + PatternBits),
    .Depth(memory_read_latency() - 1)
  ) u_arrangement (
    .clk_i,
    .d_i({read_step.swap, read_step.pattern}),
    .d_o({swap, pattern})
  );
  rs_lane_gather #(
    .Cores(Cfg.Cores),
    .Width(Cfg.Width)
  ) u_gather (
    .clk_i,
    .swap_i(swap),
    .permute_i(1'b0),
    .pattern_i(pattern),
    .element_i('0),
    .offset_i('0),
    .word_i(word_q),
    .lane_o(operand)
  );
  rs_butterfly_lanes #(
    .Cfg(Cfg)
  ) u_lanes (
    .clk_i,
    .valid_i(1'b0),
    .sum_i(1'b0),
    .butterfly_i(1'b1),
    .inverse_i,
    .sub_i(1'b0),
    .constant_i(1'b0),
    .use_b_i(1'b0),
    .use_c_i(1'b0),
    .use_link_i(1'b0),
    .k1_i('0),
    .k2_i('0),
    .q_i,
    .mu_i,
    .shift_i,
    .index_i,
    .a_i(operand),
    .b_i(operand),
    .c_i(operand),
    .link_i(operand),
    .tw_factor_i(factor),
    .tw_hi_i(hi),
    .tw_lo_i(lo),
    .y_o(result)
  );
  rs_lane_scatter #(
    .Cores(Cfg.Cores),
    .Width(Cfg.Width)
  ) u_scatter (
    .clk_i,
    .swap_i(result_step.swap),
    .pattern_i(result_step.pattern),
    .lane_i(result),
    .word_o(written)
  );

  `RS_ASSERT(StartWhileIdle_A, !(start_i && busy_q), "start_i while a transform runs")
  `RS_ASSERT(LastWrite_A, !(busy_q && ended) || we_q,
             "the last write does not come in the cycle that the latency says")
endmodule
