// An accelerator of the RPAU architecture: RPAUs, their interconnect and the program controller.
//
// Cfg is the record of a design, which backends/rpau/design/design.py checks.
//
//   host_*     One access a cycle, only while busy_o is low, to memory host_space_i (space_e of
//              rs_rpau_pkg) of RPAU host_rpau_i. In the address spaces poly and key, word j of
//              polynomial host_index_i is word j mod HostWords of row j / HostWords. Rows of these
//              are written by 2*Cores words, in order: the memory takes them with the last. The
//              other address spaces have one word a row, word 0, for each modulus bank, or seed,
//              host_index_i. Only the address space poly is read: the row comes with host_rvalid_o,
//              rs_rpau_pkg::host_read_latency() cycles later, one read a cycle; until the last is
//              there, host_space_i, host_rpau_i and host_index_i hold still, and nothing is
//              written. While host_busy_o is high, an access is in progress, and no program may
//              start. With KeyStream, rows of the address space key are written while a program
//              runs, too, where it was started with streamed_i: the polynomials that it awaits, in
//              its order. One has arrived rs_rpau_pkg::arrival_latency() cycles after its last row
//              stood at the port.
//   program_*  One instruction a cycle, only while busy_o is low.
//   ring_i     log2 of the degree of the ring that a program runs in; taken with start_i.
//   start_i    Starts the program at word 0 while busy_o is low; busy_o is high from the next cycle
//              until halt has issued. streamed_i, taken with it: its keys come while it runs.
//   arrived_o, awaited_o   Number of key polynomials that have come since the start, and number
//              that the program waits for, or 0.
//   cycles_o, instructions_o   Of the running program, or of the last one.
//   error_o    The last program ended at an opcode that does not exist.
//   design_o   What the device is, constant: its parameters in the order of
//              rs_rpau_pkg::capability_e.
//
// Words of the last NarrowRpaus RPAUs have NarrowWidth bits, all others, and those of the host port
// and the interconnect, Width bits. The host writes a narrow RPAU no word that is too wide for it.
//
// Reset is synchronous and active low, and does not change memories. Most pipelines have no reset:
// hold it for rs_rpau_pkg::ResetCycles cycles, until they are empty.
`include "rs_assert.svh"

module rs_rpau_top
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned HostWords = host_words(Lanes),
  localparam int unsigned ConverterPorts = (Cfg.Converters > 0) ? Cfg.Converters : 1,
  localparam int unsigned ProgramAddrWidth = $clog2(Cfg.ProgramWords)
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,

  input  logic                        host_we_i,
  input  logic                        host_re_i,
  input  logic [SpaceWidth-1:0]       host_space_i,
  input  logic [RpauWidth-1:0]        host_rpau_i,
  input  logic [HostIndexWidth-1:0]   host_index_i,
  input  logic [RowWidth-1:0]         host_row_i,
  input  logic [Cfg.Width-1:0]        host_wdata_i [HostWords],
  output logic                        host_rvalid_o,
  output logic [Cfg.Width-1:0]        host_rdata_o [HostWords],
  output logic                        host_busy_o,

  input  logic                        program_we_i,
  input  logic [ProgramAddrWidth-1:0] program_addr_i,
  input  logic [WordBits-1:0]         program_data_i,

  input  logic [4:0]                  ring_i,
  input  logic                        start_i,
  input  logic                        streamed_i,
  output logic [ArrivedWidth-1:0]     arrived_o,
  output logic [ArrivedWidth-1:0]     awaited_o,
  output logic                        busy_o,
  output logic                        error_o,
  output logic [63:0]                 cycles_o,
  output logic [63:0]                 instructions_o,

  output logic [CapabilityBits-1:0]   design_o [CapabilityCount]
);
  // generated from rtl/shell/rs_registers.rdl: capabilities
  assign design_o[CapabilityLogN] = CapabilityBits'(Cfg.LogN);
  assign design_o[CapabilityWidth] = CapabilityBits'(Cfg.Width);
  assign design_o[CapabilityRpaus] = CapabilityBits'(Cfg.Rpaus);
  assign design_o[CapabilityCores] = CapabilityBits'(Cfg.Cores);
  assign design_o[CapabilityDyadicCores] = CapabilityBits'(Cfg.DyadicCores);
  assign design_o[CapabilityWorkPolys] = CapabilityBits'(Cfg.WorkPolys);
  assign design_o[CapabilityKeyPolys] = CapabilityBits'(Cfg.KeyPolys);
  assign design_o[CapabilityConstants] = CapabilityBits'(Cfg.Constants);
  assign design_o[CapabilityProgramWords] = CapabilityBits'(Cfg.ProgramWords);
  assign design_o[CapabilityReduction] = CapabilityBits'(Cfg.Reduction);
  assign design_o[CapabilityModulusBanks] = CapabilityBits'(Cfg.ModulusBanks);
  assign design_o[CapabilityInterconnect] = CapabilityBits'(Cfg.Interconnect);
  assign design_o[CapabilityTwiddles] = CapabilityBits'(Cfg.Twiddles);
  assign design_o[CapabilityWorkUramPolys] = CapabilityBits'(Cfg.WorkUramPolys);
  assign design_o[CapabilityKeyRam] = CapabilityBits'(Cfg.KeyRam);
  assign design_o[CapabilityFamily] = CapabilityBits'(Cfg.Family);
  assign design_o[CapabilityPrng] = CapabilityBits'(Cfg.Prng);
  assign design_o[CapabilitySeeds] = CapabilityBits'(Cfg.Seeds);
  assign design_o[CapabilityLink] = CapabilityBits'(Cfg.Link);
  assign design_o[CapabilityLargerRings] = CapabilityBits'(Cfg.LargerRings);
  assign design_o[CapabilitySmallerRings] = CapabilityBits'(Cfg.SmallerRings);
  assign design_o[CapabilityWorkBlockBanks] = CapabilityBits'(Cfg.WorkBlockBanks);
  assign design_o[CapabilityNarrowRpaus] = CapabilityBits'(Cfg.NarrowRpaus);
  assign design_o[CapabilityNarrowWidth] = CapabilityBits'(Cfg.NarrowWidth);
  assign design_o[CapabilityHopCycles] = CapabilityBits'(Cfg.HopCycles);
  assign design_o[CapabilityConverters] = CapabilityBits'(Cfg.Converters);
  assign design_o[CapabilityConversions] = CapabilityBits'(Cfg.Conversions);
  assign design_o[CapabilityCoreMultipliers] = CapabilityBits'(Cfg.CoreMultipliers);
  assign design_o[CapabilityKeyStream] = CapabilityBits'(Cfg.KeyStream);
  // end of generated

  ring_t ring_d, ring_q;
  always_comb begin
    ring_d = device_ring(Cfg, Cfg.LogN);
    for (int unsigned r = Cfg.LogN - Cfg.SmallerRings; r <= Cfg.LogN + Cfg.LargerRings; r++) begin
      if (ring_i == 5'(r)) ring_d = device_ring(Cfg, r);
    end
  end
  always_ff @(posedge clk_i) begin
    if (start_i && !busy_o) ring_q <= ring_d;
  end

  // A key polynomial arrives with its last row, which takes a cycle an RPAU to get there.
  logic arrived;
  if (Cfg.KeyStream) begin : gen_key_stream
    localparam int unsigned RowParts = Lanes / HostWords;  // rows of the host's port in a memory's
    logic [RowWidth-1:0] last_row;
    logic                last;
    assign last_row = RowWidth'((32'(ring_q.last_row) + 1) * RowParts - 1);
    assign last     = busy_o && host_we_i && host_space_i == SpaceKey && host_row_i == last_row;
    rs_delay #(
      .Width(1),
      .Depth(arrival_latency(Cfg.Rpaus) - 2)
    ) u_arrived (
      .clk_i,
      .d_i(last),
      .d_o(arrived)
    );
  end else begin : gen_no_key_stream
    assign arrived = 1'b0;
  end

  command_t                        command;
  logic [Cfg.Rpaus-1:0][Units-1:0] start, done;
  rs_rpau_controller #(
    .Rpaus(Cfg.Rpaus),
    .ProgramWords(Cfg.ProgramWords),
    .HasUnits(units_of(Cfg)),
    .HasFeatures(features_of(Cfg))
  ) u_controller (
    .clk_i,
    .rst_ni,
    .program_we_i,
    .program_addr_i,
    .program_data_i,
    .start_i,
    .streamed_i,
    .arrived_i(arrived),
    .arrived_o,
    .awaited_o,
    .busy_o,
    .error_o,
    .cycles_o,
    .instructions_o,
    .command_o(command),
    .start_o(start),
    .done_i(done)
  );

  host_t                host;
  host_t                rpau_host [Cfg.Rpaus];
  logic [Cfg.Rpaus-1:0] read_valid;
  logic [Cfg.Width-1:0] host_words_of [Cfg.Rpaus][HostWords];
  logic [Cfg.Width-1:0] read_words [Cfg.Rpaus][HostWords];
  assign host = '{
          we: host_we_i,
          re: host_re_i,
          space: space_e'(host_space_i),
          index: host_index_i,
          row: host_row_i
      };
  rs_rpau_chain #(
    .Rpaus(Cfg.Rpaus),
    .Words(HostWords),
    .Width(Cfg.Width),
    .IndexBits(host_index_bits(Cfg)),
    .RowBits(host_row_bits(Cfg))
  ) u_chain (
    .clk_i,
    .host_i(host),
    .rpau_i(host_rpau_i),
    .wdata_i(host_wdata_i),
    .rvalid_o(host_rvalid_o),
    .rdata_o(host_rdata_o),
    .busy_o(host_busy_o),
    .host_o(rpau_host),
    .wdata_o(host_words_of),
    .rvalid_i(read_valid),
    .rdata_i(read_words)
  );

  logic [Cfg.Rpaus-1:0] send, send_valid, receive_valid;
  logic [Cfg.Width-1:0] send_words [Cfg.Rpaus][Lanes];
  logic [Cfg.Width-1:0] receive_words [Cfg.Rpaus][Lanes];

  logic [Cfg.Width-1:0] x [Cfg.Rpaus][ConverterPorts];
  logic [Cfg.Width-1:0] own [Cfg.Rpaus][ConverterPorts];
  logic [Cfg.Width-1:0] converted [Cfg.Rpaus][ConverterPorts];
  logic [Cfg.Rpaus-1:0] converted_valid;

  for (genvar r = 0; r < Cfg.Rpaus; r++) begin : gen_rpau
    localparam bit Narrow = r >= Cfg.Rpaus - Cfg.NarrowRpaus;

    // The command as it arrives at the RPAU. It is loaded only with the RPAU's own start, so that
    // synthesis does not merge the registers of all RPAUs.
    command_t         command_q;
    logic [Units-1:0] start_q;
    always_ff @(posedge clk_i) begin
      start_q <= rst_ni ? start[r] : '0;
      if (|start[r]) command_q <= command;
    end

    rs_rpau #(
      .Cfg(with_width(Cfg, Narrow ? Cfg.NarrowWidth : Cfg.Width)),
      .LinkWidth(Cfg.Width)
    ) u_rpau (
      .clk_i,
      .rst_ni,
      .rpau_i(RpauWidth'(r)),
      .ring_i(ring_q),
      .start_i(start_q),
      .command_i(command_q),
      .done_o(done[r]),
      .host_i(rpau_host[r]),
      .host_wdata_i(host_words_of[r]),
      .host_rvalid_o(read_valid[r]),
      .host_rdata_o(read_words[r]),
      .link_valid_i(receive_valid[r]),
      .link_i(receive_words[r]),
      .link_send_o(send[r]),
      .link_valid_o(send_valid[r]),
      .link_o(send_words[r]),
      .x_o(x[r]),
      .own_o(own[r]),
      .word_valid_i(converted_valid[r]),
      .word_i(converted[r])
    );
  end

  if (Cfg.Converters > 0) begin : gen_converters
    // The command as it arrives at the converters, as at the RPAUs.
    logic                       start_q;
    logic [ConversionWidth-1:0] table_q;
    always_ff @(posedge clk_i) begin
      start_q <= rst_ni && start[0][UnitCoefficient] && command.decoded.uses_conversion;
      table_q <= command.word[ConversionLsb+:ConversionWidth];
    end
    rs_rpau_converters #(
      .Cfg(Cfg),
      .Converters(Cfg.Converters),
      .Conversions(Cfg.Conversions)
    ) u_converters (
      .clk_i,
      .rst_ni,
      .ring_i(ring_q),
      .start_i(start_q),
      .table_i(table_q),
      .load_i(host_we_i && host_space_i == SpaceConversion),
      .load_table_i(host_index_i),
      .load_row_i(host_row_i),
      .load_word_i(host_wdata_i[0]),
      .x_i(x),
      .own_i(own),
      .word_valid_o(converted_valid),
      .word_o(converted)
    );
  end else begin : gen_no_converters
    assign converted_valid = '0;
    assign converted       = '{default: '0};
  end

  if (Cfg.Interconnect == InterconnectGather) begin : gen_gather
    rs_rpau_gather #(
      .Cfg(Cfg)
    ) u_gather (
      .clk_i,
      .rst_ni,
      .send_i(send),
      .valid_i(send_valid),
      .words_i(send_words),
      .valid_o(receive_valid),
      .words_o(receive_words)
    );
  end else begin : gen_ring
    rs_rpau_ring #(
      .Cfg(Cfg)
    ) u_ring (
      .clk_i,
      .rst_ni,
      .send_i(send),
      .valid_i(send_valid),
      .words_i(send_words),
      .valid_o(receive_valid),
      .words_o(receive_words)
    );
  end

  `RS_ASSERT(RunsTheRing_A,
             !(start_i && !busy_o) || (32'(ring_i) >= Cfg.LogN - Cfg.SmallerRings &&
                 32'(ring_i) <= Cfg.LogN + Cfg.LargerRings),
             $sformatf("a program starts in a ring of degree 2^%0d", ring_i))
  `RS_ASSERT(HostWhileIdle_A,
             !((host_we_i || host_re_i) && busy_o) ||
             (Cfg.KeyStream && host_we_i && host_space_i == SpaceKey),
             "the host reaches into a memory while a program runs")
  `RS_ASSERT(StartAfterHost_A, !(start_i && !busy_o && host_busy_o),
             "a program starts while an access of the host is in progress")
  `RS_ASSERT(ReadsWorkPolynomials_A, !host_re_i || host_space_i == SpacePoly,
             $sformatf("the host reads address space %0d: only work polynomials can be read",
                 host_space_i))
endmodule
