// Serial line: how the time of a bit is counted.
package rs_uart_pkg;
  // Bits of a phase, which counts the time since a bit began: 2^PhaseBits is one bit.
  localparam int unsigned PhaseBits = 24;

  // Increment of the phase in a cycle, rounded: the error is at most half of 2^-PhaseBits of a bit.
  function automatic logic [PhaseBits-1:0] phase_step(input longint unsigned clock_hz,
                                                      input longint unsigned baud);
    return PhaseBits'(((baud << PhaseBits) + clock_hz / 2) / clock_hz);
  endfunction
endpackage
