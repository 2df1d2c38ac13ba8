// A word delayed by a fixed number of cycles.
//
//   d_o in cycle t + Depth is d_i in cycle t; Depth = 0 is a wire
//
// No reset, so that synthesis can put it into shift-register LUTs (SRL16/SRL32): what comes out in
// the first Depth cycles is unknown. Cost: about Width LUTs for each 32 of Depth. ECP5 has no such
// LUTs: with TargetEcp5 a delay of more than 16 cycles, or of more than 6 and at least 8 bits, is a
// memory in LUTs, written and read at addresses that count.
module rs_delay
  import rs_mem_pkg::*;
#(
  parameter int unsigned Width = 1,
  parameter int unsigned Depth = 1
) (
  input  logic             clk_i,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);
  // A memory is cheaper than registers if it replaces more of them than its address counters need.
  localparam bit Memory = Target == TargetEcp5 && (Depth > 16 || (Depth > 6 && Width >= 8));

  if (Depth == 0) begin : gen_wire
    assign d_o = d_i;
  end else if (Memory) begin : gen_memory
    // Any first address will do, as it wraps around; a register of an ECP5 begins with 0.
    localparam int unsigned AddrWidth = $clog2(Depth);
    logic [AddrWidth-1:0] waddr_q;
    initial waddr_q = '0;
    always_ff @(posedge clk_i) waddr_q <= waddr_q + 1'b1;
    rs_ram_1r1w #(
      .Width(Width),
      .Depth(2 ** AddrWidth),
      .RamStyle("distributed")
    ) u_ram (
      .clk_i,
      .we_i(1'b1),
      .waddr_i(waddr_q),
      .wdata_i(d_i),
      .re_i(1'b1),
      .raddr_i(waddr_q - AddrWidth'(Depth - 1)),
      .rdata_o(d_o)
    );
  end else begin : gen_shift
    logic [Width-1:0] shift_q [Depth];
    always_ff @(posedge clk_i) begin
      shift_q[0] <= d_i;
      for (int unsigned i = 1; i < Depth; i++) shift_q[i] <= shift_q[i-1];
    end
    assign d_o = shift_q[Depth-1];
  end
endmodule
