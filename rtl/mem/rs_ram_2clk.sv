// Memory with a write port on one clock and a read port on another.
//
//   wdata_i is stored at waddr_i at a rising edge of wclk_i with we_i
//   rdata_o is the word at raddr_i from the next edge of rclk_i on after one with re_i
//
// Without re_i the output stays. A word that is read while it is written is undefined, in any phase
// of the clocks: the user of the memory must prevent it, as rs_async_fifo's pointers do. Contents
// have no reset.
//
// Cost: as rs_ram_1r1w's, "block" or "distributed"; UltraRAM has one clock only.
module rs_ram_2clk #(
  parameter  int unsigned Width = 64,
  parameter  int unsigned Depth = 512,
  parameter  string       RamStyle = "block",
  localparam int unsigned AddrWidth = (Depth > 1) ? $clog2(Depth) : 1
) (
  input  logic                 wclk_i,
  input  logic                 we_i,
  input  logic [AddrWidth-1:0] waddr_i,
  input  logic [Width-1:0]     wdata_i,
  input  logic                 rclk_i,
  input  logic                 re_i,
  input  logic [AddrWidth-1:0] raddr_i,
  output logic [Width-1:0]     rdata_o
);
  if (RamStyle != "block" && RamStyle != "distributed") begin : gen_bad_style
    $error("rs_ram_2clk: RamStyle is neither block nor distributed");
  end

  (* ram_style = RamStyle, no_rw_check, rw_addr_collision = "no" *)
  logic [Width-1:0] mem[Depth];
  logic [Width-1:0] read_q;
  always_ff @(posedge wclk_i) if (we_i) mem[waddr_i] <= wdata_i;
  always_ff @(posedge rclk_i) if (re_i) read_q <= mem[raddr_i];
  assign rdata_o = read_q;
endmodule
