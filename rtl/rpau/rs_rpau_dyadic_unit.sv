// The dyadic unit of an RPAU with its constants and its expanded keys.
//
// With DyadicCores = 0 it is empty: start_i must stay low, and no memory is used. Ports are those
// of rs_rpau_dyadic; set_i is the modulus bank of the command, and the host writes constants
// and seeds.
module rs_rpau_dyadic_unit
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned Ports = (Cfg.DyadicCores > 0) ? Cfg.DyadicCores : 1,
  localparam int unsigned PartBits = part_bits(Lanes, Cfg.DyadicCores),
  localparam int unsigned ShiftWidth = $clog2(Cfg.Width + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  ring_t                 ring_i,
  input  logic                  start_i,
  input  command_t              command_i,
  input  logic [PrimeWidth-1:0] set_i,
  output logic                  done_o,

  input  logic [Cfg.Width-1:0]  q_i,
  input  logic [Cfg.Width-1:0]  mu_i,
  input  logic [ShiftWidth-1:0] shift_i,
  input  logic [IndexWidth-1:0] index_i,

  input  host_t                 host_i,
  input  logic [Cfg.Width-1:0]  host_word_i,

  output work_read_t            read_o,
  output key_read_t             key_read_o,
  output logic                  swap_o,
  output logic [PartBits-1:0]   part_o,
  input  logic [Cfg.Width-1:0]  operand_i [3][Ports],
  input  logic [Cfg.Width-1:0]  key_i [Lanes],
  output work_write_t           write_o,
  output logic [Cfg.Width-1:0]  wdata_o [Lanes]
);

  if (Cfg.DyadicCores > 0) begin : gen_dyadic
    logic [Cfg.Width-1:0] k1, k2;
    rs_rpau_constants #(
      .Width(Cfg.Width),
      .Words(Cfg.Constants),
      .Sets(Cfg.ModulusBanks)
    ) u_constants (
      .clk_i,
      .start_i,
      .set_i,
      .use_k1_i(command_i.decoded.uses_k1),
      .use_k2_i(command_i.decoded.uses_k2),
      .k1_i(command_i.word[K1Lsb+:K1Width]),
      .k2_i(command_i.word[K2Lsb+:K2Width]),
      .k1_o(k1),
      .k2_o(k2),
      .we_i(host_i.we && host_i.space == SpaceConstant),
      .wset_i(host_i.index[PrimeWidth-1:0]),
      .waddr_i(host_i.row[K1Width-1:0]),
      .wdata_i(host_word_i)
    );

    logic [Cfg.Width-1:0] seeded [Cfg.DyadicCores];
    if (Cfg.Prng != PrngNone) begin : gen_seeded
      rs_rpau_seeded #(
        .LogN(Cfg.LogN),
        .DyadicCores(Cfg.DyadicCores),
        .Width(Cfg.Width),
        .Seeds(Cfg.Seeds),
        .Reduction(Cfg.Reduction)
      ) u_seeded (
        .clk_i,
        .rst_ni,
        .start_i,
        .command_i,
        .q_i,
        .residues_o(seeded),
        .host_i,
        .host_word_i
      );
    end else begin : gen_whole
      assign seeded = '{default: '0};
    end

    rs_rpau_dyadic #(
      .Cfg(Cfg)
    ) u_dyadic (
      .clk_i,
      .rst_ni,
      .ring_i,
      .start_i,
      .command_i,
      .done_o,
      .q_i,
      .mu_i,
      .shift_i,
      .index_i,
      .k1_i(k1),
      .k2_i(k2),
      .read_o,
      .key_read_o,
      .swap_o,
      .part_o,
      .operand_i,
      .key_i,
      .seeded_i(seeded),
      .write_o,
      .wdata_o
    );
  end else begin : gen_nothing
    assign done_o     = 1'b0;
    assign read_o     = '0;
    assign key_read_o = '0;
    assign swap_o     = 1'b0;
    assign part_o     = '0;
    assign write_o    = '0;
    assign wdata_o    = '{default: '0};
  end
endmodule
