// What holds of the bursts that an AXI master offers at a port, for the proofs of such masters: each
// lies within 4 KiB, is at most MostBeats long, and stays at the port until it is taken. At most
// Outstanding bursts have been taken and not ended.
module rs_axi_burst_rules #(
  parameter int unsigned AddrWidth = 40,
  parameter int unsigned BeatBytes = 8,
  parameter int unsigned MostBeats = 16,
  parameter int unsigned Outstanding = 16
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 valid_i,
  input  logic                 ready_i,
  input  logic [AddrWidth-1:0] addr_i,
  input  logic [          7:0] len_i,
  input  logic                 ends_i,  // a burst ends
  output int unsigned          open_o   // bursts that the port has taken and that have not ended
);
  logic                 held_q;
  logic [AddrWidth-1:0] held_addr_q;
  logic [          7:0] held_len_q;
  int unsigned          open_q;
  always_ff @(posedge clk_i) begin
    held_q      <= rst_ni && valid_i && !ready_i;
    held_addr_q <= addr_i;
    held_len_q  <= len_i;
    if (!rst_ni) open_q <= 0;
    else open_q <= open_q + 32'(valid_i && ready_i) - 32'(ends_i);
  end
  always_comb begin
    assume (!ends_i || open_q != 0);  // memory answers what it was asked for
    if (rst_ni) begin
      assert (open_q <= Outstanding);
      if (held_q) assert (valid_i && addr_i == held_addr_q && len_i == held_len_q);
      if (valid_i) begin
        assert (32'(len_i) < MostBeats);
        assert (32'(addr_i % 4096) + (32'(len_i) + 1) * BeatBytes <= 4096);
      end
    end
  end
  assign open_o = open_q;
endmodule
