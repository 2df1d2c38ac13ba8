// Assertions of the RTL's modules: one macro, so that each says the same and one define removes all.
//
//   `RS_ASSERT(Name_A, Property, Message)             a module with clk_i and rst_ni
//   `RS_ASSERT(Name_A, Property, Message, Clk, Rst_n) another clock, or 1'b1 where there is no reset
//
// Property holds at every rising edge of the clock without a reset; otherwise the simulation reports
// Message, a string or a $sformatf, with the path of the module's instance, as $error does.
// RS_ASSERT_OFF removes all assertions. Synthesis (SYNTHESIS) sets it, unless FORMAL asks for them.
`ifndef RS_ASSERT_SVH
`define RS_ASSERT_SVH

`ifdef SYNTHESIS
`ifndef FORMAL
`define RS_ASSERT_OFF
`endif
`endif

`ifdef RS_ASSERT_OFF
`define RS_ASSERT(Name, Property, Message, Clk = clk_i, Rst_n = rst_ni)
`else
`define RS_ASSERT(Name, Property, Message, Clk = clk_i, Rst_n = rst_ni) \
  Name : assert property (@(posedge Clk) disable iff (!(Rst_n)) (Property)) \
  else $error("%s", Message);
`endif

`endif
