// The bridge of the serial line with a slave that stalls, and says what it was asked for.
//
// A write to the upper half of the page, and a read of it, are answered with SLVERR. A read gives
// the number of reads before it, with the address above it where address bit 10 is set.
module rs_uart_bench
  import rs_shell_pkg::*;
#(
  parameter int unsigned ClockHz = 8,
  parameter int unsigned Baud = 1,
  parameter int unsigned SilenceCycles = 400
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        rx_i,
  output logic        tx_o,
  output logic        write_o,        // in one cycle: the write that was answered
  output logic        read_o,         // the read that was
  output logic [11:0] address_o,
  output logic [31:0] data_o
);
  logic [11:0] awaddr, araddr;
  logic [31:0] wdata, rdata;
  logic [2:0]  awprot, arprot;
  logic [3:0]  wstrb;
  logic [1:0]  bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  axil_request_t  request;
  axil_response_t response;
  rs_uart_bridge #(
    .ClockHz(ClockHz),
    .Baud(Baud),
    .SilenceCycles(SilenceCycles)
  ) u_bridge (
    .clk_i,
    .rst_ni,
    .rx_i,
    .tx_o,
    .axil_o(request),
    .axil_i(response)
  );
  assign awaddr   = request.aw_addr;
  assign awprot   = request.aw_prot;
  assign awvalid  = request.aw_valid;
  assign wdata    = request.w_data;
  assign wstrb    = request.w_strb;
  assign wvalid   = request.w_valid;
  assign bready   = request.b_ready;
  assign araddr   = request.ar_addr;
  assign arprot   = request.ar_prot;
  assign arvalid  = request.ar_valid;
  assign rready   = request.r_ready;
  assign response = '{
          aw_ready: awready,
          w_ready: wready,
          b_valid: bvalid,
          b_resp: bresp,
          ar_ready: arready,
          r_valid: rvalid,
          r_data: rdata,
          r_resp: rresp
      };

  logic [15:0] random_q;  // a shift register with feedback: when the slave stalls
  logic        aw_q, w_q, ar_q;  // address and data of a write, and address of a read, are here
  logic [11:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q;
  logic [19:0] reads_q;
  assign awready = !aw_q && random_q[1:0] == '0;
  assign wready  = !w_q && random_q[3:2] == '0;
  assign arready = !ar_q && random_q[5:4] == '0;
  assign bvalid  = aw_q && w_q && random_q[6];
  assign rvalid  = ar_q && random_q[7];
  assign bresp   = {awaddr_q[11], 1'b0};
  assign rresp   = {araddr_q[11], 1'b0};
  assign rdata   = {araddr_q[10] ? araddr_q : '0, reads_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      random_q <= 16'hACE1;
      reads_q  <= '0;
      aw_q     <= 1'b0;
      w_q      <= 1'b0;
      ar_q     <= 1'b0;
    end else begin
      random_q <= {random_q[14:0], random_q[15] ^ random_q[13] ^ random_q[12] ^ random_q[10]};
      if (awvalid && awready) aw_q <= 1'b1;
      else if (bvalid && bready) aw_q <= 1'b0;
      if (wvalid && wready) w_q <= 1'b1;
      else if (bvalid && bready) w_q <= 1'b0;
      if (arvalid && arready) ar_q <= 1'b1;
      else if (rvalid && rready) ar_q <= 1'b0;
      if (rvalid && rready) reads_q <= reads_q + 1'b1;
    end
    if (awready) awaddr_q <= awaddr;
    if (wready) wdata_q <= wdata;
    if (arready) araddr_q <= araddr;
  end
  assign write_o   = rst_ni && bvalid && bready;
  assign read_o    = rst_ni && rvalid && rready;
  assign address_o = write_o ? awaddr_q : araddr_q;
  assign data_o    = write_o ? wdata_q : rdata;

  Whole_A :
  assert property (@(posedge clk_i) !rst_ni || !(wvalid || awvalid || arvalid) ||
                   (wstrb == '1 && awprot == '0 && arprot == '0))
  else $error("an access with other bytes or another protection");
  // What is offered and not taken stays.
  logic        aw_waits_q, w_waits_q, ar_waits_q;
  logic [11:0] aw_before_q, ar_before_q;
  logic [31:0] w_before_q;
  always_ff @(posedge clk_i) begin
    aw_waits_q  <= rst_ni && awvalid && !awready;
    w_waits_q   <= rst_ni && wvalid && !wready;
    ar_waits_q  <= rst_ni && arvalid && !arready;
    aw_before_q <= awaddr;
    w_before_q  <= wdata;
    ar_before_q <= araddr;
  end
  Stays_A :
  assert property (@(posedge clk_i) !rst_ni || !aw_waits_q || (awvalid && awaddr == aw_before_q))
  else $error("an address of a write changes before it is taken");
  StaysRead_A :
  assert property (@(posedge clk_i) !rst_ni || !ar_waits_q || (arvalid && araddr == ar_before_q))
  else $error("an address of a read changes before it is taken");
  StaysData_A :
  assert property (@(posedge clk_i) !rst_ni || !w_waits_q || (wvalid && wdata == w_before_q))
  else $error("data of a write change before they are taken");
endmodule
