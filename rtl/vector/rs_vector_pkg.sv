// Architecture vector: types and latencies of one cluster's datapath; docs/reference/vector.md
// describes it. What an instruction holds is in rs_vector_isa_pkg.
//
// Latencies are counted as in rs_arith_pkg. A time below is a number of cycles after a stage's, a
// unit's or the network's operands enter.
`include "rs_axi.svh"

package rs_vector_pkg;
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;
  import rs_vector_isa_pkg::*;

  // What a design chooses among.
  typedef enum int unsigned {
    VectorBarrett    = 0,  // any odd modulus of Width / 2 to Width bits
    VectorMontgomery = 1   // primes that are 1 modulo 2^StepBits
  } vector_reduction_e;
  typedef enum int unsigned {
    BankBlock = 0,  // block RAM
    BankUltra = 1   // UltraRAM
  } bank_ram_e;

  // A design. Modules that depend on more than a few of these numbers take the whole record;
  // backends/vector/design/rtl.py writes it from a design, which backends/vector/design/design.py
  // checks.
  typedef struct packed {
    int unsigned Width;            // bits of a word
    vector_reduction_e Reduction;  // of the multipliers
    int unsigned StepBits;         // bits that a step of Montgomery's reduction removes
    int unsigned LogLanes;         // log2 of the words of a row
    int unsigned LogRadix;         // log2 of a unit's words: 2 or 4
    int unsigned Banks;            // of a cluster's scratchpad
    int unsigned BankRows;         // of each
    int unsigned TableRows;        // of the twiddle memory
    int unsigned StreamRows;       // of each stream
    bank_ram_e BankRam;            // what the banks are kept in
    int unsigned Clusters;         // of the accelerator
    int unsigned Ports;            // of a cluster, for rows
    int unsigned PortBits;         // bits of a beat at each
    int unsigned SpanBits;         // log2 of the bytes of a port's memory
    int unsigned BurstBeats;       // beats of a burst, at most
    int unsigned Outstanding;      // bursts on their way at a port, at most
    int unsigned AddrWidth;        // bits of an address of memory
  } vector_cfg_t;

  localparam vector_cfg_t DefaultCfg = '{
      Width: 32,
      Reduction: VectorMontgomery,
      StepBits: 17,
      LogLanes: 4,
      LogRadix: 2,
      Banks: 4,
      BankRows: 1024,
      TableRows: 1024,
      StreamRows: 512,
      BankRam: BankBlock,
      Clusters: 1,
      Ports: 2,
      PortBits: 256,
      SpanBits: 28,
      BurstBeats: 16,
      Outstanding: 16,
      AddrWidth: 40
  };

  // The read latency of the twiddle memory.
  localparam int unsigned TableLatency = 2;

  // What a unit does with a row that comes from the network.
  typedef struct packed {
    logic                   inverse;
    logic [MaxLogRadix-1:0] stages;   // mask of positions in L0
  } transform_t;

  // What the array does with a row.
  typedef struct packed {
    logic                 valid;
    logic                 point;      // a point operation, and not a pass of a transform
    transform_t           transform;
    permute_t             permute;
    logic [MaxPoints-1:0] subtract;   // of each result of a point operation: x*y - z
    logic [MaxPoints-1:0] y_is_x;     // its y is its x
    logic [MaxPoints-1:0] z_is_x;
  } row_t;

  // ---- ALU --------------------------------------------------------------------------------------

  // Montgomery's reduction in two steps, where words are that short.
  function automatic bit product_two_steps(vector_cfg_t cfg);
    return cfg.Reduction == VectorMontgomery && fits_two_steps(cfg.Width, cfg.StepBits);
  endfunction

  function automatic int unsigned product_latency(vector_cfg_t cfg);
    if (product_two_steps(cfg)) return mod_mul_two_steps_latency();
    if (cfg.Reduction == VectorMontgomery)
      return mod_mul_montgomery_latency(cfg.Width, cfg.StepBits);
    return mod_mul_barrett_latency();
  endfunction

  // Moduli of a multiplier: the cycles in which it takes the modulus of one product.
  function automatic int unsigned product_moduli(vector_cfg_t cfg);
    if (product_two_steps(cfg)) return TwoStepsModuli;
    if (cfg.Reduction == VectorMontgomery) return scale_steps(cfg.Width, cfg.StepBits) + 1;
    return 1;
  endfunction

  // Cycles from its operands to modulus i.
  function automatic int unsigned product_modulus_time(vector_cfg_t cfg, int unsigned i);
    if (product_two_steps(cfg)) return two_steps_modulus_time(i);
    if (cfg.Reduction == VectorMontgomery) return mul_latency() + 1 + i * scale_step_latency();
    return 0;
  endfunction

  // From the words of an ALU to its factor: sum or difference, and its correction.
  function automatic int unsigned factor_time();
    return 2;
  endfunction

  // From the words of an ALU to the sums behind its multiplier.
  function automatic int unsigned combine_time(vector_cfg_t cfg);
    return factor_time() + product_latency(cfg);
  endfunction

  function automatic int unsigned alu_latency(vector_cfg_t cfg);
    return combine_time(cfg) + 2;
  endfunction

  // Moduli of an ALU: in front of the multiplier, its own, and behind it.
  function automatic int unsigned alu_moduli(vector_cfg_t cfg);
    return product_moduli(cfg) + 2;
  endfunction

  function automatic int unsigned alu_modulus_time(vector_cfg_t cfg, int unsigned i);
    if (i == 0) return 1;
    if (i + 1 == alu_moduli(cfg)) return combine_time(cfg) + 1;
    return factor_time() + product_modulus_time(cfg, i - 1);
  endfunction

  // ---- units ------------------------------------------------------------------------------------

  // From the words of a stage to its factors, which a register passes on to the ALUs.
  function automatic int unsigned stage_factor_time();
    return factor_time() - 1;
  endfunction

  // Lower position of the pair of words that ALU k of a stage takes.
  function automatic int unsigned pair_low(int unsigned log_radix, int unsigned stage,
                                           int unsigned k);
    int unsigned position;
    position = log_radix - 1 - stage;
    return ((k >> position) << (position + 1)) | (k & ((1 << position) - 1));
  endfunction

  function automatic int unsigned reversed(int unsigned bits, int unsigned value);
    int unsigned found;
    found = 0;
    for (int unsigned i = 0; i < bits; i++) found |= (value >> i & 1) << (bits - 1 - i);
    return found;
  endfunction

  // Which word of its row of factors ALU k of a stage takes.
  function automatic int unsigned forward_node(int unsigned log_radix, int unsigned stage,
                                               int unsigned k);
    return (1 << stage) + (k >> (log_radix - 1 - stage));
  endfunction
  function automatic int unsigned inverse_node(int unsigned log_radix, int unsigned stage,
                                               int unsigned k);
    int unsigned position;
    position = log_radix - 1 - stage;
    return (1 << position) + reversed(position, k & ((1 << position) - 1));
  endfunction

  // The stage that computes result h of a point operation in a lane: those of a unit's upper half
  // first.
  function automatic int unsigned point_stage(int unsigned log_radix, int unsigned h,
                                              int unsigned lane);
    return 2 * h + ((lane >> (log_radix - 1) & 1) == 0 ? 1 : 0);
  endfunction

  // Stage after stage for a transform, one for a point operation, and a register that selects.
  function automatic int unsigned transform_latency(vector_cfg_t cfg);
    return cfg.LogRadix * alu_latency(cfg) + 1;
  endfunction
  function automatic int unsigned point_latency(vector_cfg_t cfg);
    return alu_latency(cfg) + 1;
  endfunction

  // ---- network ----------------------------------------------------------------------------------

  // Lane from which the word of a lane comes when L(k) becomes L(k-1), and when it becomes L(k+1).
  function automatic int unsigned rotated(int unsigned log_lanes, int unsigned log_radix,
                                          int unsigned lane);
    return ((lane << log_radix) | (lane >> (log_lanes - log_radix))) & ((1 << log_lanes) - 1);
  endfunction
  function automatic int unsigned rotated_back(int unsigned log_lanes, int unsigned log_radix,
                                               int unsigned lane);
    return rotated(log_lanes, log_lanes - log_radix, lane);
  endfunction

  // The lane with the bits of L0 reversed.
  function automatic int unsigned unit_reversed(int unsigned log_radix, int unsigned lane);
    return (lane >> log_radix << log_radix) | reversed(log_radix, lane & ((1 << log_radix) - 1));
  endfunction

  // The high bits of j, the bit-reversed index, that a lane in NTT form holds: the lowest index bit
  // is their highest. Lanes carry index bits 0 to log_radix-1 in L0, and the others in groups of
  // log_radix, the highest group in L1.
  function automatic int unsigned affine_index(int unsigned log_lanes, int unsigned log_radix,
                                               int unsigned lane);
    int unsigned found, index_bit;
    found = 0;
    for (int unsigned b = 0; b < log_lanes; b++) begin
      index_bit = (b < log_radix) ? b : log_lanes - b / log_radix * log_radix + b % log_radix;
      found |= (lane >> b & 1) << (log_lanes - 1 - index_bit);
    end
    return found;
  endfunction
  function automatic int unsigned affine_lane(int unsigned log_lanes, int unsigned log_radix,
                                              int unsigned index);
    int unsigned found, index_bit;
    found = 0;
    for (int unsigned b = 0; b < log_lanes; b++) begin
      index_bit = (b < log_radix) ? b : log_lanes - b / log_radix * log_radix + b % log_radix;
      found |= (index >> (log_lanes - 1 - index_bit) & 1) << b;
    end
    return found;
  endfunction

  // When a row is at the switch of an exchange's bit, and at those of the affine map.
  function automatic int unsigned exchange_time(int unsigned bit_index);
    return (1 << bit_index) + bit_index;
  endfunction
  function automatic int unsigned affine_time(int unsigned log_radix);
    return exchange_time(log_radix);
  endfunction

  // Cycles by which an affine map precedes its row: multiples, sums, sums, switches.
  function automatic int unsigned affine_lead();
    return 4;
  endfunction

  function automatic int unsigned permute_latency(int unsigned log_lanes, int unsigned log_radix);
    return affine_time(log_radix) + log_lanes / 2 + 1;
  endfunction

  // ---- array: times after X, the row that goes through the network ------------------------------

  function automatic int unsigned array_z_time(vector_cfg_t cfg, int unsigned stage);
    return permute_latency(cfg.LogLanes, cfg.LogRadix) + stage * alu_latency(cfg);
  endfunction
  function automatic int unsigned array_y_time(vector_cfg_t cfg, int unsigned stage);
    return array_z_time(cfg, stage) + stage_factor_time();
  endfunction

  // When the table's row is read for a stage.
  function automatic int unsigned array_table_time(vector_cfg_t cfg, int unsigned stage);
    return permute_latency(cfg.LogLanes, cfg.LogRadix) + stage_factor_time() - TableLatency +
        stage * alu_latency(cfg);
  endfunction

  // Half 0 of a row, the upper half of each unit's lanes, is what even stages compute of a point
  // operation, half 1 what odd ones do: the lane of a half's word, and a lane's half.
  function automatic int unsigned half_lane(int unsigned log_radix, int unsigned half,
                                            int unsigned word);
    int unsigned size;
    size = 1 << (log_radix - 1);
    return (word / size) * 2 * size + ((half == 0) ? size : 0) + word % size;
  endfunction
  function automatic int unsigned lane_half(int unsigned log_radix, int unsigned lane);
    return ((lane >> (log_radix - 1)) % 2 == 0) ? 1 : 0;
  endfunction

  function automatic int unsigned array_transform_latency(vector_cfg_t cfg);
    return permute_latency(cfg.LogLanes, cfg.LogRadix) + transform_latency(cfg);
  endfunction
  function automatic int unsigned array_point_latency(vector_cfg_t cfg, int unsigned stage);
    return array_z_time(cfg, stage) + point_latency(cfg);
  endfunction

  // Least number of cycles from rows of a transform in one direction to rows of a transform in the
  // other one; 1 is a row in each cycle.
  function automatic int unsigned array_turn(vector_cfg_t cfg);
    return (cfg.LogRadix - 1) * alu_latency(cfg) + 1;
  endfunction

  // ---- core: times after the addresses of a row of X are at the banks' registers ----------------

  // Banks, and a register behind the selection of operands, before X enters the array.
  function automatic int unsigned core_read_latency();
    return 1 + RamLatency + 1;
  endfunction

  // Cycles from the read of X to the write of banks, one register after the results.
  function automatic int unsigned core_point_latency(vector_cfg_t cfg, int unsigned stage);
    return core_read_latency() + array_point_latency(cfg, stage);
  endfunction
  function automatic int unsigned core_transform_latency(vector_cfg_t cfg);
    return core_read_latency() + array_transform_latency(cfg);
  endfunction

  // ---- sequencer: what it says of a row ---------------------------------------------------------

  // Address of a row that is read or written.
  typedef struct packed {
    origin_e                     origin;
    logic [$clog2(MaxBanks)-1:0] bank;
    logic [RowWidth-1:0]         row;
  } access_t;

  // ---- memory -----------------------------------------------------------------------------------

  // A word in memory takes 32 bits, or 64.
  function automatic int unsigned stored_bits(int unsigned width);
    return (width <= 32) ? 32 : 64;
  endfunction

  // Beats of a row at each of its cluster's ports, a power of two.
  function automatic int unsigned row_cycles(vector_cfg_t cfg);
    return (stored_bits(cfg.Width) << cfg.LogLanes) / (cfg.Ports * cfg.PortBits);
  endfunction

  // A row's address: the cluster whose ports' memory has it, and the row there.
  localparam int unsigned HomeBits = 3;
  localparam int unsigned MemoryRowBits = 29;
  typedef struct packed {
    logic [HomeBits-1:0]      home;
    logic [MemoryRowBits-1:0] row;
  } place_t;

  // Lists in memory lie in slots of SlotBytes bytes, read by a port of ListBits bits: an
  // instruction in InstructionBeats beats of its own slot, loads and stores as many as a slot
  // holds, the first lowest.
  localparam int unsigned ListBits = 512;
  localparam int unsigned SlotBytes = 256;
  localparam int unsigned SlotBeats = 8 * SlotBytes / ListBits;
  localparam int unsigned InstructionBeats = 3;
  localparam int unsigned LogListed = 5;  // instructions that are read ahead, log2
  localparam int unsigned LogListBeats = 4;  // beats of loads, and of stores, log2

  typedef enum logic [1:0] {
    ListLoads     = 2'd0,
    ListComputing = 2'd1,
    ListStores    = 2'd2
  } list_e;
  localparam int unsigned Lists = 3;

  // Buses of DefaultCfg: for rows, and for lists.
  `RS_AXI_TYPES(default_rows, 1, DefaultCfg.AddrWidth, DefaultCfg.PortBits)
  `RS_AXI_READ_TYPES(default_lists, 1, DefaultCfg.AddrWidth, ListBits)

  localparam int unsigned CountBits = 28;  // of a list's length, as load_t has numbers of items
  localparam int unsigned MinRowBits = 3;  // log2 of the fewest rows of a limb

  // What is wrong with an item of the lists of loads and stores.
  typedef enum logic [2:0] {
    ItemLegal  = 3'd0,
    ItemRows   = 3'd1,  // none, or other ones than its target takes
    ItemPlace  = 3'd2,  // it does not begin where a burst does
    ItemRange  = 3'd3,  // it lies outside of the ports' memory
    ItemTarget = 3'd4   // a stream or a cluster that there is not
  } item_error_e;

  // Checks where an item's rows lie: they begin at a multiple of burst_rows, and end within
  // 2^span_bits rows of a cluster's memory.
  function automatic item_error_e place_error(place_t place, logic [15:0] rows,
                                              int unsigned clusters, int unsigned burst_rows,
                                              int unsigned span_bits);
    logic [MemoryRowBits:0] last;
    last = (MemoryRowBits + 1)'(place.row) + (MemoryRowBits + 1)'(rows) - 1'b1;
    if (rows == '0) return ItemRows;
    if ((place.row & MemoryRowBits'(burst_rows - 1)) != '0) return ItemPlace;
    if (32'(place.home) >= clusters || last >> span_bits != '0) return ItemRange;
    return ItemLegal;
  endfunction

  // Rows of a burst, and log2 of those that the memory of a cluster's ports has.
  function automatic int unsigned burst_rows(vector_cfg_t cfg);
    return cfg.BurstBeats / row_cycles(cfg);
  endfunction
  function automatic int unsigned span_row_bits(vector_cfg_t cfg);
    int unsigned bits;
    bits = cfg.SpanBits - $clog2(cfg.PortBits / 8) - $clog2(row_cycles(cfg));
    return (bits < MemoryRowBits) ? bits : MemoryRowBits;
  endfunction

  // Why a cluster has stopped.
  typedef enum logic [1:0] {
    FaultNone      = 2'd0,
    FaultResponse  = 2'd1,  // memory answered with SLVERR or DECERR
    FaultSilence   = 2'd2,  // memory did not answer within the watchdog's cycles
    FaultMalformed = 2'd3   // an item is wrong: item_error says how
  } fault_e;
  typedef struct packed {
    item_error_e item_error;
    logic       fetching;  // at the port that reads the list, and not at a port for rows
    list_e      list;
    logic [7:0] port;
    fault_e     fault;
  } fault_t;
endpackage
