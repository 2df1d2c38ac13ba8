// RPAU architecture: types of the interfaces inside a device, and latencies.
//
// The latencies are built from the blocks' own; backends/rpau/design/latency.py holds the
// same functions for the scheduler, and the tests measure every instruction against it. All are
// counted as in rs_arith_pkg: from the cycle in which a value stands at a block's input to the one
// in which the result stands at its output.
package rs_rpau_pkg;
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_prng_pkg::*;
  import rs_rpau_isa_pkg::*;

  localparam int unsigned UramWords = 4096;  // of an UltraRAM

  localparam int unsigned ResetCycles = 128;  // longer than any pipeline from valid to write

  localparam int unsigned SpaceWidth = 4;
  // Memories that the host reaches.
  typedef enum logic [SpaceWidth-1:0] {
    // generated from rtl/shell/rs_registers.rdl: spaces
    // Work polynomials: N words in logical order, in rings below N as many as the ring's
    // degree; written and read.
    SpacePoly = 4'd0,
    // Key store: as many words in logical order; written only, as all below.
    SpaceKey = 4'd1,
    // Constant file of a modulus bank; one word a row, in lane 0, as all below.
    SpaceConstant = 4'd2,
    // q, mu, bits of q, and its index in the family, of a modulus bank.
    SpaceModulus = 4'd3,
    // The lower table of twiddle factors of a modulus bank, psi^e.
    SpaceTwiddleLo = 4'd4,
    // The upper table of twiddle factors of a modulus bank, psi^(e << LoBits).
    SpaceTwiddleHi = 4'd5,
    // All N twiddle factors of a modulus bank, psi^brev(j), where factors are stored and the
    // two tables above are not there.
    SpaceTwiddle = 4'd6,
    // An entry of the seed store: four words of 20 bits, the seed, lowest first; the limb.
    SpaceSeed = 4'd7,
    // A loaded conversion of the device, addressed as RPAU 0: word (16 * kind + column) * 16
    // + row, as docs/reference/baseconv.md numbers them.
    SpaceConversion = 4'd8
    // end of generated
  } space_e;
  localparam int unsigned ModulusWords = 4;
  localparam int unsigned SeedWordBits = 20;
  localparam int unsigned SeedWords = 5;
  localparam int unsigned ConversionWords = 1 << 11;  // addresses: not all of them hold a word

  // Values of the parameters Interconnect, Twiddles, KeyRam and Prng.
  localparam int unsigned InterconnectRing = 0;
  localparam int unsigned InterconnectGather = 1;
  localparam int unsigned RamBlock = 0;
  localparam int unsigned RamUltra = 1;
  localparam int unsigned PrngNone = 0;
  localparam int unsigned PrngTrivium = 1;

  localparam int unsigned HostIndexWidth = BKeyWidth;  // a polynomial or modulus bank of a memory
  localparam int unsigned RowWidth = RingWidth;  // a row of any address space
  localparam int unsigned HostBeatWords = 8;  // words at the host's port, at most
  localparam int unsigned RpauWidth = SrcWidth;

  // Capabilities that a device reports: its parameters, in this order.
  localparam int unsigned CapabilityBits = 32;
  typedef enum int unsigned {
    // generated from rtl/shell/rs_registers.rdl: capabilities
    CapabilityLogN,
    CapabilityWidth,
    CapabilityRpaus,
    CapabilityCores,
    CapabilityDyadicCores,
    CapabilityWorkPolys,
    CapabilityKeyPolys,
    CapabilityConstants,
    CapabilityProgramWords,
    CapabilityReduction,
    CapabilityModulusBanks,
    CapabilityInterconnect,
    CapabilityTwiddles,
    CapabilityWorkUramPolys,
    CapabilityKeyRam,
    CapabilityFamily,
    CapabilityPrng,
    CapabilitySeeds,
    CapabilityLink,
    CapabilityLargerRings,
    CapabilitySmallerRings,
    CapabilityWorkBlockBanks,
    CapabilityNarrowRpaus,
    CapabilityNarrowWidth,
    CapabilityHopCycles,
    CapabilityConverters,
    CapabilityConversions,
    CapabilityCoreMultipliers,
    CapabilityKeyStream,
    // end of generated
    CapabilityCount
  } capability_e;

  // One access of the host to one RPAU. Rows are those of its port: see host_words().
  typedef struct packed {
    logic                  we;
    logic                  re;
    space_e                 space;
    logic [HostIndexWidth-1:0] index;
    logic [RowWidth-1:0]   row;
  } host_t;

  // An instruction on its way from the controller to the RPAUs.
  typedef struct packed {
    decoded_t decoded;
    word_t    word;
  } command_t;

  // A unit's read port to work polynomials: operands a, b and c (numbers 0, 1, 2), of the same
  // rows.
  typedef struct packed {
    logic                     valid;
    logic [2:0]               uses;  // by operand
    logic [2:0][DstWidth-1:0] poly;  // by operand
    logic [1:0][RowWidth-1:0] row;   // of each half of a row
  } work_read_t;

  // A unit's write port: poly and row come a cycle before valid and the words.
  typedef struct packed {
    logic                     valid;
    logic [DstWidth-1:0]      poly;
    logic [1:0][RowWidth-1:0] row;   // of each half of a row
  } work_write_t;

  // A unit's read port to the key store.
  typedef struct packed {
    logic                      valid;
    logic [HostIndexWidth-1:0] poly;
    logic [RowWidth-1:0]       row;
  } key_read_t;

  // Units of the RPAUs of a design, by unit_e.
  function automatic logic [Units-1:0] units_of(int unsigned dyadic_cores, int unsigned link,
                                                int unsigned converters);
    logic [Units-1:0] has;
    has             = '0;
    has[UnitMain]   = 1'b1;
    has[UnitDyadic] = dyadic_cores > 0;
    has[UnitLink]   = link > 0;
    has[UnitCoefficient] = converters > 0;
    return has;
  endfunction

  // Operands that the units of a design read from the work memory, by unit_e and operand.
  typedef logic [Units-1:0][2:0] operands_t;
  function automatic operands_t operands_of(int unsigned dyadic_cores, int unsigned link,
                                            int unsigned converters);
    operands_t reads;
    reads             = '0;
    reads[UnitMain]   = 3'b111;
    reads[UnitDyadic] = (dyadic_cores > 0) ? 3'b111 : 3'b000;
    reads[UnitLink]   = (link > 0) ? 3'b001 : 3'b000;
    reads[UnitCoefficient] = (converters > 0) ? 3'b011 : 3'b000;
    return reads;
  endfunction

  // Whether a design has each optional feature that some instructions need, by feature_e.
  function automatic logic [Features-1:0] features_of(int unsigned larger_rings,
                                                      int unsigned seeds, int unsigned key_stream);
    logic [Features-1:0] has;
    has                   = '0;
    has[NeedsLargerRings] = larger_rings > 0;
    has[NeedsSeeds]       = seeds > 0;
    has[NeedsKeyStream]   = key_stream > 0;
    return has;
  endfunction

  // Bits of a part's number, where a row of `lanes` words is taken in parts of `words` words.
  function automatic int unsigned part_bits(int unsigned lanes, int unsigned words);
    return (words > 0 && lanes > words) ? $clog2(lanes / words) : 1;
  endfunction

  // Words of the interconnect at the lanes to their results at the memory's write port.
  function automatic int unsigned receive_to_write(int unsigned reduction);
    return lanes_latency(reduction) - lanes_wait() + 1;
  endfunction

  // rs_ntt_pkg::read_to_write for a sum, which uses no multiplier.
  function automatic int unsigned sum_read_to_write(int unsigned reduction);
    return read_to_write(reduction) - 1 - mod_mul_latency(reduction);
  endfunction

  // Words of the sender at the interconnect to the RPAU that they reach last.
  function automatic int unsigned interconnect_hops(int unsigned style, int unsigned rpaus);
    return (style == InterconnectGather) ? 2 : rpaus - 1;
  endfunction

  // The same in cycles, to the last words in an RPAU: where some RPAUs have narrow words, they
  // shorten arriving words, and all others wait for the same time.
  function automatic int unsigned interconnect_latency(int unsigned style, int unsigned rpaus,
                                                       int unsigned hop_cycles,
                                                       int unsigned narrow_rpaus);
    return interconnect_hops(style, rpaus) * hop_cycles +
           ((narrow_rpaus > 0) ? mod_shorten_latency() : 0);
  endfunction

  // The last row's address to the last write of a broadcast, in the RPAU that the words reach last.
  function automatic int unsigned broadcast_read_to_write(int unsigned reduction,
                                                          int unsigned hops);
    return read_to_write(reduction) - 1 + hops + receive_to_write(reduction);
  endfunction

  // Cycles by which the rows of an instruction that expands a seed start later than others. The
  // expander starts a cycle after the command. A row's words are in their registers after the
  // command, the counters, the row address and the memory.
  function automatic int unsigned seed_lead(int unsigned lanes);
    return 1 + expander_latency(lanes) - (3 + memory_read_latency());
  endfunction

  // Words at the host's port: a row of a memory, or a part of one that is longer than a beat of
  // the data path. A beat's words have at most 512 bits.
  function automatic int unsigned host_words(int unsigned lanes);
    return (lanes < HostBeatWords) ? lanes : HostBeatWords;
  endfunction

  // Bits of an index of any address space, and of a row at the host's port.
  function automatic int unsigned host_index_bits(int unsigned work_polys, int unsigned key_polys,
                                                  int unsigned modulus_banks, int unsigned seeds);
    int unsigned indices;
    indices = work_polys;
    if (key_polys > indices) indices = key_polys;
    if (modulus_banks > indices) indices = modulus_banks;
    if (seeds > indices) indices = seeds;
    return $clog2(indices);
  endfunction

  function automatic int unsigned host_row_bits(int unsigned log_n, int unsigned lanes,
                                                int unsigned constants, int unsigned max_log_n,
                                                int unsigned twiddles);
    int unsigned bits, table_bits;
    bits       = log_n - $clog2(host_words(lanes));
    table_bits = (twiddles == TwiddlesStored) ? max_log_n : twiddle_lo_bits(max_log_n);
    if (table_bits > bits) bits = table_bits;
    if ($clog2(constants) > bits) bits = $clog2(constants);
    return bits;
  endfunction

  // Request of a read at an RPAU to the words there: a register before and one after the memory.
  function automatic int unsigned rpau_read_latency();
    return 1 + memory_read_latency() + 1;
  endfunction

  // Host: request at the device's port to read data valid there. Each direction has a register for
  // each RPAU: rs_rpau_chain.
  function automatic int unsigned host_read_latency(int unsigned rpaus);
    return 2 * rpaus + rpau_read_latency();
  endfunction

  // Last row of a key polynomial at the host's port to the issue of the instruction that waits
  // for it: the chain to the last RPAU, the count, and the comparison. The row is in its memory by
  // then; an instruction that reads it issues even later.
  function automatic int unsigned arrival_latency(int unsigned rpaus);
    return rpaus + 2;
  endfunction

endpackage
