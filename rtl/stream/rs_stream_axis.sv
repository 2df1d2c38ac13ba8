// The streaming multiplier behind AXI4-Stream: descriptors and polynomials in, products out.
//
//   s_axis_d   descriptors (docs/reference/stream.md), a word a beat: q, unit, scale, psi ...
//   m_axis_s   an answer a descriptor: 0, or why it was refused (rs_stream_pkg::answer_e)
//   s_axis_a   operands, Lanes words a beat in natural order, tlast with a polynomial's last beat
//   s_axis_b
//   m_axis_p   products, in the order of the descriptors, in the same form
//
// Words are canonical residues in WordBits bits each, the first in the lowest ones. Every channel
// may pause at any time. A polynomial begins to flow when it and its partner are there, its factors
// are made, and a buffer for its product is free. Nothing else causes a wait. fault_o stays high
// from a tlast in the wrong beat to the next reset. rst_ni may be short: it is prolonged.
module rs_stream_axis
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned WordBits = (Width <= 32) ? 32 : 64
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  output logic                      fault_o,

  // verilog_lint: waive-start port-name-suffix
  input  logic                      s_axis_d_tvalid,
  output logic                      s_axis_d_tready,
  input  logic                      s_axis_d_tlast,
  input  logic [WordBits-1:0]       s_axis_d_tdata,
  output logic                      m_axis_s_tvalid,
  input  logic                      m_axis_s_tready,
  output logic [AnswerWidth-1:0]    m_axis_s_tdata,
  input  logic                      s_axis_a_tvalid,
  output logic                      s_axis_a_tready,
  input  logic                      s_axis_a_tlast,
  input  logic [WordBits*Lanes-1:0] s_axis_a_tdata,
  input  logic                      s_axis_b_tvalid,
  output logic                      s_axis_b_tready,
  input  logic                      s_axis_b_tlast,
  input  logic [WordBits*Lanes-1:0] s_axis_b_tdata,
  output logic                      m_axis_p_tvalid,
  input  logic                      m_axis_p_tready,
  output logic                      m_axis_p_tlast,
  output logic [WordBits*Lanes-1:0] m_axis_p_tdata
  // verilog_lint: waive-stop port-name-suffix
);
  localparam int unsigned LogPeriod = LogN - LogLanes;
  localparam int unsigned Frames = output_frames(Cfg);
  localparam int unsigned ResetWidth = $clog2(ResetCycles + 1);
  localparam int unsigned Parts = 6;

  // ---- reset ------------------------------------------------------------------------------------
  logic [ResetWidth-1:0] reset_left_q;
  logic [Parts-1:0]      run;  // the device's reset, active low, for each part of it
  always_ff @(posedge clk_i) begin
    if (!rst_ni) reset_left_q <= ResetWidth'(ResetCycles);
    else if (reset_left_q != '0) reset_left_q <= reset_left_q - 1'b1;
  end
  for (genvar part = 0; part < Parts; part++) begin : gen_reset
    rs_copy u_run (
      .clk_i,
      .d_i(rst_ni && reset_left_q == '0),
      .q_o(run[part])
    );
  end

  // ---- descriptors ------------------------------------------------------------------------------
  logic             descriptor_valid, descriptor_ready;
  logic [Width-1:0] q, unit, scale;
  logic [Width-1:0] powers [Lanes];
  rs_stream_queue #(
    .Cfg(Cfg),
    .WordBits(WordBits)
  ) u_queue (
    .clk_i,
    .rst_ni(run[0]),
    .valid_i(s_axis_d_tvalid),
    .ready_o(s_axis_d_tready),
    .last_i(s_axis_d_tlast),
    .word_i(s_axis_d_tdata),
    .answer_valid_o(m_axis_s_tvalid),
    .answer_ready_i(m_axis_s_tready),
    .answer_o(m_axis_s_tdata),
    .valid_o(descriptor_valid),
    .ready_i(descriptor_ready),
    .q_o(q),
    .unit_o(unit),
    .scale_o(scale),
    .powers_o(powers)
  );

  // ---- operands ---------------------------------------------------------------------------------
  logic             launch, full_a, full_b, buffer_free, core_ready, fault_a, fault_b;
  logic [Width-1:0] sent_a [Lanes];
  logic [Width-1:0] sent_b [Lanes];
  logic [Width-1:0] a [Lanes];
  logic [Width-1:0] b [Lanes];
  logic [Width-1:0] product [Lanes];
  logic [Width-1:0] result [Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_word
    assign sent_a[l] = s_axis_a_tdata[l*WordBits+:Width];
    assign sent_b[l] = s_axis_b_tdata[l*WordBits+:Width];
    assign m_axis_p_tdata[l*WordBits+:WordBits] = WordBits'(result[l]);
  end
  rs_stream_input #(
    .Cfg(Cfg)
  ) u_input_a (
    .clk_i,
    .rst_ni(run[1]),
    .valid_i(s_axis_a_tvalid),
    .ready_o(s_axis_a_tready),
    .last_i(s_axis_a_tlast),
    .words_i(sent_a),
    .fault_o(fault_a),
    .full_o(full_a),
    .launch_i(launch),
    .words_o(a)
  );
  rs_stream_input #(
    .Cfg(Cfg)
  ) u_input_b (
    .clk_i,
    .rst_ni(run[2]),
    .valid_i(s_axis_b_tvalid),
    .ready_o(s_axis_b_tready),
    .last_i(s_axis_b_tlast),
    .words_i(sent_b),
    .fault_o(fault_b),
    .full_o(full_b),
    .launch_i(launch),
    .words_o(b)
  );

  // ---- launch -----------------------------------------------------------------------------------
  logic [LogPeriod-1:0] left_q;  // cycles to the next launch, at least
  logic                 may_q;  // left_q is 0
  logic                 fault_q, first, first_product;
  assign launch = run[5] && may_q && full_a && full_b && buffer_free && core_ready;
  always_ff @(posedge clk_i) begin
    if (!run[5]) begin
      left_q <= '0;
      may_q  <= 1'b1;
    end else if (launch) begin
      left_q <= '1;
      may_q  <= 1'b0;
    end else if (!may_q) begin
      left_q <= left_q - 1'b1;
      may_q  <= left_q == LogPeriod'(1);
    end
    fault_q <= run[5] && (fault_q || fault_a || fault_b);
  end
  assign fault_o = fault_q;
  rs_stream_marker #(.Depth(input_cycles())) u_first (
    .clk_i, .rst_ni(run[5]), .first_i(launch), .first_o(first)
  );

  rs_stream_core #(
    .Cfg(Cfg)
  ) u_core (
    .clk_i,
    .rst_ni(run[3]),
    .descriptor_valid_i(descriptor_valid),
    .descriptor_ready_o(descriptor_ready),
    .q_i(q),
    .unit_i(unit),
    .scale_i(scale),
    .powers_i(powers),
    .ready_o(core_ready),
    .first_i(first),
    .a_i(a),
    .b_i(b),
    .first_o(first_product),
    .y_o(product)
  );

  rs_stream_output #(
    .Cfg(Cfg),
    .Frames(Frames)
  ) u_output (
    .clk_i,
    .rst_ni(run[4]),
    .buffer_free_o(buffer_free),
    .launch_i(launch),
    .first_i(first_product),
    .words_i(product),
    .valid_o(m_axis_p_tvalid),
    .ready_i(m_axis_p_tready),
    .last_o(m_axis_p_tlast),
    .words_o(result)
  );
endmodule
