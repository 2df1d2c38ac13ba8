// Shell: what its blocks hand to each other.
package rs_shell_pkg;
  // Why an access was refused; the fields of register `refused`.
  typedef struct packed {
    logic busy;   // the device was not ready
    logic place;  // no such place
    logic order;  // not the next word of its row, an upper half without its lower one, or a burst
                  // of another shape than the data path takes
    logic value;  // too wide a word, or a half, or a beat, without all of its bytes
  } refused_t;

  // The data path's AXI4 bus.
  localparam int unsigned BeatBits = 512;
  localparam int unsigned BeatWords = BeatBits / 64;
  localparam int unsigned DataIdWidth = 4;
  localparam int unsigned DataAddrWidth = 40;

  // An access of the bus to one half of a register of 64 bits.
  typedef struct packed {
    logic        valid;
    logic        write;
    logic        upper;
    logic        whole;  // all bytes of the half are written
    logic [31:0] data;
  } access_t;
endpackage
