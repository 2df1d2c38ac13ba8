// PDPW16KD behind ports of vectors, on one clock.
module rs_pdpw16kd_bench #(
  parameter int unsigned WidthR = 36,
  parameter string       RegMode = "NOREG"
) (
  input  logic        clk_i,
  input  logic        cew_i,
  input  logic [ 8:0] adw_i,
  input  logic [ 3:0] be_i,
  input  logic [35:0] di_i,
  input  logic        cer_i,
  input  logic        ocer_i,
  input  logic        rst_i,
  input  logic [13:0] adr_i,
  output logic [35:0] do_o
);
  PDPW16KD #(
    .DATA_WIDTH_R(WidthR),
    .REGMODE(RegMode)
  ) u_ebr (
    .CLKW(clk_i), .CLKR(clk_i), .CEW(cew_i), .CER(cer_i), .OCER(ocer_i), .RST(rst_i), .CSW0(1'b0),
    .CSW1(1'b0), .CSW2(1'b0), .CSR0(1'b0), .CSR1(1'b0), .CSR2(1'b0), .ADW0(adw_i[0]),
    .ADW1(adw_i[1]), .ADW2(adw_i[2]), .ADW3(adw_i[3]), .ADW4(adw_i[4]), .ADW5(adw_i[5]),
    .ADW6(adw_i[6]), .ADW7(adw_i[7]), .ADW8(adw_i[8]), .BE0(be_i[0]), .BE1(be_i[1]),
    .BE2(be_i[2]), .BE3(be_i[3]), .DI0(di_i[0]), .DI1(di_i[1]), .DI2(di_i[2]), .DI3(di_i[3]),
    .DI4(di_i[4]), .DI5(di_i[5]), .DI6(di_i[6]), .DI7(di_i[7]), .DI8(di_i[8]), .DI9(di_i[9]),
    .DI10(di_i[10]), .DI11(di_i[11]), .DI12(di_i[12]), .DI13(di_i[13]), .DI14(di_i[14]),
    .DI15(di_i[15]), .DI16(di_i[16]), .DI17(di_i[17]), .DI18(di_i[18]), .DI19(di_i[19]),
    .DI20(di_i[20]), .DI21(di_i[21]), .DI22(di_i[22]), .DI23(di_i[23]), .DI24(di_i[24]),
    .DI25(di_i[25]), .DI26(di_i[26]), .DI27(di_i[27]), .DI28(di_i[28]), .DI29(di_i[29]),
    .DI30(di_i[30]), .DI31(di_i[31]), .DI32(di_i[32]), .DI33(di_i[33]), .DI34(di_i[34]),
    .DI35(di_i[35]), .ADR0(adr_i[0]), .ADR1(adr_i[1]), .ADR2(adr_i[2]), .ADR3(adr_i[3]),
    .ADR4(adr_i[4]), .ADR5(adr_i[5]), .ADR6(adr_i[6]), .ADR7(adr_i[7]), .ADR8(adr_i[8]),
    .ADR9(adr_i[9]), .ADR10(adr_i[10]), .ADR11(adr_i[11]), .ADR12(adr_i[12]), .ADR13(adr_i[13]),
    .DO0(do_o[0]), .DO1(do_o[1]), .DO2(do_o[2]), .DO3(do_o[3]), .DO4(do_o[4]), .DO5(do_o[5]),
    .DO6(do_o[6]), .DO7(do_o[7]), .DO8(do_o[8]), .DO9(do_o[9]), .DO10(do_o[10]), .DO11(do_o[11]),
    .DO12(do_o[12]), .DO13(do_o[13]), .DO14(do_o[14]), .DO15(do_o[15]), .DO16(do_o[16]),
    .DO17(do_o[17]), .DO18(do_o[18]), .DO19(do_o[19]), .DO20(do_o[20]), .DO21(do_o[21]),
    .DO22(do_o[22]), .DO23(do_o[23]), .DO24(do_o[24]), .DO25(do_o[25]), .DO26(do_o[26]),
    .DO27(do_o[27]), .DO28(do_o[28]), .DO29(do_o[29]), .DO30(do_o[30]), .DO31(do_o[31]),
    .DO32(do_o[32]), .DO33(do_o[33]), .DO34(do_o[34]), .DO35(do_o[35])
  );
endmodule
