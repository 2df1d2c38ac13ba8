// Moduli of an RPAU's modulus banks, and the current modulus of each of its units.
//
// start_main_i and the other two take the number of a modulus bank; from the second cycle on, until
// the next start, that bank's modulus is at the unit's outputs. (The first operands come later.)
// The host writes the words of a modulus, in rows 0 to 3, while nothing runs.
`include "rs_assert.svh"

module rs_rpau_moduli
  import rs_arith_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned Width = 48,
  parameter  int unsigned Sets = 1,
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  start_main_i,
  input  logic [PrimeWidth-1:0] set_main_i,
  output logic [PrimeWidth-1:0] set_main_o,
  output logic [Width-1:0]      q_main_o,
  output logic [Width-1:0]      mu_main_o,      // of rs_mod_mul, as the next two
  output logic [ShiftWidth-1:0] shift_main_o,
  output logic [IndexWidth-1:0] index_main_o,

  input  logic                  start_dyadic_i,
  input  logic [PrimeWidth-1:0] set_dyadic_i,
  output logic [Width-1:0]      q_dyadic_o,
  output logic [Width-1:0]      mu_dyadic_o,
  output logic [ShiftWidth-1:0] shift_dyadic_o,
  output logic [IndexWidth-1:0] index_dyadic_o,

  input  logic                  start_coefficient_i,
  input  logic [PrimeWidth-1:0] set_coefficient_i,
  output logic [Width-1:0]      q_coefficient_o,

  input  logic                  we_i,
  input  logic [PrimeWidth-1:0] wset_i,
  input  logic [1:0]            wrow_i,
  input  logic [Width-1:0]      wdata_i
);
  localparam int unsigned SetBits = (Sets > 1) ? $clog2(Sets) : 1;

  logic [Width-1:0]      q_q [Sets];
  logic [Width-1:0]      mu_q [Sets];
  logic [ShiftWidth-1:0] shift_q [Sets];
  logic [IndexWidth-1:0] index_q [Sets];
  always_ff @(posedge clk_i) begin
    if (we_i) begin
      case (wrow_i)
        2'd0: q_q[wset_i[SetBits-1:0]] <= wdata_i;
        2'd1: mu_q[wset_i[SetBits-1:0]] <= wdata_i;
        2'd2: shift_q[wset_i[SetBits-1:0]] <= wdata_i[ShiftWidth-1:0];
        default: index_q[wset_i[SetBits-1:0]] <= wdata_i[IndexWidth-1:0];
      endcase
    end
  end

  // Sets of the last commands; after a reset set 0, which exists.
  logic [PrimeWidth-1:0] set_main_q;
  logic [SetBits-1:0]    set_dyadic_q, set_coefficient_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      set_main_q   <= '0;
      set_dyadic_q <= '0;
      set_coefficient_q <= '0;
    end else begin
      if (start_main_i) set_main_q <= set_main_i;
      if (start_dyadic_i) set_dyadic_q <= set_dyadic_i[SetBits-1:0];
      if (start_coefficient_i) set_coefficient_q <= set_coefficient_i[SetBits-1:0];
    end
  end
  assign set_main_o = set_main_q;

  // The chosen words stand in registers of their own, a cycle behind the choice.
  logic [Width-1:0]      q_main_q, mu_main_q, q_dyadic_q, mu_dyadic_q, q_coefficient_q;
  logic [ShiftWidth-1:0] shift_main_q, shift_dyadic_q;
  logic [IndexWidth-1:0] index_main_q, index_dyadic_q;
  always_ff @(posedge clk_i) begin
    q_main_q       <= q_q[set_main_q[SetBits-1:0]];
    mu_main_q      <= mu_q[set_main_q[SetBits-1:0]];
    shift_main_q   <= shift_q[set_main_q[SetBits-1:0]];
    index_main_q   <= index_q[set_main_q[SetBits-1:0]];
    q_dyadic_q     <= q_q[set_dyadic_q];
    mu_dyadic_q    <= mu_q[set_dyadic_q];
    shift_dyadic_q <= shift_q[set_dyadic_q];
    index_dyadic_q <= index_q[set_dyadic_q];
    q_coefficient_q <= q_q[set_coefficient_q];
  end
  assign q_coefficient_o = q_coefficient_q;
  assign q_main_o       = q_main_q;
  assign mu_main_o      = mu_main_q;
  assign shift_main_o   = shift_main_q;
  assign index_main_o   = index_main_q;
  assign q_dyadic_o     = q_dyadic_q;
  assign mu_dyadic_o    = mu_dyadic_q;
  assign shift_dyadic_o = shift_dyadic_q;
  assign index_dyadic_o = index_dyadic_q;

  `RS_ASSERT(MainSetExists_A, !start_main_i || 32'(set_main_i) < Sets,
             $sformatf("modulus bank %0d of %0d", set_main_i, Sets))
  `RS_ASSERT(DyadicSetExists_A, !start_dyadic_i || 32'(set_dyadic_i) < Sets,
             $sformatf("modulus bank %0d of %0d", set_dyadic_i, Sets))
  `RS_ASSERT(CoefficientSetExists_A, !start_coefficient_i || 32'(set_coefficient_i) < Sets,
             $sformatf("modulus bank %0d of %0d", set_coefficient_i, Sets))
  `RS_ASSERT(WrittenSetExists_A, !we_i || 32'(wset_i) < Sets,
             $sformatf("write to modulus %0d of %0d", wset_i, Sets))
endmodule
