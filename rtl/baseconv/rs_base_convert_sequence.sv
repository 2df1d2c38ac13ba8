// Counts the words that enter a base-conversion unit, and the outputs that leave it.
//
// From the cycle after start_i on, table_o, slot_o, first_o, last_o and is_own_o describe the terms
// 0, 1, ... of the coefficient that was started, one a cycle; they hold their values after the last
// one, and active_o marks the cycles with terms. ended_i is last_o, delayed by the caller,
// with the conversion's number. From the cycle after it on, out_table_o, out_number_o and
// out_last_o describe the outputs, while out_active_o is 1.
//
// Shapes of conversions are loaded here: how many terms and outputs they have, and whether the last
// term is the outputs' own.
`include "rs_assert.svh"

module rs_base_convert_sequence
  import rs_baseconv_pkg::*;
#(
  parameter  base_convert_cfg_t Cfg = DefaultBaseConvert,
  localparam int unsigned Terms = Cfg.Terms,
  localparam int unsigned Outputs = Cfg.Outputs,
  localparam int unsigned Tables = Cfg.Tables,
  localparam int unsigned TableBits = index_bits(Tables),
  localparam int unsigned SlotBits = index_bits(Terms),
  localparam int unsigned OutputBits = index_bits(Outputs),
  localparam int unsigned ShapeBits = 1 + OutputBits + SlotBits
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  load_i,
  input  logic [ TableBits-1:0] load_table_i,
  input  logic [ ShapeBits-1:0] load_shape_i,  // {is own, outputs - 1, terms - 1}
  input  logic                  start_i,
  input  logic [ TableBits-1:0] start_table_i,
  output logic                  active_o,
  output logic [ TableBits-1:0] table_o,
  output logic [  SlotBits-1:0] slot_o,
  output logic                  first_o,
  output logic                  last_o,
  output logic                  is_own_o,
  input  logic                  ended_i,
  input  logic [ TableBits-1:0] ended_table_i,
  output logic                  out_active_o,
  output logic [ TableBits-1:0] out_table_o,
  output logic [OutputBits-1:0] out_number_o,
  output logic                  out_last_o
);
  logic                  own_q         [2 ** TableBits];
  logic [OutputBits-1:0] last_output_q [2 ** TableBits];
  logic [  SlotBits-1:0] last_slot_q   [2 ** TableBits];
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      {own_q[load_table_i], last_output_q[load_table_i], last_slot_q[load_table_i]} <= load_shape_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_o <= 1'b0;
    else if (start_i) active_o <= 1'b1;
    else if (last_o) active_o <= 1'b0;
    if (start_i) table_o <= start_table_i;
    if (start_i) slot_o <= '0;
    else if (!last_o) slot_o <= slot_o + 1'b1;
  end
  assign first_o  = slot_o == '0;
  assign last_o   = slot_o == last_slot_q[table_o];
  assign is_own_o = last_o && own_q[table_o];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_active_o <= 1'b0;
    else if (ended_i) out_active_o <= 1'b1;
    else if (out_last_o) out_active_o <= 1'b0;
    if (ended_i) out_table_o <= ended_table_i;
    if (ended_i) out_number_o <= '0;
    else if (!out_last_o) out_number_o <= out_number_o + 1'b1;
  end
  assign out_last_o = out_number_o == last_output_q[out_table_o];

  `RS_ASSERT(TermsFollow_A, !start_i || !active_o || last_o,
             $sformatf("a coefficient whose last term is %0d was cut at term %0d",
                 last_slot_q[table_o], slot_o))
  `RS_ASSERT(OutputsFollow_A, !ended_i || !out_active_o || out_last_o,
             $sformatf("outputs began while output %0d of another coefficient left", out_number_o))
endmodule
