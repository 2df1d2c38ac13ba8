// rs_vector_permute with the latency that the package states.
module rs_vector_permute_bench
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned LogLanes = 8,
  parameter  int unsigned LogRadix = 4,
  localparam int unsigned Lanes = 2 ** LogLanes
) (
  input  logic                clk_i,
  input  logic                rotate_i,
  input  logic [LogRadix-1:0] exchange_i,
  input  logic [         1:0] arrange_i,
  input  logic [LogRadix-1:0] time_i,
  input  logic [LogLanes-1:0] element_i,
  input  logic [LogLanes-1:0] constant_i,
  input  logic [   Width-1:0] x_i        [Lanes],
  output logic [   Width-1:0] x_o        [Lanes],
  output logic [         7:0] latency_o
);
  permute_t permute;
  assign permute = '{
      rotate: rotate_i,
      exchange: MaxLogRadix'(exchange_i),
      arrange: arrange_e'(arrange_i)
  };
  rs_vector_permute #(
    .Width(Width),
    .LogLanes(LogLanes),
    .LogRadix(LogRadix)
  ) u_permute (
    .clk_i,
    .permute_i(permute),
    .time_i,
    .element_i,
    .constant_i,
    .x_i,
    .x_o
  );
  assign latency_o = 8'(permute_latency(LogLanes, LogRadix));
endmodule
