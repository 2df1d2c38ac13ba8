// A word of the stream delayed by a fixed number of cycles, with the cheapest storage.
//
//   d_o in cycle t + Depth is d_i in cycle t
//
// Short delays are shift registers. From 16 cycles on a power of two goes round in a memory:
// distributed, and from 256 cycles on block RAM. What comes out in the first Depth cycles is
// unknown.
module rs_stream_delay
  import rs_mem_pkg::*;
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  parameter  int unsigned Depth = 1024
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] d_i,
  output logic [Width-1:0] d_o
);
  if (Depth < 16) begin : gen_shift
    rs_delay #(
      .Width(Cfg.Width),
      .Depth(Depth)
    ) u_shift (
      .clk_i,
      .d_i,
      .d_o
    );
  end else begin : gen_memory
    localparam int unsigned AddrWidth = $clog2(Depth);
    localparam string Style = (Depth < 256) ? "distributed" : "block";
    if (Depth != 2 ** AddrWidth) begin : gen_bad_depth
      $error("rs_stream_delay: Depth = %0d is 16 or more and no power of two", Depth);
    end

    // The word that is read is one round minus RamLatency old; the read adds RamLatency.
    logic [AddrWidth-1:0] place_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) place_q <= '0;
      else place_q <= place_q + 1'b1;
    end
    rs_ram_1r1w #(
      .Width(Cfg.Width),
      .Depth(Depth),
      .ReadLatency(RamLatency),
      .RamStyle(Style)
    ) u_ram (
      .clk_i,
      .we_i(1'b1),
      .waddr_i(place_q),
      .wdata_i(d_i),
      .re_i(1'b1),
      .raddr_i(place_q + AddrWidth'(RamLatency)),
      .rdata_o(d_o)
    );
  end
endmodule
