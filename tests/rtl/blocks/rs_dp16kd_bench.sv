// DP16KD behind ports of vectors, on one clock. With Registers, B's address comes from a register
// on that clock.
module rs_dp16kd_bench #(
  parameter int unsigned  WidthA = 18,
  parameter int unsigned  WidthB = 18,
  parameter string        RegModeA = "NOREG",
  parameter string        RegModeB = "NOREG",
  parameter string        ResetMode = "SYNC",
  parameter string        WriteModeA = "NORMAL",
  parameter string        WriteModeB = "NORMAL",
  parameter string        ClockB = "CLKB",
  parameter bit    [39:0] SelectA = "0b000",
  parameter bit    [39:0] SelectB = "0b000",
  parameter int unsigned  FirstWords = 0,   // of INITVAL_00
  parameter bit           Registers = 1'b0
) (
  input  logic        clk_i,
  input  logic        ce_a_i,
  input  logic        oce_a_i,
  input  logic        we_a_i,
  input  logic        rst_a_i,
  input  logic [ 2:0] cs_a_i,
  input  logic [13:0] ad_a_i,
  input  logic [17:0] di_a_i,
  output logic [17:0] do_a_o,
  input  logic        ce_b_i,
  input  logic        oce_b_i,
  input  logic        we_b_i,
  input  logic        rst_b_i,
  input  logic [ 2:0] cs_b_i,
  input  logic [13:0] ad_b_i,
  input  logic [17:0] di_b_i,
  output logic [17:0] do_b_o
);
  logic [13:0] ad_b_q, ad_b;
  always_ff @(posedge clk_i) ad_b_q <= ad_b_i;
  assign ad_b = Registers ? ad_b_q : ad_b_i;
  DP16KD #(
    .DATA_WIDTH_A(WidthA),
    .DATA_WIDTH_B(WidthB),
    .REGMODE_A(RegModeA),
    .REGMODE_B(RegModeB),
    .RESETMODE(ResetMode),
    .WRITEMODE_A(WriteModeA),
    .WRITEMODE_B(WriteModeB),
    .CLKBMUX(ClockB),
    .CSDECODE_A(SelectA),
    .CSDECODE_B(SelectB),
    .INITVAL_00(320'(FirstWords))
  ) u_ebr (
    .CLKA(clk_i), .CEA(ce_a_i), .OCEA(oce_a_i), .WEA(we_a_i), .RSTA(rst_a_i), .CSA0(cs_a_i[0]),
    .CSA1(cs_a_i[1]), .CSA2(cs_a_i[2]), .ADA0(ad_a_i[0]), .ADA1(ad_a_i[1]), .ADA2(ad_a_i[2]),
    .ADA3(ad_a_i[3]), .ADA4(ad_a_i[4]), .ADA5(ad_a_i[5]), .ADA6(ad_a_i[6]), .ADA7(ad_a_i[7]),
    .ADA8(ad_a_i[8]), .ADA9(ad_a_i[9]), .ADA10(ad_a_i[10]), .ADA11(ad_a_i[11]),
    .ADA12(ad_a_i[12]), .ADA13(ad_a_i[13]), .DIA0(di_a_i[0]), .DIA1(di_a_i[1]), .DIA2(di_a_i[2]),
    .DIA3(di_a_i[3]), .DIA4(di_a_i[4]), .DIA5(di_a_i[5]), .DIA6(di_a_i[6]), .DIA7(di_a_i[7]),
    .DIA8(di_a_i[8]), .DIA9(di_a_i[9]), .DIA10(di_a_i[10]), .DIA11(di_a_i[11]),
    .DIA12(di_a_i[12]), .DIA13(di_a_i[13]), .DIA14(di_a_i[14]), .DIA15(di_a_i[15]),
    .DIA16(di_a_i[16]), .DIA17(di_a_i[17]), .DOA0(do_a_o[0]), .DOA1(do_a_o[1]), .DOA2(do_a_o[2]),
    .DOA3(do_a_o[3]), .DOA4(do_a_o[4]), .DOA5(do_a_o[5]), .DOA6(do_a_o[6]), .DOA7(do_a_o[7]),
    .DOA8(do_a_o[8]), .DOA9(do_a_o[9]), .DOA10(do_a_o[10]), .DOA11(do_a_o[11]),
    .DOA12(do_a_o[12]), .DOA13(do_a_o[13]), .DOA14(do_a_o[14]), .DOA15(do_a_o[15]),
    .DOA16(do_a_o[16]), .DOA17(do_a_o[17]), .CLKB(clk_i), .CEB(ce_b_i), .OCEB(oce_b_i),
    .WEB(we_b_i), .RSTB(rst_b_i), .CSB0(cs_b_i[0]), .CSB1(cs_b_i[1]), .CSB2(cs_b_i[2]),
    .ADB0(ad_b[0]), .ADB1(ad_b[1]), .ADB2(ad_b[2]), .ADB3(ad_b[3]), .ADB4(ad_b[4]),
    .ADB5(ad_b[5]), .ADB6(ad_b[6]), .ADB7(ad_b[7]), .ADB8(ad_b[8]), .ADB9(ad_b[9]),
    .ADB10(ad_b[10]), .ADB11(ad_b[11]), .ADB12(ad_b[12]), .ADB13(ad_b[13]),
    .DIB0(di_b_i[0]), .DIB1(di_b_i[1]), .DIB2(di_b_i[2]), .DIB3(di_b_i[3]), .DIB4(di_b_i[4]),
    .DIB5(di_b_i[5]), .DIB6(di_b_i[6]), .DIB7(di_b_i[7]), .DIB8(di_b_i[8]), .DIB9(di_b_i[9]),
    .DIB10(di_b_i[10]), .DIB11(di_b_i[11]), .DIB12(di_b_i[12]), .DIB13(di_b_i[13]),
    .DIB14(di_b_i[14]), .DIB15(di_b_i[15]), .DIB16(di_b_i[16]), .DIB17(di_b_i[17]),
    .DOB0(do_b_o[0]), .DOB1(do_b_o[1]), .DOB2(do_b_o[2]), .DOB3(do_b_o[3]), .DOB4(do_b_o[4]),
    .DOB5(do_b_o[5]), .DOB6(do_b_o[6]), .DOB7(do_b_o[7]), .DOB8(do_b_o[8]), .DOB9(do_b_o[9]),
    .DOB10(do_b_o[10]), .DOB11(do_b_o[11]), .DOB12(do_b_o[12]), .DOB13(do_b_o[13]),
    .DOB14(do_b_o[14]), .DOB15(do_b_o[15]), .DOB16(do_b_o[16]), .DOB17(do_b_o[17])
  );
endmodule
