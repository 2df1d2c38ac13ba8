// One RPAU whose command is an instruction word, with the host's accesses as ports.
module rs_rpau_bench
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN = 8,
  parameter  int unsigned Width = 30,
  parameter  int unsigned Cores = 2,
  parameter  int unsigned DyadicCores = 2,
  parameter  int unsigned WorkPolys = 4,
  localparam int unsigned Lanes = 2 * Cores
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [Units-1:0]          start_i,
  input  logic [63:0]               word_i,
  output logic [Units-1:0]          done_o,
  input  logic                      host_we_i,
  input  logic                      host_re_i,
  input  logic [SpaceWidth-1:0]      host_space_i,
  input  logic [HostIndexWidth-1:0] host_index_i,
  input  logic [RowWidth-1:0]       host_row_i,
  input  logic [Width-1:0]          host_wdata_i [Lanes],
  output logic                      host_rvalid_o,
  output logic [Width-1:0]          host_rdata_o [Lanes]
);
  function automatic rpau_cfg_t configuration();
    rpau_cfg_t own;
    own = DefaultCfg;
    own.LogN = LogN;
    own.Width = Width;
    own.Rpaus = 2;
    own.Cores = Cores;
    own.DyadicCores = DyadicCores;
    own.WorkPolys = WorkPolys;
    own.KeyPolys = 1;
    own.Constants = 4;
    own.Twiddles = TwiddlesStored;
    own.KeyRam = RamBlock;
    return own;
  endfunction
  localparam rpau_cfg_t Cfg = configuration();

  logic             unused_send, unused_valid;
  logic [Width-1:0] unused_words [Lanes];
  logic [Width-1:0] no_words [Lanes];
  assign no_words = '{default: '0};
  logic [Width-1:0] unused_x [1];
  logic [Width-1:0] unused_own [1];
  rs_rpau #(
    .Cfg(Cfg)
  ) u_rpau (
    .clk_i,
    .rst_ni,
    .rpau_i('0),
    .ring_i(device_ring(Cfg, LogN)),
    .start_i,
    .command_i('{decoded: decode(word_i), word: word_i}),
    .done_o,
    .host_i('{
        we: host_we_i,
        re: host_re_i,
        space: space_e'(host_space_i),
        index: host_index_i,
        row: host_row_i
    }),
    .host_wdata_i,
    .host_rvalid_o,
    .host_rdata_o,
    .link_valid_i(1'b0),
    .link_i(no_words),
    .link_send_o(unused_send),
    .link_valid_o(unused_valid),
    .link_o(unused_words),
    .x_o(unused_x),
    .own_o(unused_own),
    .word_valid_i(1'b0),
    .word_i('{default: '0})
  );
endmodule
