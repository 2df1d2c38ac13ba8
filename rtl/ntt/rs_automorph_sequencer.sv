// Order of X -> X^element on a polynomial in NTT form, and (element = 1) of any walk over all rows.
//
// In NTT form the automorphism moves words: word brev(i) of the result is word brev(i') of the
// source, i' = element * i + (element - 1) / 2 modulo the ring's degree. Of a polynomial in P
// sub-polynomials, the lowest bits of i are the sub-polynomial, reversed. So all words of the
// result's sub-polynomial sub_poly_i, with i = P * j + c, come from one sub-polynomial of the
// source. j' begins at the carry of element * c + (element - 1) / 2 and continues like i' of a full
// polynomial.
//
// Rows are visited in bit-reversed order: j then counts up in its lower bits, a row's, and its
// upper bits are the lane's, reversed. So whole rows move to whole rows, j' needs one addition a
// row, and inside the row lane brev(l) takes lane brev(offset_o + element * l), counted modulo
// 2*Cores. Where polynomials are shorter than 2^LogN words, counters count at the upper end of
// their bits.
//
// With twice_i each row lasts two cycles, half_o naming its half.
//
// start_i: one cycle, while idle; the first step stands at the outputs two cycles later.
`include "rs_assert.svh"

module rs_automorph_sequencer
  import rs_ntt_pkg::*;
#(
  parameter  ntt_cfg_t Cfg = DefaultNtt,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LargerRings = Cfg.LargerRings,
  localparam int unsigned Cores = Cfg.Cores,
  localparam int unsigned MaxLogN = Cfg.LogN + Cfg.LargerRings,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  ring_t               ring_i,     // still while busy, as the next three
  input  logic                start_i,
  input  logic [MaxLogN:0]    element_i,  // odd, below twice the ring's degree
  input  logic [1:0]          sub_poly_i,
  input  logic                twice_i,
  output logic                valid_o,
  output logic                last_o,
  output logic [RowBits-1:0]  row_read_o,
  output logic [RowBits-1:0]  row_write_o,
  output logic                half_o,
  output logic [LogLanes-1:0] offset_o
);
  // First value of j' of the row's first lane, one register ahead of its counter.
  logic [LogN-1:0] first, increment;
  if (LargerRings > 0) begin : gen_sub_polys
    logic [1:0]         reversed;  // the sub-polynomial's bits, reversed
    logic [MaxLogN+2:0] moved, moved_q;
    always_comb begin
      reversed = (ring_i.log_sub_polys == 2'd2) ? {sub_poly_i[0], sub_poly_i[1]}
                                                : {1'b0, sub_poly_i[0]};
      if (ring_i.log_sub_polys == '0) reversed = '0;
      // element * reversed, as a sum of rows: a product would take a DSP.
      moved = (MaxLogN + 3)'(element_i[MaxLogN:1]) +
              (reversed[0] ? (MaxLogN + 3)'(element_i) : '0) +
              (reversed[1] ? (MaxLogN + 3)'(element_i) << 1 : '0);
    end
    always_ff @(posedge clk_i) moved_q <= moved;
    assign first = LogN'(moved_q >> ring_i.log_sub_polys);
  end else begin : gen_whole
    logic [LogN-1:0] moved_q;
    always_ff @(posedge clk_i) moved_q <= element_i[LogN:1];
    assign first        = moved_q;
  end
  assign increment = element_i[LogN-1:0] << ring_i.skip;

  logic               active_q, started_q, half_q, row_end, last;
  logic [RowBits-1:0] step_q, unit, unused;  // unused: bits of a row's number below unit
  logic [LogN-1:0]    source, source_q;
  always_comb begin
    for (int unsigned b = 0; b < RowBits; b++) unused[b] = (32'(ring_i.skip) > b);
  end
  assign unit    = RowBits'(1) << ring_i.skip;
  assign row_end = !twice_i || half_q;
  assign last    = row_end && (&(step_q | unused));
  assign source  = started_q ? first << ring_i.skip : source_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (start_i) active_q <= 1'b1;
    else if (last) active_q <= 1'b0;

    started_q <= start_i;
    if (start_i) begin
      half_q <= 1'b0;
      step_q <= '0;
    end else if (active_q) begin
      half_q   <= !row_end;
      source_q <= row_end ? source + increment : source;
      if (row_end) step_q <= step_q + unit;
    end
  end

  logic                valid_q, last_q, half_out_q;
  logic [RowBits-1:0]  row_read_q, row_write_q;
  logic [LogLanes-1:0] offset_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && active_q;
    last_q  <= active_q && last;
    if (active_q) begin
      for (int unsigned b = 0; b < RowBits; b++) begin
        row_read_q[b]  <= source[RowBits-1-b];
        row_write_q[b] <= step_q[RowBits-1-b];
      end
      half_out_q <= half_q;
      offset_q   <= source[LogN-1:RowBits];
    end
  end

  assign valid_o     = valid_q;
  assign last_o      = last_q;
  assign row_read_o  = row_read_q;
  assign row_write_o = row_write_q;
  assign half_o      = half_out_q;
  assign offset_o    = offset_q;

  `RS_ASSERT(SubPolyOfRing_A, !start_i || 3'(sub_poly_i) < (3'd1 << ring_i.log_sub_polys),
             $sformatf("sub-polynomial %0d of a polynomial in 2^%0d", sub_poly_i,
                 ring_i.log_sub_polys))
  `RS_ASSERT(ElementOfRing_A,
             !start_i || (element_i[0] && element_i >>
                 (LogN + 1 - 32'(ring_i.skip) + 32'(ring_i.log_sub_polys)) == '0),
             $sformatf("element %0d is not odd and below twice the ring's degree", element_i))
endmodule
