// One residue-polynomial arithmetic unit (RPAU): memories, main, dyadic and link unit, modulus
// banks.
//
// All RPAUs of a device with words of one width are the same module: their primes and tables come
// through the host port, and their number through rpau_i. Verilator makes one C++ function of the
// equal processes of all RPAUs if nothing else differs. So functions are called here only with
// constants: their inlined locals would be numbered by instance. The inputs are not replaced by
// their drivers (rtl/verilator.vlt).
//
// Commands: one bit of start_i, by unit_e, with command_i, to a unit that is idle. The host
// port, one access a cycle, only while nothing runs; reads answer after rpau_read_latency() cycles.
// Its words are a row of a memory, or a part of one (rs_rpau_pkg::host_words): a longer row is
// collected here.
//
// Words of the host port and of the interconnect may be wider than the RPAU's own. The host writes
// no word that is too wide; words from the interconnect are shortened (rs_rpau_arrival).
module rs_rpau
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  parameter  int unsigned LinkWidth = Cfg.Width,    // of the host port and the interconnect
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned ConverterPorts = (Cfg.Converters > 0) ? Cfg.Converters : 1,
  localparam int unsigned HostWords = host_words(Lanes)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic [RpauWidth-1:0] rpau_i,          // number of this RPAU, constant

  input  ring_t                ring_i,          // still while a program runs
  input  logic [Units-1:0]     start_i,
  input  command_t             command_i,
  output logic [Units-1:0]     done_o,

  input  host_t                host_i,
  input  logic [LinkWidth-1:0] host_wdata_i [HostWords],
  output logic                 host_rvalid_o,
  output logic [LinkWidth-1:0] host_rdata_o [HostWords],

  input  logic                 link_valid_i,    // interconnect: words that reach this RPAU
  input  logic [LinkWidth-1:0] link_i [Lanes],
  output logic                 link_send_o,     // this RPAU is sending
  output logic                 link_valid_o,
  output logic [LinkWidth-1:0] link_o [Lanes],

  output logic [LinkWidth-1:0] x_o [ConverterPorts],    // to and from the converters
  output logic [LinkWidth-1:0] own_o [ConverterPorts],
  input  logic                 word_valid_i,
  input  logic [LinkWidth-1:0] word_i [ConverterPorts]
);
  /*verilator no_inline_module*/
  localparam int unsigned RowBits = Cfg.LogN - $clog2(Lanes);
  localparam int unsigned ShiftWidth = $clog2(Cfg.Width + 1);
  localparam int unsigned DyadicPorts = (Cfg.DyadicCores > 0) ? Cfg.DyadicCores : 1;
  localparam int unsigned PartBits = part_bits(Lanes, Cfg.DyadicCores);

  // ---- host -------------------------------------------------------------------------------------
  // Where a row comes in parts, those of a row whose halves are swapped are exchanged. Without
  // parts, the halves of the words are exchanged behind this register.
  localparam int unsigned HostParts = Lanes / HostWords;
  localparam int unsigned LogHostParts = $clog2(HostParts);
  localparam int unsigned PlaceBits = part_bits(Lanes, HostWords);
  host_t                host_q;
  logic [Cfg.Width-1:0] host_wdata_q [Lanes];
  logic [PlaceBits-1:0] host_wplace;   // part of the row that words are written to
  logic [PlaceBits-1:0] host_rplace;   // that are read; without parts, whether halves are swapped
  logic                 host_last;     // the words are the last of their row
  logic [RowBits-1:0]   host_row;
  logic                 host_swap;
  assign host_row  = host_q.row[LogHostParts+:RowBits];
  assign host_swap = ^host_row;
  if (HostParts > 1) begin : gen_parts
    logic wswap;
    assign wswap = host_i.space == SpacePoly && ^host_i.row[LogHostParts+:RowBits];
    assign host_wplace = (host_i.space == SpacePoly || host_i.space == SpaceKey)
        ? host_i.row[LogHostParts-1:0] ^ (PlaceBits'(wswap) << (LogHostParts - 1)) : '0;
    assign host_rplace = host_q.row[LogHostParts-1:0] ^
                         (PlaceBits'(host_swap) << (LogHostParts - 1));
    assign host_last = &host_q.row[LogHostParts-1:0];
  end else begin : gen_rows
    assign host_wplace = '0;
    assign host_rplace = host_swap;
    assign host_last   = 1'b1;
  end
  always_ff @(posedge clk_i) begin
    host_q <= host_i;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (host_i.we && host_wplace == PlaceBits'(l / HostWords)) begin
        host_wdata_q[l] <= host_wdata_i[l%HostWords][Cfg.Width-1:0];
      end
    end
  end

  logic                           host_poly_we;
  logic [Cfg.Width-1:0]           host_word;
  logic [memory_read_latency():1] host_reads_q;  // reads in progress: bit i began i cycles ago
  assign host_poly_we = host_q.we && host_q.space == SpacePoly && host_last;
  assign host_word    = host_wdata_q[0];

  // ---- modulus banks ----------------------------------------------------------------------------
  logic                  sender;
  logic [PrimeWidth-1:0] set, set_command, host_set;
  assign sender      = command_i.word[SrcLsb+:SrcWidth] == rpau_i;
  assign set_command = (command_i.decoded.uses_src_prime && sender)
                       ? command_i.word[SrcPrimeLsb+:SrcPrimeWidth]
                       : command_i.word[PrimeLsb+:PrimeWidth];
  assign host_set    = host_q.index[PrimeWidth-1:0];

  logic [Cfg.Width-1:0]  main_q, main_mu, dyadic_q, dyadic_mu, coefficient_q, k1, k2;
  logic [ShiftWidth-1:0] main_shift, dyadic_shift;
  logic [IndexWidth-1:0] main_index, dyadic_index;
  rs_rpau_moduli #(
    .Width(Cfg.Width),
    .Sets(Cfg.ModulusBanks)
  ) u_moduli (
    .clk_i,
    .rst_ni,
    .start_main_i(start_i[UnitMain]),
    .set_main_i(set_command),
    .set_main_o(set),
    .q_main_o(main_q),
    .mu_main_o(main_mu),
    .shift_main_o(main_shift),
    .index_main_o(main_index),
    .start_dyadic_i(start_i[UnitDyadic]),
    .set_dyadic_i(set_command),
    .q_dyadic_o(dyadic_q),
    .mu_dyadic_o(dyadic_mu),
    .shift_dyadic_o(dyadic_shift),
    .index_dyadic_o(dyadic_index),
    .start_coefficient_i(start_i[UnitCoefficient] && !command_i.decoded.uses_conversion),
    .set_coefficient_i(set_command),
    .q_coefficient_o(coefficient_q),
    .we_i(host_q.we && host_q.space == SpaceModulus),
    .wset_i(host_set),
    .wrow_i(host_q.row[1:0]),
    .wdata_i(host_word)
  );

  rs_rpau_constants #(
    .Width(Cfg.Width),
    .Words(Cfg.Constants),
    .Sets(Cfg.ModulusBanks)
  ) u_constants (
    .clk_i,
    .start_i(start_i[UnitMain]),
    .set_i(set_command),
    .use_k1_i(command_i.decoded.uses_k1),
    .use_k2_i(command_i.decoded.uses_k2),
    .k1_i(command_i.word[K1Lsb+:K1Width]),
    .k2_i(command_i.word[K2Lsb+:K2Width]),
    .k1_o(k1),
    .k2_o(k2),
    .we_i(host_q.we && host_q.space == SpaceConstant),
    .wset_i(host_set),
    .waddr_i(host_q.row[K1Width-1:0]),
    .wdata_i(host_word)
  );

  // ---- what the interconnect brings -------------------------------------------------------------
  logic                 arrived_valid;
  logic [Cfg.Width-1:0] arrived [Lanes];
  rs_rpau_arrival #(
    .Cfg(Cfg),
    .LinkWidth(LinkWidth)
  ) u_arrival (
    .clk_i,
    .mu_i(main_mu),
    .valid_i(link_valid_i),
    .words_i(link_i),
    .valid_o(arrived_valid),
    .words_o(arrived)
  );

  // ---- memory ports of the units, by unit_e -----------------------------------------------------
  work_read_t           unit_read [Units];
  work_write_t          unit_write [Units];
  key_read_t            key_read [Units];
  logic [Cfg.Width-1:0] key_words [Lanes];
  assign key_read[UnitLink] = '0;

  // ---- main unit --------------------------------------------------------------------------------
  logic [Cfg.Width-1:0] main_operand [3][Lanes];
  logic [Cfg.Width-1:0] main_wdata [Lanes];
  logic                 main_send, main_valid;  // to the interconnect
  logic [Cfg.Width-1:0] main_words [Lanes];
  rs_rpau_main #(
    .Cfg(Cfg)
  ) u_main (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(start_i[UnitMain]),
    .command_i,
    .sender_i(sender),
    .done_o(done_o[UnitMain]),
    .set_i(set),
    .q_i(main_q),
    .mu_i(main_mu),
    .shift_i(main_shift),
    .index_i(main_index),
    .k1_i(k1),
    .k2_i(k2),
    .host_i(host_q),
    .host_word_i(host_word),
    .read_o(unit_read[UnitMain]),
    .key_read_o(key_read[UnitMain]),
    .operand_i(main_operand),
    .key_i(key_words),
    .write_o(unit_write[UnitMain]),
    .wdata_o(main_wdata),
    .link_valid_i(arrived_valid),
    .link_i(arrived),
    .link_send_o(main_send),
    .link_valid_o(main_valid),
    .link_o(main_words)
  );

  // ---- dyadic unit ------------------------------------------------------------------------------
  logic                 dyadic_swap;
  logic [PartBits-1:0]  dyadic_part;
  logic [Cfg.Width-1:0] dyadic_operand [3][DyadicPorts];
  logic [Cfg.Width-1:0] dyadic_wdata [Lanes];
  rs_rpau_dyadic_unit #(
    .Cfg(Cfg)
  ) u_dyadic_unit (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(start_i[UnitDyadic]),
    .command_i,
    .set_i(set_command),
    .done_o(done_o[UnitDyadic]),
    .q_i(dyadic_q),
    .mu_i(dyadic_mu),
    .shift_i(dyadic_shift),
    .index_i(dyadic_index),
    .host_i(host_q),
    .host_word_i(host_word),
    .read_o(unit_read[UnitDyadic]),
    .key_read_o(key_read[UnitDyadic]),
    .swap_o(dyadic_swap),
    .part_o(dyadic_part),
    .operand_i(dyadic_operand),
    .key_i(key_words),
    .write_o(unit_write[UnitDyadic]),
    .wdata_o(dyadic_wdata)
  );

  // ---- link unit, and the interconnect ----------------------------------------------------------
  logic                 link_reads;
  logic [Cfg.Width-1:0] sent [Lanes];
  rs_rpau_port #(
    .Cfg(Cfg)
  ) u_port (
    .clk_i,
    .rst_ni,
    .ring_i,
    .start_i(start_i[UnitLink]),
    .command_i,
    .sender_i(sender),
    .done_o(done_o[UnitLink]),
    .reads_o(link_reads),
    .read_o(unit_read[UnitLink]),
    .words_i(main_operand[2]),
    .write_o(unit_write[UnitLink]),
    .main_send_i(main_send),
    .main_valid_i(main_valid),
    .main_i(main_words),
    .link_valid_i(arrived_valid),
    .link_send_o,
    .link_valid_o,
    .link_o(sent)
  );
  for (genvar l = 0; l < Lanes; l++) begin : gen_sent
    assign link_o[l] = LinkWidth'(sent[l]);
  end

  // ---- coefficient unit -------------------------------------------------------------------------
  localparam int unsigned CoefficientPartBits = part_bits(Lanes, Cfg.Converters);
  logic [CoefficientPartBits-1:0] coefficient_part;
  logic [Cfg.Width-1:0]           coefficient_operand [3][ConverterPorts];
  logic [Cfg.Width-1:0]           coefficient_wdata [Lanes];
  assign key_read[UnitCoefficient] = '0;
  if (Cfg.Converters > 0) begin : gen_coefficient
    logic [Cfg.Width-1:0] x [Cfg.Converters];
    logic [Cfg.Width-1:0] own [Cfg.Converters];
    logic [Cfg.Width-1:0] word [Cfg.Converters];
    rs_rpau_coefficient #(
      .LogN(Cfg.LogN),
      .Cores(Cfg.Cores),
      .Width(Cfg.Width),
      .Rpaus(Cfg.Rpaus),
      .HopCycles(Cfg.HopCycles),
      .Converters(Cfg.Converters)
    ) u_coefficient (
      .clk_i,
      .rst_ni,
      .rpau_i,
      .ring_i,
      .start_i(start_i[UnitCoefficient]),
      .command_i,
      .done_o(done_o[UnitCoefficient]),
      .q_i(coefficient_q),
      .read_o(unit_read[UnitCoefficient]),
      .part_o(coefficient_part),
      .operand_i(coefficient_operand),
      .write_o(unit_write[UnitCoefficient]),
      .wdata_o(coefficient_wdata),
      .x_o(x),
      .own_o(own),
      .word_valid_i,
      .word_i(word)
    );
    for (genvar k = 0; k < Cfg.Converters; k++) begin : gen_word
      assign x_o[k]   = LinkWidth'(x[k]);
      assign own_o[k] = LinkWidth'(own[k]);
      assign word[k]  = word_i[k][Cfg.Width-1:0];
    end
  end else begin : gen_no_coefficient
    assign done_o[UnitCoefficient]     = 1'b0;
    assign unit_read[UnitCoefficient]  = '0;
    assign unit_write[UnitCoefficient] = '0;
    assign coefficient_part            = '0;
    assign coefficient_wdata           = '{default: '0};
    assign x_o                         = '{default: '0};
    assign own_o                       = '{default: '0};
  end

  // ---- memories: the host reads as the main unit and writes as the dyadic one -------------------
  work_read_t           work_read [Units];
  work_write_t          work_write [Units];
  logic [Cfg.Width-1:0] work_wdata [Units][Lanes];
  always_comb begin
    work_read = unit_read;
    if (host_q.re) begin
      work_read[UnitMain].valid   = 1'b1;
      work_read[UnitMain].uses    = 3'b001;
      work_read[UnitMain].poly[0] = host_q.index[DstWidth-1:0];
      work_read[UnitMain].row     = {2{RowWidth'(host_row)}};
    end
    // The address is ahead of the words, which come with host_q. Keys may come while units write.
    work_write = unit_write;
    if (host_i.we && host_i.space == SpacePoly) begin
      work_write[UnitDyadic].poly = host_i.index[DstWidth-1:0];
      work_write[UnitDyadic].row  = {2{RowWidth'(host_i.row[LogHostParts+:RowBits])}};
    end
    if (host_poly_we) work_write[UnitDyadic].valid = 1'b1;

    work_wdata[UnitMain] = main_wdata;
    work_wdata[UnitLink] = arrived;
    work_wdata[UnitCoefficient] = coefficient_wdata;
    for (int unsigned l = 0; l < Lanes; l++) begin
      work_wdata[UnitDyadic][l] = !host_poly_we ? dyadic_wdata[l] :
          host_wdata_q[HostParts == 1 && host_swap ? l ^ Cfg.Cores : l];
    end
  end

  rs_rpau_work_memory #(
    .Cfg(Cfg)
  ) u_work_memory (
    .clk_i,
    .read_i(work_read),
    .write_i(work_write),
    .words_i(work_wdata),
    .main_o(main_operand),
    .dyadic_swap_i(dyadic_swap),
    .dyadic_part_i(dyadic_part),
    .dyadic_o(dyadic_operand),
    .link_busy_i(link_reads),
    .coefficient_part_i(coefficient_part),
    .coefficient_o(coefficient_operand)
  );

  rs_rpau_key_store #(
    .LogN(Cfg.LogN),
    .Cores(Cfg.Cores),
    .Width(Cfg.Width),
    .Polys(Cfg.KeyPolys),
    .Ram(Cfg.KeyRam)
  ) u_key_store (
    .clk_i,
    .we_i(host_q.we && host_q.space == SpaceKey && host_last),
    .windex_i(host_q.index),
    .wrow_i(host_row),
    .wdata_i(host_wdata_q),
    .read_i(key_read),
    .rdata_o(key_words)
  );

  // ---- what the host reads ----------------------------------------------------------------------
  localparam int unsigned HostPlaces = (HostParts > 1) ? HostParts : 2;
  logic                 host_rvalid_q;
  logic [PlaceBits-1:0] host_place;
  rs_delay #(
    .Width(PlaceBits),
    .Depth(memory_read_latency())
  ) u_host_place (
    .clk_i,
    .d_i(host_rplace),
    .d_o(host_place)
  );
  always_ff @(posedge clk_i) begin
    host_reads_q  <= {host_reads_q[memory_read_latency()-1:1], host_q.re};
    host_rvalid_q <= host_reads_q[memory_read_latency()];
  end
  assign host_rvalid_o = host_rvalid_q;
  for (genvar w = 0; w < HostWords; w++) begin : gen_read
    logic [Cfg.Width-1:0] choices [HostPlaces];
    logic [Cfg.Width-1:0] word;
    for (genvar p = 0; p < HostPlaces; p++) begin : gen_place
      localparam int unsigned Lane = (HostParts > 1) ? p * HostWords + w : w ^ (p * Cfg.Cores);
      assign choices[p] = main_operand[0][Lane];
    end
    rs_select #(
      .Width(Cfg.Width),
      .Words(HostPlaces)
    ) u_word (
      .clk_i,
      .index_i(host_place),
      .word_i(choices),
      .word_o(word)
    );
    assign host_rdata_o[w] = LinkWidth'(word);
  end
endmodule
