// Generated from python/ringsmith/backends/vector/isa/isa.yaml by `python -m
// ringsmith.backends.vector.isa.generate`; do not edit.
//
// A structure of a list is there in whole words of 64 bits, the lowest one first; the bits above it
// are zero.
package rs_vector_isa_pkg;
  // Banks of a cluster's scratchpad.
  localparam int unsigned MaxBanks = 8;
  // Clusters of a device.
  localparam int unsigned MaxClusters = 8;
  // Limbs of a transform instruction.
  localparam int unsigned MaxEntries = 8;
  // Stages of an array.
  localparam int unsigned MaxLogRadix = 4;
  // Results of a point instruction in a lane: half of the stages.
  localparam int unsigned MaxPoints = 2;
  // Passes of a direction. In the memory of passes, those of the inverse transform follow those of
  // the forward one.
  localparam int unsigned MaxPasses = 8;
  // Load streams of a cluster.
  localparam int unsigned LoadStreams = 3;
  // Load streams of factors, y0 and y1: the first ones.
  localparam int unsigned FactorStreams = 2;
  // Load stream of x, and of a transform's sources.
  localparam int unsigned StreamX = 2;
  // Bits of the number of a row, or of a limb, in a memory of the cluster.
  localparam int unsigned RowWidth = 16;
  // Bits of the index of a prime: the memory of primes has 256.
  localparam int unsigned PrimeWidth = 8;
  // Bits of a Galois element: below twice the largest ring degree.
  localparam int unsigned ElementWidth = 17;

  // Words of instruction_t in list computing.
  localparam int unsigned InstructionWords = 17;
  // Words of load_t in list loads.
  localparam int unsigned LoadWords = 2;
  // Words of store_t in list stores.
  localparam int unsigned StoreWords = 1;

  // Where an operand comes from.
  typedef enum logic [1:0] {
    // From a bank: its slot is a limb of the scratchpad.
    FromBank = 2'd0,
    // From a load stream: its slot's bank is the number of the stream.
    FromStream = 2'd1,
    // A constant of the instruction, in all lanes.
    FromWord = 2'd2,
    // What x is, at the stage that takes it.
    FromX = 2'd3
  } origin_e;

  // How the network arranges lanes for the units.
  typedef enum logic [1:0] {
    // As they come.
    ArrangeStraight = 2'd0,
    // Bits of L0 reversed, for an inverse transform.
    ArrangeReverse = 2'd1,
    // Lanes rotated back, then bits of L0 reversed.
    ArrangeBack = 2'd2
  } arrange_e;

  // A limb's place in the scratchpad. 19 bits.
  typedef struct packed {
    // The bank.
    logic [$clog2(MaxBanks)-1:0] bank;
    // Number of the limb in the bank.
    logic [RowWidth-1:0] index;
  } slot_t;

  // An operand. 21 bits.
  typedef struct packed {
    // Where it comes from.
    origin_e origin;
    // Of a bank or a stream; else 0.
    slot_t slot;
  } source_t;

  // A limb of a transform. 64 bits.
  typedef struct packed {
    // Index of its prime.
    logic [PrimeWidth-1:0] prime;
    // First row of its table of factors in the twiddle memory.
    logic [RowWidth-1:0] table_row;
    // Where it is read first: a bank, or stream x.
    source_t source;
    // Where the passes work, and the result is.
    slot_t target;
  } entry_t;

  // A result of a point instruction: x*y/f + z, or x*y/f - z, f being the factor of the design. 200
  // bits.
  typedef struct packed {
    // Index of its prime.
    logic [PrimeWidth-1:0] prime;
    // z is subtracted.
    logic subtract;
    // The factor of x: a bank, stream y0 or y1, a constant, or x.
    source_t y;
    // The constant, if y is one; the lowest bits are the word of a design.
    logic [63:0] y_word;
    // The summand: a bank, a constant, or x. None is the constant 0.
    source_t z;
    // The constant, if z is one.
    logic [63:0] z_word;
    // It is written to target.
    logic writes;
    // Its place in the scratchpad.
    slot_t target;
    // It goes to the store stream of its number.
    logic stores;
  } result_t;

  // What an instruction of list computing does. 955 bits.
  typedef struct packed {
    // A point instruction or an automorphism; else a transform.
    logic point;
    // The transform is an inverse one.
    logic inverse;
    // Number of the last entry.
    logic [$clog2(MaxEntries)-1:0] last;
    // Limbs of a transform.
    entry_t [MaxEntries-1:0] entry;
    // X becomes X^element in x; 1: it stays.
    logic [ElementWidth-1:0] element;
    // The operand of all results: a bank, or stream x.
    source_t x;
    // Results of a point instruction. An automorphism has one, whose y is the constant f.
    result_t [MaxPoints-1:0] result;
  } operation_t;

  // An instruction of list computing. 1031 bits.
  typedef struct packed {
    // Cycles after the issue of the instruction before it, at the earliest.
    logic [31:0] gap;
    // Tables of factors that have been loaded before.
    logic [31:0] tables;
    // Limbs that it takes from each load stream.
    logic [LoadStreams-1:0] [3:0] limbs;
    // What it does.
    operation_t operation;
  } instruction_t;

  // An instruction of list loads. 128 bits.
  typedef struct packed {
    // Zero.
    logic [1:0] reserved;
    // To the twiddle memory; else to a load stream.
    logic to_table;
    // Number of the load stream; else 0.
    logic [1:0] stream;
    // Rows that are loaded.
    logic [RowWidth-1:0] rows;
    // First row of the twiddle memory; else 0.
    logic [RowWidth-1:0] table_row;
    // First row in memory, counted in rows.
    logic [31:0] address;
    // Cluster whose stores must have ended before.
    logic [$clog2(MaxClusters)-1:0] after_cluster;
    // How many of them.
    logic [27:0] after_store;
    // Instructions of the cluster's list computing that must have ended before.
    logic [27:0] after_computing;
  } load_t;

  // An instruction of list stores. 64 bits.
  typedef struct packed {
    // Zero.
    logic [14:0] reserved;
    // Number of the store stream: that of a point instruction's result.
    logic stream;
    // Rows that are stored.
    logic [RowWidth-1:0] rows;
    // First row in memory, counted in rows.
    logic [31:0] address;
  } store_t;

  // What the network does with a row, the affine map apart, in this order. 7 bits.
  typedef struct packed {
    // L(k) becomes L(k-1), L0 the last.
    logic rotate;
    // Mask: bits of L0 that change places with the time.
    logic [MaxLogRadix-1:0] exchange;
    // Lanes for the units.
    arrange_e arrange;
  } permute_t;

  // A pass of a transform in the ring of a program. 37 bits.
  typedef struct packed {
    // Mask: positions in L0 whose stages are computed.
    logic [MaxLogRadix-1:0] stages;
    // What the network does.
    permute_t permute;
    // At time c it takes row rotl(c, turn).
    logic [4:0] turn;
    // Of its first factors, in a prime's table.
    logic [RowWidth-1:0] table_row;
    // Row v takes the factors of row v >> shift after it.
    logic [4:0] shift;
  } pass_t;
endpackage
