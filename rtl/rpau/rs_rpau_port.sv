// An RPAU's port to the interconnect: its link unit, if it has one, and the selection of the
// sender's words.
//
// The main unit (main_*) and the link unit send over one interconnect, at most one in the
// device at a time (the program's hazard rule). The link unit's ports are those of rs_rpau_link;
// words_i are its words from the work memory. Without a link unit only the main unit sends.
`include "rs_assert.svh"

module rs_rpau_port
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  ring_t                ring_i,
  input  logic                 start_i,
  input  command_t             command_i,
  input  logic                 sender_i,
  output logic                 done_o,

  output logic                 reads_o,
  output work_read_t           read_o,
  input  logic [Cfg.Width-1:0] words_i [Lanes],
  output work_write_t          write_o,

  input  logic                 main_send_i,
  input  logic                 main_valid_i,
  input  logic [Cfg.Width-1:0] main_i [Lanes],

  input  logic                 link_valid_i,
  output logic                 link_send_o,
  output logic                 link_valid_o,
  output logic [Cfg.Width-1:0] link_o [Lanes]
);
  if (Cfg.Link) begin : gen_link
    logic send, valid;
    rs_rpau_link #(
      .LogN(Cfg.LogN),
      .Cores(Cfg.Cores),
      .Hops(interconnect_latency(Cfg)),
      .HopCycles(Cfg.HopCycles)
    ) u_link (
      .clk_i,
      .rst_ni,
      .ring_i,
      .start_i,
      .command_i,
      .sender_i,
      .done_o,
      .reads_o,
      .read_o,
      .write_o,
      .link_valid_i,
      .link_send_o(send),
      .link_valid_o(valid)
    );
    assign link_send_o  = main_send_i || send;
    assign link_valid_o = send ? valid : main_valid_i;
    always_comb begin
      for (int unsigned l = 0; l < Lanes; l++) link_o[l] = send ? words_i[l] : main_i[l];
    end

    `RS_ASSERT(OneSender_A, !(main_send_i && send), "main and link unit send at once")
  end else begin : gen_no_link
    assign done_o       = 1'b0;
    assign reads_o      = 1'b0;
    assign read_o       = '0;
    assign write_o      = '0;
    assign link_send_o  = main_send_i;
    assign link_valid_o = main_valid_i;
    assign link_o       = main_i;
  end
endmodule
