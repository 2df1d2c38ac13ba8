// The FPGA that memories are made for, and how long a memory takes.
package rs_mem_pkg;

  // The FPGA that multipliers, memories and long delays are made for: chosen by a macro when the
  // sources are read, for a whole device. Latencies and results are the same for every target.
  localparam int unsigned TargetXilinx = 0;
  localparam int unsigned TargetEcp5 = 1;
`ifdef RS_TARGET_ECP5
  localparam int unsigned Target = TargetEcp5;
`else
  localparam int unsigned Target = TargetXilinx;
`endif

  // Address at a memory to its word, in every unit: array and output register.
  localparam int unsigned RamLatency = 2;

endpackage
