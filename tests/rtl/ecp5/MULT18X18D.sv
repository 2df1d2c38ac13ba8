// ECP5's multiplier of 18 by 18 bits, by the maker's name: see rs_ecp5_mult18. Port C is the
// slice's and reaches ROC, through its register.
module MULT18X18D #(
  parameter bit [31:0] REG_INPUTA_CLK = "NONE",
  parameter bit [23:0] REG_INPUTA_CE = "CE0",
  parameter bit [31:0] REG_INPUTA_RST = "RST0",
  parameter bit [31:0] REG_INPUTB_CLK = "NONE",
  parameter bit [23:0] REG_INPUTB_CE = "CE0",
  parameter bit [31:0] REG_INPUTB_RST = "RST0",
  parameter bit [31:0] REG_INPUTC_CLK = "NONE",
  parameter bit [23:0] REG_INPUTC_CE = "CE0",
  parameter bit [31:0] REG_INPUTC_RST = "RST0",
  parameter bit [31:0] REG_PIPELINE_CLK = "NONE",
  parameter bit [23:0] REG_PIPELINE_CE = "CE0",
  parameter bit [31:0] REG_PIPELINE_RST = "RST0",
  parameter bit [31:0] REG_OUTPUT_CLK = "NONE",
  parameter bit [23:0] REG_OUTPUT_CE = "CE0",
  parameter bit [31:0] REG_OUTPUT_RST = "RST0",
  parameter string CLK0_DIV = "ENABLED",
  parameter string CLK1_DIV = "ENABLED",
  parameter string CLK2_DIV = "ENABLED",
  parameter string CLK3_DIV = "ENABLED",
  parameter string HIGHSPEED_CLK = "NONE",
  parameter string GSR = "ENABLED",  // no global reset here
  parameter string CAS_MATCH_REG = "FALSE",
  parameter string SOURCEB_MODE = "B_SHIFT",
  parameter string MULT_BYPASS = "DISABLED",
  parameter string RESETMODE = "SYNC"
) (
  input A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
  input B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
  input C0, C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17,
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input CE0, CE1, CE2, CE3, CLK0, CLK1, CLK2, CLK3, RST0, RST1, RST2, RST3,
  input SRIA0, SRIA1, SRIA2, SRIA3, SRIA4, SRIA5, SRIA6, SRIA7, SRIA8, SRIA9, SRIA10, SRIA11,
      SRIA12, SRIA13, SRIA14, SRIA15, SRIA16, SRIA17,
  input SRIB0, SRIB1, SRIB2, SRIB3, SRIB4, SRIB5, SRIB6, SRIB7, SRIB8, SRIB9, SRIB10, SRIB11,
      SRIB12, SRIB13, SRIB14, SRIB15, SRIB16, SRIB17,
  output SROA0, SROA1, SROA2, SROA3, SROA4, SROA5, SROA6, SROA7, SROA8, SROA9, SROA10, SROA11,
      SROA12, SROA13, SROA14, SROA15, SROA16, SROA17,
  output SROB0, SROB1, SROB2, SROB3, SROB4, SROB5, SROB6, SROB7, SROB8, SROB9, SROB10, SROB11,
      SROB12, SROB13, SROB14, SROB15, SROB16, SROB17,
  output ROA0, ROA1, ROA2, ROA3, ROA4, ROA5, ROA6, ROA7, ROA8, ROA9, ROA10, ROA11, ROA12, ROA13,
      ROA14, ROA15, ROA16, ROA17,
  output ROB0, ROB1, ROB2, ROB3, ROB4, ROB5, ROB6, ROB7, ROB8, ROB9, ROB10, ROB11, ROB12, ROB13,
      ROB14, ROB15, ROB16, ROB17,
  output ROC0, ROC1, ROC2, ROC3, ROC4, ROC5, ROC6, ROC7, ROC8, ROC9, ROC10, ROC11, ROC12, ROC13,
      ROC14, ROC15, ROC16, ROC17,
  output P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19,
      P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35, SIGNEDP
);
  if (HIGHSPEED_CLK != "NONE" || CAS_MATCH_REG != "FALSE" || SOURCEB_MODE != "B_SHIFT" ||
      MULT_BYPASS != "DISABLED") begin : gen_not_modelled
    $error("MULT18X18D: a mode that is not modelled");
  end
  localparam bit AsyncReset = RESETMODE == "ASYNC";

  // Which of four clocks, enables and resets a register has, by the name's last letter.
  function automatic bit [1:0] which(bit [7:0] letter);
    return 2'(letter - "0");
  endfunction
  logic [3:0] ce, rst;
  assign ce  = {CE3, CE2, CE1, CE0};
  assign rst = {RST3, RST2, RST1, RST0};

  logic clk_a, clk_b, clk_c, clk_pipeline, clk_output;
  rs_ecp5_clock #(
    .Which(which(8'(REG_INPUTA_CLK)))
  ) u_clk_a (
    .clk0_i(CLK0),
    .clk1_i(CLK1),
    .clk2_i(CLK2),
    .clk3_i(CLK3),
    .clk_o(clk_a)
  );
  rs_ecp5_clock #(
    .Which(which(8'(REG_INPUTB_CLK)))
  ) u_clk_b (
    .clk0_i(CLK0),
    .clk1_i(CLK1),
    .clk2_i(CLK2),
    .clk3_i(CLK3),
    .clk_o(clk_b)
  );
  rs_ecp5_clock #(
    .Which(which(8'(REG_INPUTC_CLK)))
  ) u_clk_c (
    .clk0_i(CLK0),
    .clk1_i(CLK1),
    .clk2_i(CLK2),
    .clk3_i(CLK3),
    .clk_o(clk_c)
  );
  rs_ecp5_clock #(
    .Which(which(8'(REG_PIPELINE_CLK)))
  ) u_clk_pipeline (
    .clk0_i(CLK0),
    .clk1_i(CLK1),
    .clk2_i(CLK2),
    .clk3_i(CLK3),
    .clk_o(clk_pipeline)
  );
  rs_ecp5_clock #(
    .Which(which(8'(REG_OUTPUT_CLK)))
  ) u_clk_output (
    .clk0_i(CLK0),
    .clk1_i(CLK1),
    .clk2_i(CLK2),
    .clk3_i(CLK3),
    .clk_o(clk_output)
  );

  logic [17:0] ro_a, ro_b;
  rs_ecp5_mult18 #(
    .UsesA(REG_INPUTA_CLK != "NONE"),
    .UsesB(REG_INPUTB_CLK != "NONE"),
    .UsesPipeline(REG_PIPELINE_CLK != "NONE"),
    .UsesOutput(REG_OUTPUT_CLK != "NONE"),
    .AsyncReset(AsyncReset)
  ) u_mult (
    .a_i({A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0}),
    .b_i({B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0}),
    .signed_a_i(SIGNEDA),
    .signed_b_i(SIGNEDB),
    .source_a_i(SOURCEA),
    .source_b_i(SOURCEB),
    .sri_a_i({SRIA17, SRIA16, SRIA15, SRIA14, SRIA13, SRIA12, SRIA11, SRIA10, SRIA9, SRIA8, SRIA7,
        SRIA6, SRIA5, SRIA4, SRIA3, SRIA2, SRIA1, SRIA0}),
    .sri_b_i({SRIB17, SRIB16, SRIB15, SRIB14, SRIB13, SRIB12, SRIB11, SRIB10, SRIB9, SRIB8, SRIB7,
        SRIB6, SRIB5, SRIB4, SRIB3, SRIB2, SRIB1, SRIB0}),
    .clk_a_i(clk_a),
    .clk_b_i(clk_b),
    .clk_pipeline_i(clk_pipeline),
    .clk_output_i(clk_output),
    .ce_i({
      ce[which(8'(REG_OUTPUT_CE))],
      ce[which(8'(REG_PIPELINE_CE))],
      ce[which(8'(REG_INPUTB_CE))],
      ce[which(8'(REG_INPUTA_CE))]
    }),
    .rst_i({
      rst[which(8'(REG_OUTPUT_RST))],
      rst[which(8'(REG_PIPELINE_RST))],
      rst[which(8'(REG_INPUTB_RST))],
      rst[which(8'(REG_INPUTA_RST))]
    }),
    .ro_a_o(ro_a),
    .ro_b_o(ro_b),
    .p_o({P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19,
        P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0}),
    .signed_p_o(SIGNEDP)
  );
  assign {SROA17, SROA16, SROA15, SROA14, SROA13, SROA12, SROA11, SROA10, SROA9, SROA8, SROA7,
      SROA6, SROA5, SROA4, SROA3, SROA2, SROA1, SROA0} = ro_a;
  assign {ROA17, ROA16, ROA15, ROA14, ROA13, ROA12, ROA11, ROA10, ROA9, ROA8, ROA7, ROA6, ROA5,
      ROA4, ROA3, ROA2, ROA1, ROA0} = ro_a;
  assign {SROB17, SROB16, SROB15, SROB14, SROB13, SROB12, SROB11, SROB10, SROB9, SROB8, SROB7,
      SROB6, SROB5, SROB4, SROB3, SROB2, SROB1, SROB0} = ro_b;
  assign {ROB17, ROB16, ROB15, ROB14, ROB13, ROB12, ROB11, ROB10, ROB9, ROB8, ROB7, ROB6, ROB5,
      ROB4, ROB3, ROB2, ROB1, ROB0} = ro_b;
  rs_ecp5_register #(
    .Uses(REG_INPUTC_CLK != "NONE"),
    .AsyncReset(AsyncReset)
  ) u_c (
    .clk_i(clk_c),
    .ce_i(ce[which(8'(REG_INPUTC_CE))]),
    .rst_i(rst[which(8'(REG_INPUTC_RST))]),
    .d_i({C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0}),
    .q_o({ROC17, ROC16, ROC15, ROC14, ROC13, ROC12, ROC11, ROC10, ROC9, ROC8, ROC7, ROC6, ROC5,
        ROC4, ROC3, ROC2, ROC1, ROC0})
  );
endmodule
