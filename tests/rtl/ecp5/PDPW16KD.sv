// ECP5's embedded block RAM with a port of 36 bits that writes and one that reads, by the maker's
// name: see rs_ecp5_ebr.
module PDPW16KD #(
  parameter int unsigned DATA_WIDTH_W = 36,
  parameter int unsigned DATA_WIDTH_R = 36,
  parameter string REGMODE = "NOREG",
  parameter string RESETMODE = "SYNC",
  parameter string ASYNC_RESET_RELEASE = "SYNC",
  parameter bit [39:0] CSDECODE_W = "0b000",
  parameter bit [39:0] CSDECODE_R = "0b000",
  parameter string CLKWMUX = "CLKW",
  parameter string CLKRMUX = "CLKR",
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
  input DI0, DI1, DI2, DI3, DI4, DI5, DI6, DI7, DI8, DI9, DI10, DI11, DI12, DI13, DI14, DI15, DI16,
      DI17, DI18, DI19, DI20, DI21, DI22, DI23, DI24, DI25, DI26, DI27, DI28, DI29, DI30, DI31,
      DI32, DI33, DI34, DI35,
  input ADW0, ADW1, ADW2, ADW3, ADW4, ADW5, ADW6, ADW7, ADW8, BE0, BE1, BE2, BE3, CEW, CLKW, CSW0,
      CSW1, CSW2,
  input ADR0, ADR1, ADR2, ADR3, ADR4, ADR5, ADR6, ADR7, ADR8, ADR9, ADR10, ADR11, ADR12, ADR13, CER,
      OCER, CLKR, CSR0, CSR1, CSR2, RST,
  output DO0, DO1, DO2, DO3, DO4, DO5, DO6, DO7, DO8, DO9, DO10, DO11, DO12, DO13, DO14, DO15, DO16,
      DO17, DO18, DO19, DO20, DO21, DO22, DO23, DO24, DO25, DO26, DO27, DO28, DO29, DO30, DO31,
      DO32, DO33, DO34, DO35
);
  function automatic bit [2:0] selects(bit [39:0] text);  // "0b101", the highest select first
    for (int unsigned i = 0; i < 3; i++) selects[i] = text[8*i+:8] == "1";
  endfunction
  logic [17:0] by_a, by_b;  // what the pins of either port show
  // A clock that is not inverted stays the same signal: other registers act at the same time.
  logic clk_a, clk_b;
  if (CLKWMUX == "INV") begin : gen_inverted_a
    assign clk_a = ~CLKW;
  end else begin : gen_clock_a
    assign clk_a = CLKW;
  end
  if (CLKRMUX == "INV") begin : gen_inverted_b
    assign clk_b = ~CLKR;
  end else begin : gen_clock_b
    assign clk_b = CLKR;
  end
  rs_ecp5_ebr #(
    .WidthA(DATA_WIDTH_W),
    .WidthB(DATA_WIDTH_R),
    .OutRegB(REGMODE == "OUTREG"),
    .AsyncReset(RESETMODE == "ASYNC"),
    .SelectA(selects(CSDECODE_W)),
    .SelectB(selects(CSDECODE_R)),
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
    .ce_a_i(CEW),
    .oce_a_i(1'b0),
    .we_a_i(1'b1),
    .rst_a_i(1'b0),
    .cs_a_i({CSW2, CSW1, CSW0}),
    .ad_a_i({ADW8, ADW7, ADW6, ADW5, ADW4, ADW3, ADW2, ADW1, ADW0, 1'b0, BE3, BE2, BE1, BE0}),
    .di_a_i({DI17, DI16, DI15, DI14, DI13, DI12, DI11, DI10, DI9, DI8, DI7, DI6, DI5, DI4, DI3,
        DI2, DI1, DI0}),
    .do_a_o(by_a),
    .clk_b_i(clk_b),
    .ce_b_i(CER),
    .oce_b_i(OCER),
    .we_b_i(1'b0),
    .rst_b_i(RST),
    .cs_b_i({CSR2, CSR1, CSR0}),
    .ad_b_i({ADR13, ADR12, ADR11, ADR10, ADR9, ADR8, ADR7, ADR6, ADR5, ADR4, ADR3, ADR2, ADR1,
        ADR0}),
    .di_b_i({DI35, DI34, DI33, DI32, DI31, DI30, DI29, DI28, DI27, DI26, DI25, DI24, DI23, DI22,
        DI21, DI20, DI19, DI18}),
    .do_b_o(by_b)
  );
  assign {DO35, DO34, DO33, DO32, DO31, DO30, DO29, DO28, DO27, DO26, DO25, DO24, DO23, DO22,
      DO21, DO20, DO19, DO18, DO17, DO16, DO15, DO14, DO13, DO12, DO11, DO10, DO9, DO8, DO7, DO6,
      DO5, DO4, DO3, DO2, DO1, DO0} =
      (DATA_WIDTH_R == 36) ? {by_b, by_a} : 36'(by_b);
endmodule
