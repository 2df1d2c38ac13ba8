// Order of X -> X^element on a polynomial in NTT form, and (element = 1) of any walk over all rows.
//
// In NTT form the automorphism moves words: word brev(i) of the result is word brev(i') of the
// source, i' = element * i + (element - 1) / 2 mod N. Rows are visited in bit-reversed order: i
// then counts up in its lower bits, a row's, and its upper bits are the lane's, reversed. So whole
// rows move to whole rows, i' needs one addition a row, and inside the row lane brev(l) takes lane
// brev(offset_o + element * l), counted modulo 2*Cores.
//
// start_i: one cycle, while idle; the first step stands at the outputs two cycles later.
module rs_automorph_sequencer #(
  parameter  int unsigned LogN    = 13,
  parameter  int unsigned Cores   = 4,
  localparam int unsigned LogLanes = $clog2(2 * Cores),
  localparam int unsigned RowBits  = LogN - LogLanes
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,
  input  logic [LogN:0]       element_i,  // odd, below 2N; still while busy
  output logic                valid_o,
  output logic                last_o,
  output logic [RowBits-1:0]  row_read_o,
  output logic [RowBits-1:0]  row_write_o,
  output logic [LogLanes-1:0] offset_o
);
  logic               active_q;
  logic [RowBits-1:0] step_q;
  logic [LogN-1:0]    source_q;  // i' of the row's first lane

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (start_i) active_q <= 1'b1;
    else if (&step_q) active_q <= 1'b0;

    if (start_i) begin
      step_q   <= '0;
      source_q <= element_i[LogN:1];
    end else if (active_q) begin
      step_q   <= step_q + 1'b1;
      source_q <= source_q + element_i[LogN-1:0];
    end
  end

  logic                valid_q, last_q;
  logic [RowBits-1:0]  row_read_q, row_write_q;
  logic [LogLanes-1:0] offset_q;
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && active_q;
    last_q  <= active_q && (&step_q);
    if (active_q) begin
      for (int unsigned b = 0; b < RowBits; b++) begin
        row_read_q[b]  <= source_q[RowBits-1-b];
        row_write_q[b] <= step_q[RowBits-1-b];
      end
      offset_q <= source_q[LogN-1:RowBits];
    end
  end

  assign valid_o     = valid_q;
  assign last_o      = last_q;
  assign row_read_o  = row_read_q;
  assign row_write_o = row_write_q;
  assign offset_o    = offset_q;
endmodule
