// RPAU architecture: types of the interfaces inside a device, and latencies.
//
// The latencies are built from the blocks' own; packages.toml names those that the scheduler takes
// from here, and the tests measure every instruction against it. All are counted as in
// rs_arith_pkg: from the cycle in which a value stands at a block's input to the one in which the
// result stands at its output.
package rs_rpau_pkg;
  import rs_arith_pkg::*;
  import rs_ntt_pkg::*;
  import rs_sparse_pkg::*;
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

  // What a design chooses among.
  // generated from rtl/shell/rs_registers.rdl: choices
  typedef enum int unsigned {
    // Broadcasts go from RPAU to RPAU.
    InterconnectRing = 0,
    // Broadcasts go through the device's centre.
    InterconnectGather = 1
  } interconnect_e;
  typedef enum int unsigned {
    // Block RAM.
    RamBlock = 0,
    // UltraRAM.
    RamUltra = 1
  } ram_e;
  typedef enum int unsigned {
    // Nothing: keys are loaded whole.
    PrngNone = 0,
    // Trivium, as many lanes as dyadic cores.
    PrngTrivium = 1
  } prng_e;
  // end of generated

  // A design: all modules that depend on more than a few of these numbers take the whole record.
  // The widest range of a number stands beside it; backends/rpau/design/design.py checks a design.
  typedef struct packed {
    // generated from rtl/shell/rs_registers.rdl: record
    // log2 of the ring degree N. From 8 to 16.
    int unsigned LogN;
    // Bits of a residue word. From 30 to 60.
    int unsigned Width;
    // Number of RPAUs. From 2 to 16.
    int unsigned Rpaus;
    // Butterfly cores of an RPAU; a row of a polynomial has 2*cores words. From 1 to 32.
    int unsigned Cores;
    // Multiply-accumulate lanes of an RPAU; 0: it has no dyadic unit. From 0 to 64.
    int unsigned DyadicCores;
    // Work polynomials of an RPAU. From 4 to 128.
    int unsigned WorkPolys;
    // Polynomials in the key store of an RPAU. From 1 to 4096.
    int unsigned KeyPolys;
    // Words of the constant file of a modulus bank. From 4 to 128.
    int unsigned Constants;
    // Instructions that the program store holds. From 16 to 65536.
    int unsigned ProgramWords;
    // Modular reduction of the multipliers.
    reduction_e Reduction;
    // Modulus banks of an RPAU. From 1 to 8.
    int unsigned ModulusBanks;
    // How a broadcast travels.
    interconnect_e Interconnect;
    // Where twiddle factors come from.
    twiddles_e Twiddles;
    // How many of the work polynomials are kept in UltraRAM. From 0 to 128.
    int unsigned WorkUramPolys;
    // What the key store is kept in.
    ram_e KeyRam;
    // Sparse primes that the multipliers are elaborated for.
    family_e Family;
    // What expands seeded keys.
    prng_e Prng;
    // Entries in the seed store of an RPAU. From 0 to 4096.
    int unsigned Seeds;
    // 1: RPAUs have a link unit, which sends polynomials in parallel with the main unit; 0:
    // they have none.
    bit Link;
    // Doublings of N that the device runs. From 0 to 2.
    int unsigned LargerRings;
    // Halvings of N that the device runs. From 0 to 8.
    int unsigned SmallerRings;
    // Banks of the work polynomials in block RAM; 0: one for each. From 0 to 128.
    int unsigned WorkBlockBanks;
    // How many RPAUs, the last ones, have narrow words. From 0 to 15.
    int unsigned NarrowRpaus;
    // Bits of a word in those; 0: there are none. From 0 to 54.
    int unsigned NarrowWidth;
    // Cycles that words take from one RPAU to the next, or to the device's centre. From 1 to
    // 3.
    int unsigned HopCycles;
    // Base converters of the device; 0: there is no coefficient unit. From 0 to 64.
    int unsigned Converters;
    // Conversions that are loaded at once; 0: there is no converter. From 0 to 32.
    int unsigned Conversions;
    // Modular multipliers of a butterfly core. From 1 to 2.
    int unsigned CoreMultipliers;
    // 1: keys may come while a program runs; 0: before it starts.
    bit KeyStream;
    // end of generated
  } rpau_cfg_t;

  // Design nano.
  localparam rpau_cfg_t DefaultCfg = '{
      // generated from rtl/shell/rs_registers.rdl: default
      LogN: 13,
      Width: 48,
      Rpaus: 5,
      Cores: 4,
      DyadicCores: 2,
      WorkPolys: 16,
      KeyPolys: 48,
      Constants: 64,
      ProgramWords: 1024,
      Reduction: ReductionBarrett,
      ModulusBanks: 1,
      Interconnect: InterconnectRing,
      Twiddles: TwiddlesGenerated,
      WorkUramPolys: 0,
      KeyRam: RamUltra,
      Family: FamilyNone,
      Prng: PrngNone,
      Seeds: 0,
      Link: 1'b0,
      LargerRings: 0,
      SmallerRings: 0,
      WorkBlockBanks: 0,
      NarrowRpaus: 0,
      NarrowWidth: 0,
      HopCycles: 1,
      Converters: 0,
      Conversions: 0,
      CoreMultipliers: 2,
      KeyStream: 1'b0
      // end of generated
  };

  // The record of an RPAU whose words have a width of their own.
  function automatic rpau_cfg_t with_width(rpau_cfg_t cfg, int unsigned width);
    rpau_cfg_t own;
    own       = cfg;
    own.Width = width;
    return own;
  endfunction

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
  function automatic logic [Units-1:0] units_of(rpau_cfg_t cfg);
    logic [Units-1:0] has;
    has                  = '0;
    has[UnitMain]        = 1'b1;
    has[UnitDyadic]      = cfg.DyadicCores > 0;
    has[UnitLink]        = cfg.Link;
    has[UnitCoefficient] = cfg.Converters > 0;
    return has;
  endfunction

  // Operands that the units of a design read from the work memory, by unit_e and operand.
  typedef logic [Units-1:0][2:0] operands_t;
  function automatic operands_t operands_of(rpau_cfg_t cfg);
    operands_t reads;
    reads                  = '0;
    reads[UnitMain]        = 3'b111;
    reads[UnitDyadic]      = (cfg.DyadicCores > 0) ? 3'b111 : 3'b000;
    reads[UnitLink]        = cfg.Link ? 3'b001 : 3'b000;
    reads[UnitCoefficient] = (cfg.Converters > 0) ? 3'b011 : 3'b000;
    return reads;
  endfunction

  // Whether a design has each optional feature that some instructions need, by feature_e.
  function automatic logic [Features-1:0] features_of(rpau_cfg_t cfg);
    logic [Features-1:0] has;
    has                   = '0;
    has[NeedsLargerRings] = cfg.LargerRings > 0;
    has[NeedsSeeds]       = cfg.Seeds > 0;
    has[NeedsKeyStream]   = cfg.KeyStream;
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
  function automatic int unsigned interconnect_hops(rpau_cfg_t cfg);
    return (cfg.Interconnect == InterconnectGather) ? 2 : cfg.Rpaus - 1;
  endfunction

  // The same in cycles, to the last words in an RPAU: where some RPAUs have narrow words, they
  // shorten arriving words, and all others wait for the same time.
  function automatic int unsigned interconnect_latency(rpau_cfg_t cfg);
    return interconnect_hops(cfg) * cfg.HopCycles +
           ((cfg.NarrowRpaus > 0) ? mod_shorten_latency() : 0);
  endfunction

  // The last row's address to the last write of a broadcast, in the RPAU that the words reach last.
  function automatic int unsigned broadcast_read_to_write(int unsigned reduction,
                                                          int unsigned hops);
    return read_to_write(reduction) - 1 + hops + receive_to_write(reduction);
  endfunction

  // The ring of degree 2^log_degree on a device.
  function automatic ring_t device_ring(rpau_cfg_t cfg, int unsigned log_degree);
    return ring_of(cfg.Reduction, cfg.LogN, $clog2(2 * cfg.Cores), log_degree);
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
  function automatic int unsigned host_index_bits(rpau_cfg_t cfg);
    int unsigned indices;
    indices = cfg.WorkPolys;
    if (cfg.KeyPolys > indices) indices = cfg.KeyPolys;
    if (cfg.ModulusBanks > indices) indices = cfg.ModulusBanks;
    if (cfg.Seeds > indices) indices = cfg.Seeds;
    return $clog2(indices);
  endfunction

  function automatic int unsigned host_row_bits(rpau_cfg_t cfg);
    int unsigned bits, max_log_n, table_bits;
    bits       = cfg.LogN - $clog2(host_words(2 * cfg.Cores));
    max_log_n  = cfg.LogN + cfg.LargerRings;
    table_bits = (cfg.Twiddles == TwiddlesStored) ? max_log_n : twiddle_lo_bits(max_log_n);
    if (table_bits > bits) bits = table_bits;
    if ($clog2(cfg.Constants) > bits) bits = $clog2(cfg.Constants);
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
