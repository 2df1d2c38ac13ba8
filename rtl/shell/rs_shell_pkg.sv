// Shell: types of the interfaces between its blocks.
`include "rs_axi.svh"

package rs_shell_pkg;
  // Why an access was refused; the fields of register `refused`.
  typedef struct packed {
    logic busy;   // the device was not ready
    logic place;  // no such address
    logic order;  // not the next word of its row, an upper half without its lower one, or a burst
                  // of another shape than the data path takes
    logic value;  // too wide a word, or a half, or a beat, without all of its bytes
  } refused_t;

  // The data path's AXI4 bus.
  localparam int unsigned BeatBits = 512;
  localparam int unsigned BeatWords = BeatBits / 64;
  localparam int unsigned DataIdWidth = 4;
  localparam int unsigned DataAddrWidth = 40;

  // A burst of it, to be written or read, and a beat that is written.
  typedef struct packed {
    logic                     valid;
    logic [DataIdWidth-1:0]   id;
    logic [DataAddrWidth-1:0] addr;
    logic [7:0]               len;
    logic [2:0]               size;
    logic [1:0]               burst;
  } axi_burst_t;
  typedef struct packed {
    logic                  valid;
    logic                  last;
    logic [BeatBits/8-1:0] strb;
    logic [BeatBits-1:0]   data;
  } axi_beat_t;

  // Signals of its master, and of its slave.
  typedef struct packed {
    axi_burst_t aw;
    axi_beat_t  w;
    logic       b_ready;
    axi_burst_t ar;
    logic       r_ready;
  } axi_request_t;
  typedef struct packed {
    logic                   aw_ready;
    logic                   w_ready;
    logic                   b_valid;
    logic [DataIdWidth-1:0] b_id;
    logic [1:0]             b_resp;
    logic                   ar_ready;
    logic                   r_valid;
    logic                   r_last;
    logic [DataIdWidth-1:0] r_id;
    logic [1:0]             r_resp;
    logic [BeatBits-1:0]    r_data;
  } axi_response_t;

  // A channel of the DMA (rs_dma): its requests to the host port and to the program, and the
  // current descriptor.
  typedef struct packed {
    logic        reads;
    logic        streams;
    logic        starts;
    logic [3:0]  space;
    logic [7:0]  unit;
    logic [15:0] index;  // of a start: how many polynomials of keys come while the program runs
    logic [23:0] rows;
    logic [4:0]  ring;   // of a start: log2 of its degree; 0: of N
  } dma_asked_t;
  typedef struct packed {
    logic        we;
    logic        re;
    logic [3:0]  space;
    logic [7:0]  unit;
    logic [15:0] index;
    logic [15:0] row;
    logic        moving;
    logic        start;
    dma_asked_t  asked;
  } dma_request_t;
  // The accelerator's answer.
  typedef struct packed {
    logic        rst_n;      // its reset, which ends whatever the channel does
    logic        refused;    // the descriptor at hand
    logic        rvalid;
    logic        host_busy;
    logic        busy;       // a program runs, or another way to the memories has the host port
    logic [15:0] opened;
    logic [63:0] cycles;
  } dma_response_t;

  // The same for the registers' AXI4-Lite bus.
  localparam int unsigned AxilAddrWidth = 12;
  localparam int unsigned AxilDataWidth = 32;
  `RS_AXIL_TYPES(axil, AxilAddrWidth)

  // And for that of a card: 16 pages of registers.
  localparam int unsigned CardAddrWidth = AxilAddrWidth + 4;
  `RS_AXIL_TYPES(card_axil, CardAddrWidth)

  // One access of a host to a page of such a bus, and its end (rs_axil_access).
  typedef struct packed {
    logic                       write;
    logic [AxilAddrWidth-1:0]   addr;
    logic [2:0]                 prot;
    logic [AxilDataWidth-1:0]   data;
    logic [AxilDataWidth/8-1:0] strb;
  } axil_access_t;
  typedef struct packed {
    logic                     done;
    logic [1:0]               resp;
    logic [AxilDataWidth-1:0] data;
  } axil_end_t;

  // An access of the bus to one half of a register of 64 bits.
  typedef struct packed {
    logic        valid;
    logic        write;
    logic        upper;
    logic        whole;  // all bytes of the half are written
    logic [31:0] data;
  } access_t;
endpackage
