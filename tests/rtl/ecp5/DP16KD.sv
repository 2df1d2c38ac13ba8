// ECP5's embedded block RAM with two ports, by the maker's name: see rs_ecp5_ebr.
module DP16KD #(
  parameter int unsigned DATA_WIDTH_A = 18,
  parameter int unsigned DATA_WIDTH_B = 18,
  parameter string REGMODE_A = "NOREG",
  parameter string REGMODE_B = "NOREG",
  parameter string RESETMODE = "SYNC",
  parameter string ASYNC_RESET_RELEASE = "SYNC",
  parameter bit [39:0] CSDECODE_A = "0b000",
  parameter bit [39:0] CSDECODE_B = "0b000",
  parameter string WRITEMODE_A = "NORMAL",
  parameter string WRITEMODE_B = "NORMAL",
  parameter string CLKAMUX = "CLKA",
  parameter string CLKBMUX = "CLKB",
  parameter string GSR = "ENABLED",  // no global reset here
  parameter bit [319:0] INITVAL_00 = '0,
  parameter bit [319:0] INITVAL_01 = '0,
  parameter bit [319:0] INITVAL_02 = '0,
  parameter bit [319:0] INITVAL_03 = '0,
  parameter bit [319:0] INITVAL_04 = '0,
  parameter bit [319:0] INITVAL_05 = '0,
  parameter bit [319:0] INITVAL_06 = '0,
  parameter bit [319:0] INITVAL_07 = '0,
  parameter bit [319:0] INITVAL_08 = '0,
  parameter bit [319:0] INITVAL_09 = '0,
  parameter bit [319:0] INITVAL_0A = '0,
  parameter bit [319:0] INITVAL_0B = '0,
  parameter bit [319:0] INITVAL_0C = '0,
  parameter bit [319:0] INITVAL_0D = '0,
  parameter bit [319:0] INITVAL_0E = '0,
  parameter bit [319:0] INITVAL_0F = '0,
  parameter bit [319:0] INITVAL_10 = '0,
  parameter bit [319:0] INITVAL_11 = '0,
  parameter bit [319:0] INITVAL_12 = '0,
  parameter bit [319:0] INITVAL_13 = '0,
  parameter bit [319:0] INITVAL_14 = '0,
  parameter bit [319:0] INITVAL_15 = '0,
  parameter bit [319:0] INITVAL_16 = '0,
  parameter bit [319:0] INITVAL_17 = '0,
  parameter bit [319:0] INITVAL_18 = '0,
  parameter bit [319:0] INITVAL_19 = '0,
  parameter bit [319:0] INITVAL_1A = '0,
  parameter bit [319:0] INITVAL_1B = '0,
  parameter bit [319:0] INITVAL_1C = '0,
  parameter bit [319:0] INITVAL_1D = '0,
  parameter bit [319:0] INITVAL_1E = '0,
  parameter bit [319:0] INITVAL_1F = '0,
  parameter bit [319:0] INITVAL_20 = '0,
  parameter bit [319:0] INITVAL_21 = '0,
  parameter bit [319:0] INITVAL_22 = '0,
  parameter bit [319:0] INITVAL_23 = '0,
  parameter bit [319:0] INITVAL_24 = '0,
  parameter bit [319:0] INITVAL_25 = '0,
  parameter bit [319:0] INITVAL_26 = '0,
  parameter bit [319:0] INITVAL_27 = '0,
  parameter bit [319:0] INITVAL_28 = '0,
  parameter bit [319:0] INITVAL_29 = '0,
  parameter bit [319:0] INITVAL_2A = '0,
  parameter bit [319:0] INITVAL_2B = '0,
  parameter bit [319:0] INITVAL_2C = '0,
  parameter bit [319:0] INITVAL_2D = '0,
  parameter bit [319:0] INITVAL_2E = '0,
  parameter bit [319:0] INITVAL_2F = '0,
  parameter bit [319:0] INITVAL_30 = '0,
  parameter bit [319:0] INITVAL_31 = '0,
  parameter bit [319:0] INITVAL_32 = '0,
  parameter bit [319:0] INITVAL_33 = '0,
  parameter bit [319:0] INITVAL_34 = '0,
  parameter bit [319:0] INITVAL_35 = '0,
  parameter bit [319:0] INITVAL_36 = '0,
  parameter bit [319:0] INITVAL_37 = '0,
  parameter bit [319:0] INITVAL_38 = '0,
  parameter bit [319:0] INITVAL_39 = '0,
  parameter bit [319:0] INITVAL_3A = '0,
  parameter bit [319:0] INITVAL_3B = '0,
  parameter bit [319:0] INITVAL_3C = '0,
  parameter bit [319:0] INITVAL_3D = '0,
  parameter bit [319:0] INITVAL_3E = '0,
  parameter bit [319:0] INITVAL_3F = '0
) (
  input DIA0, DIA1, DIA2, DIA3, DIA4, DIA5, DIA6, DIA7, DIA8, DIA9, DIA10, DIA11, DIA12, DIA13,
      DIA14, DIA15, DIA16, DIA17, ADA0, ADA1, ADA2, ADA3, ADA4, ADA5, ADA6, ADA7, ADA8, ADA9,
      ADA10, ADA11, ADA12, ADA13,
  input CEA, OCEA, CLKA, WEA, RSTA, CSA0, CSA1, CSA2,
  output DOA0, DOA1, DOA2, DOA3, DOA4, DOA5, DOA6, DOA7, DOA8, DOA9, DOA10, DOA11, DOA12, DOA13,
      DOA14, DOA15, DOA16, DOA17,
  input DIB0, DIB1, DIB2, DIB3, DIB4, DIB5, DIB6, DIB7, DIB8, DIB9, DIB10, DIB11, DIB12, DIB13,
      DIB14, DIB15, DIB16, DIB17, ADB0, ADB1, ADB2, ADB3, ADB4, ADB5, ADB6, ADB7, ADB8, ADB9,
      ADB10, ADB11, ADB12, ADB13,
  input CEB, OCEB, CLKB, WEB, RSTB, CSB0, CSB1, CSB2,
  output DOB0, DOB1, DOB2, DOB3, DOB4, DOB5, DOB6, DOB7, DOB8, DOB9, DOB10, DOB11, DOB12, DOB13,
      DOB14, DOB15, DOB16, DOB17
);
  function automatic bit [2:0] selects(bit [39:0] text);  // "0b101", the highest select first
    for (int unsigned i = 0; i < 3; i++) selects[i] = text[8*i+:8] == "1";
  endfunction
  function automatic int unsigned mode(string text);
    return (text == "WRITETHROUGH") ? 1 : (text == "READBEFOREWRITE") ? 2 : 0;
  endfunction
  // A clock that is not inverted stays the same signal: other registers act at the same time.
  logic clk_a, clk_b;
  if (CLKAMUX == "INV") begin : gen_inverted_a
    assign clk_a = ~CLKA;
  end else begin : gen_clock_a
    assign clk_a = CLKA;
  end
  if (CLKBMUX == "INV") begin : gen_inverted_b
    assign clk_b = ~CLKB;
  end else begin : gen_clock_b
    assign clk_b = CLKB;
  end
  rs_ecp5_ebr #(
    .WidthA(DATA_WIDTH_A),
    .WidthB(DATA_WIDTH_B),
    .OutRegA(REGMODE_A == "OUTREG"),
    .OutRegB(REGMODE_B == "OUTREG"),
    .AsyncReset(RESETMODE == "ASYNC"),
    .SelectA(selects(CSDECODE_A)),
    .SelectB(selects(CSDECODE_B)),
    .ModeA(mode(WRITEMODE_A)),
    .ModeB(mode(WRITEMODE_B)),
    .Init({INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39,
        INITVAL_38, INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32,
        INITVAL_31, INITVAL_30, INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B,
        INITVAL_2A, INITVAL_29, INITVAL_28, INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24,
        INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20, INITVAL_1F, INITVAL_1E, INITVAL_1D,
        INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18, INITVAL_17, INITVAL_16,
        INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10, INITVAL_0F,
        INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01,
        INITVAL_00})
  ) u_ebr (
    .clk_a_i(clk_a),
    .ce_a_i(CEA),
    .oce_a_i(OCEA),
    .we_a_i(WEA),
    .rst_a_i(RSTA),
    .cs_a_i({CSA2, CSA1, CSA0}),
    .ad_a_i({ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1,
        ADA0}),
    .di_a_i({DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5,
        DIA4, DIA3, DIA2, DIA1, DIA0}),
    .do_a_o({DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5,
        DOA4, DOA3, DOA2, DOA1, DOA0}),
    .clk_b_i(clk_b),
    .ce_b_i(CEB),
    .oce_b_i(OCEB),
    .we_b_i(WEB),
    .rst_b_i(RSTB),
    .cs_b_i({CSB2, CSB1, CSB0}),
    .ad_b_i({ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1,
        ADB0}),
    .di_b_i({DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5,
        DIB4, DIB3, DIB2, DIB1, DIB0}),
    .do_b_o({DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5,
        DOB4, DOB3, DOB2, DOB1, DOB0})
  );
endmodule
