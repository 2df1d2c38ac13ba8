// Shell: what its blocks hand to each other.
package rs_shell_pkg;
  // Why an access was refused; the fields of register `refused`.
  typedef struct packed {
    logic busy;   // the device was not ready
    logic place;  // no such place
    logic order;  // not the next word of its row, or an upper half without its lower one
    logic value;  // too wide a word, or a half without all of its bytes
  } refused_t;

  // An access of the bus to one half of a register of 64 bits.
  typedef struct packed {
    logic        valid;
    logic        write;
    logic        upper;
    logic        whole;  // all bytes of the half are written
    logic [31:0] data;
  } access_t;
endpackage
