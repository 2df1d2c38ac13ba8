// Rules of Yosys' techmap: cells of Lattice's ECP5 in place of the modules that describe them.

// A multiplier with its operand and result registers. Both operands are unsigned and come through the
// slice's ports; port C, the cascade and the pipeline register are not used. Nothing is reset.
module rs_mul_mult18 (
  input         clk_i,
  input  [17:0] a_i,
  input  [17:0] b_i,
  output [35:0] p_o
);
  MULT18X18D #(
    .REG_INPUTA_CLK("CLK0"),
    .REG_INPUTA_CE("CE0"),
    .REG_INPUTA_RST("RST0"),
    .REG_INPUTB_CLK("CLK0"),
    .REG_INPUTB_CE("CE0"),
    .REG_INPUTB_RST("RST0"),
    .REG_OUTPUT_CLK("CLK0"),
    .REG_OUTPUT_CE("CE0"),
    .REG_OUTPUT_RST("RST0"),
    .SOURCEB_MODE("B_SHIFT")
  ) _TECHMAP_REPLACE_ (
    .A0(a_i[0]), .A1(a_i[1]), .A2(a_i[2]), .A3(a_i[3]), .A4(a_i[4]), .A5(a_i[5]),
    .A6(a_i[6]), .A7(a_i[7]), .A8(a_i[8]), .A9(a_i[9]), .A10(a_i[10]), .A11(a_i[11]),
    .A12(a_i[12]), .A13(a_i[13]), .A14(a_i[14]), .A15(a_i[15]), .A16(a_i[16]), .A17(a_i[17]),
    .B0(b_i[0]), .B1(b_i[1]), .B2(b_i[2]), .B3(b_i[3]), .B4(b_i[4]), .B5(b_i[5]),
    .B6(b_i[6]), .B7(b_i[7]), .B8(b_i[8]), .B9(b_i[9]), .B10(b_i[10]), .B11(b_i[11]),
    .B12(b_i[12]), .B13(b_i[13]), .B14(b_i[14]), .B15(b_i[15]), .B16(b_i[16]), .B17(b_i[17]),
    .C0(1'b0), .C1(1'b0), .C2(1'b0), .C3(1'b0), .C4(1'b0), .C5(1'b0),
    .C6(1'b0), .C7(1'b0), .C8(1'b0), .C9(1'b0), .C10(1'b0), .C11(1'b0),
    .C12(1'b0), .C13(1'b0), .C14(1'b0), .C15(1'b0), .C16(1'b0), .C17(1'b0),
    .P0(p_o[0]), .P1(p_o[1]), .P2(p_o[2]), .P3(p_o[3]),
    .P4(p_o[4]), .P5(p_o[5]), .P6(p_o[6]), .P7(p_o[7]),
    .P8(p_o[8]), .P9(p_o[9]), .P10(p_o[10]), .P11(p_o[11]),
    .P12(p_o[12]), .P13(p_o[13]), .P14(p_o[14]), .P15(p_o[15]),
    .P16(p_o[16]), .P17(p_o[17]), .P18(p_o[18]), .P19(p_o[19]),
    .P20(p_o[20]), .P21(p_o[21]), .P22(p_o[22]), .P23(p_o[23]),
    .P24(p_o[24]), .P25(p_o[25]), .P26(p_o[26]), .P27(p_o[27]),
    .P28(p_o[28]), .P29(p_o[29]), .P30(p_o[30]), .P31(p_o[31]),
    .P32(p_o[32]), .P33(p_o[33]), .P34(p_o[34]), .P35(p_o[35]),
    .SIGNEDA(1'b0), .SIGNEDB(1'b0), .SOURCEA(1'b0), .SOURCEB(1'b0),
    .CLK0(clk_i), .CLK1(1'b0), .CLK2(1'b0), .CLK3(1'b0),
    .CE0(1'b1), .CE1(1'b0), .CE2(1'b0), .CE3(1'b0),
    .RST0(1'b0), .RST1(1'b0), .RST2(1'b0), .RST3(1'b0)
  );
endmodule

// A PLL that follows its output CLKOP.
module rs_pll_ecp5 (
  input  clk_i,
  output clk_o,
  output locked_o
);
  parameter InputDivider = 1;
  parameter FeedbackDivider = 4;
  parameter OutputDivider = 6;

  (* ICP_CURRENT = "12", LPF_RESISTOR = "8", MFG_ENABLE_FILTEROPAMP = "1", MFG_GMCREF_SEL = "2" *)
  EHXPLLL #(
    .PLLRST_ENA("DISABLED"),
    .INTFB_WAKE("DISABLED"),
    .STDBY_ENABLE("DISABLED"),
    .DPHASE_SOURCE("DISABLED"),
    .OUTDIVIDER_MUXA("DIVA"),
    .OUTDIVIDER_MUXB("DIVB"),
    .OUTDIVIDER_MUXC("DIVC"),
    .OUTDIVIDER_MUXD("DIVD"),
    .CLKI_DIV(InputDivider),
    .CLKFB_DIV(FeedbackDivider),
    .CLKOP_ENABLE("ENABLED"),
    .CLKOP_DIV(OutputDivider),
    .CLKOP_CPHASE((OutputDivider - 1) / 2),
    .CLKOP_FPHASE(0),
    .FEEDBK_PATH("CLKOP")
  ) _TECHMAP_REPLACE_ (
    .CLKI(clk_i),
    .CLKOP(clk_o),
    .CLKFB(clk_o),
    .LOCK(locked_o),
    .RST(1'b0),
    .STDBY(1'b0),
    .PHASESEL0(1'b0),
    .PHASESEL1(1'b0),
    .PHASEDIR(1'b1),
    .PHASESTEP(1'b1),
    .PHASELOADREG(1'b1),
    .PLLWAKESYNC(1'b0),
    .ENCLKOP(1'b0)
  );
endmodule
