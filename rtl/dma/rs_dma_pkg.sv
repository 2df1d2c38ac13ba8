// DMA: descriptors, records that cross between its clocks, and a channel's control port.
//
// docs/reference/dma.md has the descriptor as a table and says what a driver does.
`include "rs_axi.svh"

package rs_dma_pkg;
  localparam int unsigned AddrBits = 64;  // of a byte in host memory

  // A DMA, and the devices behind it.
  typedef struct packed {
    int unsigned Channels;     // each with a device of its own: 1 to 8
    int unsigned DataBits;     // of a beat of the bus: 32, 64, 128, 256 or 512
    int unsigned HostWords;    // of a row of a device's host port: a power of two
    int unsigned Width;        // bits of a word: 1 to 64
    int unsigned LogDepth;     // log2 of the lines of a channel's FIFO each way: at least 5
    int unsigned StartCycles;  // from a device's start to its busy
    int unsigned OpenReads;    // bursts of all channels whose words have not come
  } dma_cfg_t;
  localparam dma_cfg_t DefaultDmaCfg = '{
      Channels: 1,
      DataBits: 512,
      HostWords: 4,
      Width: 30,
      LogDepth: 9,
      StartCycles: 1,
      OpenReads: 4
  };

  // Its bus: default_axi_request_t, default_axi_response_t.
  `RS_AXI_TYPES(default_axi, 1, AddrBits, DefaultDmaCfg.DataBits)

  // A device's host port.
  localparam int unsigned SpaceBits = 4;
  localparam int unsigned UnitBits = 8;
  localparam int unsigned IndexBits = 16;
  localparam int unsigned RowBits = 16;
  localparam int unsigned RingBits = 5;

  // Host memory: sizes of descriptors and completion records, and alignment of addresses.
  localparam int unsigned DescriptorBytes = 32;
  localparam int unsigned DescriptorBits = 8 * DescriptorBytes;
  localparam int unsigned DataAlign = 64;
  localparam int unsigned PageBytes = 4096;  // that no burst crosses

  typedef enum logic [3:0] {
    OpNone = 4'd0,    // refused: memory that was not written
    OpWrite = 4'd1,   // host memory to the device, while no program runs
    OpStream = 4'd2,  // the same, when the program has opened the polynomial
    OpStart = 4'd3,   // starts the program
    OpRead = 4'd4     // the device to host memory, while no program runs
  } op_e;

  typedef struct packed {  // the first field is the highest bits: the last bytes
    logic [AddrBits-1:0]  record;  // where the completion record is written
    logic [AddrBits-1:0]  next;    // the next descriptor; 0: this is the last one
    logic [5:0]           reserved;
    logic                 keep;    // a completion record is written
    logic                 tell;    // status_t.reported is raised
    logic [23:0]          count;   // words; of OpStart: log2 of the degree of the ring
    logic [IndexBits-1:0] index;
    logic [UnitBits-1:0]  unit;
    logic [SpaceBits-1:0]  space;
    logic [3:0]           op;
    logic [AddrBits-1:0]  data;    // where the words lie
  } descriptor_t;

  // Why a channel has stopped.
  localparam int unsigned ErrorBits = 4;
  typedef enum logic [ErrorBits-1:0] {
    ErrNone = 4'd0,
    ErrFetch = 4'd1,    // the bus answered the reading of a descriptor with an error
    ErrFormat = 4'd2,   // no such opcode, a reserved flag, a count that is not a multiple of a row
    ErrAlign = 4'd3,    // an address that is not aligned
    ErrRead = 4'd4,     // the bus answered the reading of words with an error
    ErrWrite = 4'd5,    // the bus answered the writing of words with an error
    ErrRecord = 4'd6,   // the bus answered the writing of a completion record with an error
    ErrValue = 4'd7,    // a word is too wide for the device
    ErrUnopened = 4'd8, // the program ended without opening the polynomial of an OpStream
    ErrDevice = 4'd9,   // the device was reset
    ErrPlace = 4'd10    // the device has no such address, or does not support the ring
  } error_e;

  // A channel's control port.
  typedef struct packed {
    logic                go;    // one cycle, while the channel does not run: works through the list
    logic                stop;  // ends the list as soon as the bus is quiet
    logic [AddrBits-1:0] list;  // the first descriptor; taken with go
  } control_t;
  typedef struct packed {
    logic                 running;    // from the cycle after go on
    logic                 reported;   // one cycle: a descriptor with the flag is complete, or
                                      // the channel has stopped with an error
    logic                 failed;     // the channel has stopped with an error
    logic [ErrorBits-1:0] error;      // error_e
    logic [AddrBits-1:0]  address;    // the descriptor that is worked on, or that has failed
    logic [31:0]          completed;  // descriptors, since go
  } status_t;

  // Records between the clocks: one to the device for each descriptor, and one back at its end. For
  // an OpStart, index is the number of OpStreams that its program opens.
  typedef struct packed {
    op_e                  op;
    logic [SpaceBits-1:0]  space;
    logic [UnitBits-1:0]  unit;
    logic [IndexBits-1:0] index;
    logic [23:0]          rows;
    logic [RingBits-1:0]  ring;
  } command_t;
  typedef struct packed {
    error_e      error;
    logic [63:0] cycles;
  } answer_t;

  // Inside a channel: a descriptor that has been handed on, the bytes of an OpRead, and the first
  // descriptor that cannot be worked on.
  localparam int unsigned NumberBits = 8;  // of descriptors and bursts, to distinguish few of them
  localparam int unsigned CountBytes = 27;  // bits of the number of a descriptor's bytes
  typedef struct packed {
    logic [AddrBits-1:0] address;
    logic [AddrBits-1:0] record;
    logic                keep;
    logic                tell;
    logic                read;
  } entry_t;
  typedef struct packed {
    logic [AddrBits-1:0]   address;
    logic [CountBytes-1:0] bytes;
  } job_t;
  typedef struct packed {
    logic                  valid;
    logic                  pushed;  // it has been handed on
    error_e                error;
    logic [NumberBits-1:0] number;
    logic [AddrBits-1:0]   address;  // if it has not been
  } fail_t;

  // Bytes of a word in host memory, and of a word of the FIFOs between the clocks: of a row, or of
  // a beat where that is longer.
  function automatic int unsigned word_bytes(int unsigned width);
    return (width <= 32) ? 4 : 8;
  endfunction
  function automatic int unsigned row_bytes(int unsigned words, int unsigned width);
    return words * word_bytes(width);
  endfunction
  function automatic int unsigned line_bytes(dma_cfg_t cfg);
    int unsigned beat, row;
    beat = cfg.DataBits / 8;
    row  = row_bytes(cfg.HostWords, cfg.Width);
    return (beat > row) ? beat : row;
  endfunction

  // Bytes of the longest burst: 256 beats, a page, or a quarter of the FIFO that it fills or
  // empties.
  function automatic int unsigned burst_bytes(int unsigned beat_bytes, int unsigned fifo_bytes);
    int unsigned bytes;
    bytes = PageBytes;
    if (256 * beat_bytes < bytes) bytes = 256 * beat_bytes;
    if (fifo_bytes / 4 < bytes) bytes = fifo_bytes / 4;
    return bytes;
  endfunction
endpackage
