// Memory with one write port and one read port, on one clock.
//
//   wdata_i is stored at waddr_i at a rising edge with we_i
//   rdata_o is the word at raddr_i, ReadLatency cycles after one with re_i (that edge counts)
//
// A read and a write of the same address in the same cycle: with ReadOld the read returns the word
// before the write. Without it, the result is undefined, and a simulation with assertions stops;
// the memory is then cheaper, and UltraRAM allows only this. Other addresses are not affected.
// Without re_i the output of a memory of ReadLatency 1 stays; ReadLatency 2 adds an output register
// that is loaded in every cycle. Contents have no reset.
//
// Cost: with RamStyle "block" one RAMB36E2 holds 512 x 72 to 32768 x 1, with "ultra" one URAM288
// holds 4096 x 72; "distributed" takes LUTs. With TargetEcp5 one EBR holds 512 x 36 to 16384 x 1,
// and there is no "ultra".
`include "rs_assert.svh"

module rs_ram_1r1w
  import rs_mem_pkg::*;
#(
  parameter int unsigned Width = 48,
  parameter int unsigned Depth = 1024,
  parameter int unsigned ReadLatency = 1,
  parameter string       RamStyle = "block",
  parameter bit          ReadOld = 1'b0,
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 clk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  if (ReadLatency != 1 && ReadLatency != 2) begin : gen_bad_latency
    $error("rs_ram_1r1w: ReadLatency = %0d is neither 1 nor 2", ReadLatency);
  end
  if (RamStyle != "block" && RamStyle != "ultra" && RamStyle != "distributed") begin : gen_bad_style
    $error("rs_ram_1r1w: RamStyle is not block, ultra or distributed");
  end
  if (RamStyle == "ultra" && Target == TargetEcp5) begin : gen_no_ultra
    $error("rs_ram_1r1w: ECP5 has no UltraRAM: RamStyle must be block or distributed");
  end

  logic [Width-1:0] read_q;
  if (ReadOld) begin : gen_read_old
    (* ram_style = RamStyle *)
    logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[waddr_i] <= wdata_i;
      if (re_i) read_q <= mem[raddr_i];
    end
  end else begin : gen_read_undefined
    // Yosys's attribute and Vivado's: no bypass for a read of what is written.
    (* ram_style = RamStyle, no_rw_check, rw_addr_collision = "no" *)
    logic [Width-1:0] mem[Depth];
    always_ff @(posedge clk_i) begin
      if (we_i) mem[waddr_i] <= wdata_i;
      if (re_i) read_q <= mem[raddr_i];
    end
    `RS_ASSERT(NoCollision_A, !(we_i && re_i && waddr_i == raddr_i),
               $sformatf("address %0d is read and written at once", raddr_i), clk_i, 1'b1)
  end

  if (Depth != 2 ** AddrWidth) begin : gen_partial
    `RS_ASSERT(WriteInRange_A, !we_i || 32'(waddr_i) < Depth,
               $sformatf("write to address %0d of %0d", waddr_i, Depth), clk_i, 1'b1)
    `RS_ASSERT(ReadInRange_A, !re_i || 32'(raddr_i) < Depth,
               $sformatf("read of address %0d of %0d", raddr_i, Depth), clk_i, 1'b1)
  end

  if (ReadLatency == 2) begin : gen_output_register
    logic [Width-1:0] output_q;
    always_ff @(posedge clk_i) output_q <= read_q;
    assign rdata_o = output_q;
  end else begin : gen_no_output_register
    assign rdata_o = read_q;
  end
endmodule
