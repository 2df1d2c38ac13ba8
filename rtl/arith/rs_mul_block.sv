// Low bits of an integer product that one DSP48E2, or two in cascade, or one MULT18X18D computes.
//
//   p_o = a_i * b_i mod 2^OutWidth
//
// One result a cycle, latency rs_arith_pkg::mul_block_latency(): the DSP's M and P registers, or
// the operand and result registers of a MULT18X18D. The operands should come from registers, which
// synthesis then moves into the DSP48E2. Limits: both widths at most 26 and one at most 17 (one
// DSP), or one at most 34 and the other at most 26 (two). An operand of at most Rows bits, and the
// two bits that a long one may have above 34, are added as rows, without a DSP. With TargetEcp5 two
// operands of at most 18 bits take one MULT18X18D; synthesis makes larger blocks of several.
module rs_mul_block
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;
#(
  parameter int unsigned WidthA = 34,
  parameter int unsigned WidthB = 26,
  parameter int unsigned OutWidth = WidthA + WidthB,
  parameter int unsigned Rows = MulRows
) (
  input  logic                clk_i,
  input  logic [WidthA-1:0]   a_i,
  input  logic [WidthB-1:0]   b_i,
  output logic [OutWidth-1:0] p_o
);
  localparam int unsigned Long = (WidthA > WidthB) ? WidthA : WidthB;
  localparam int unsigned Short = (WidthA > WidthB) ? WidthB : WidthA;

  if (!((Long <= DspLong && Short <= DspShort) || (Long <= 2 * DspShort + 2 && Short <= DspLong)))
  begin : gen_bad_width
    $error("rs_mul_block: %0d x %0d bits do not fit two DSPs", WidthA, WidthB);
  end
  if (Rows < MulRows || Rows > MulRowsMost) begin : gen_bad_rows
    $error("rs_mul_block: Rows = %0d is outside %0d to %0d", Rows, MulRows, MulRowsMost);
  end

  logic [Long-1:0]  long_in;
  logic [Short-1:0] short_in;
  if (WidthA > WidthB) begin : gen_a_long
    assign long_in  = a_i;
    assign short_in = b_i;
  end else begin : gen_b_long
    assign long_in  = b_i;
    assign short_in = a_i;
  end

  logic [OutWidth-1:0] p_q;
  if (Short <= MulRows) begin : gen_rows
    logic [OutWidth-1:0] row0_q, row1_q;
    always_ff @(posedge clk_i) begin
      row0_q <= short_in[0] ? OutWidth'(long_in) : '0;
      row1_q <= short_in[Short-1] ? OutWidth'(long_in) << (Short - 1) : '0;
      p_q    <= (Short == 1) ? row0_q : row0_q + row1_q;
    end
  end else if (Short <= Rows) begin : gen_more_rows
    logic [3:0] four_in;
    logic [OutWidth-1:0] rows01_q, rows23_q;
    assign four_in = 4'(short_in);
    always_ff @(posedge clk_i) begin
      rows01_q <= (four_in[0] ? OutWidth'(long_in) : '0) +
          (four_in[1] ? OutWidth'(long_in) << 1 : '0);
      rows23_q <= (four_in[2] ? OutWidth'(long_in) << 2 : '0) +
          (four_in[3] ? OutWidth'(long_in) << 3 : '0);
      p_q      <= rows01_q + rows23_q;
    end
  end else if (Target == TargetEcp5 && Long <= Mult18) begin : gen_mult18
    logic [2*Mult18-1:0] product;
    rs_mul_mult18 u_mult18 (
      .clk_i,
      .a_i(Mult18'(long_in)),
      .b_i(Mult18'(short_in)),
      .p_o(product)
    );
    assign p_q = OutWidth'(product);
  end else if (Long <= DspLong && Short <= DspShort) begin : gen_one
    logic [OutWidth-1:0] m_q;
    always_ff @(posedge clk_i) begin
      m_q <= OutWidth'(long_in) * OutWidth'(short_in);
      p_q <= m_q;
    end
  end else begin : gen_two
    localparam int unsigned HighWidth = OutWidth - DspShort;
    localparam int unsigned Used = (Long < 2 * DspShort) ? Long : 2 * DspShort;
    logic [OutWidth-1:0]  low_q, cascade;
    logic [HighWidth-1:0] high_q;
    // The high slice adds the low one's result, shifted: its lowest bits bypass the adder.
    assign cascade = {HighWidth'(low_q >> DspShort) + high_q, low_q[DspShort-1:0]};
    always_ff @(posedge clk_i) begin
      low_q  <= OutWidth'(long_in[DspShort-1:0]) * OutWidth'(short_in);
      high_q <= HighWidth'(long_in[Used-1:DspShort]) * HighWidth'(short_in);
    end
    if (Long == Used) begin : gen_whole
      always_ff @(posedge clk_i) p_q <= cascade;
    end else begin : gen_rest
      localparam int unsigned RestWidth = OutWidth - Used;
      logic [RestWidth-1:0] rest_q;
      always_ff @(posedge clk_i) begin
        rest_q <= (long_in[Used] ? RestWidth'(short_in) : '0) +
            (long_in[Long-1] && Long > Used + 1 ? RestWidth'(short_in) << 1 : '0);
        p_q    <= cascade + {rest_q, {Used{1'b0}}};
      end
    end
  end
  assign p_o = p_q;
endmodule
