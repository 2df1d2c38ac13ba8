// The reset of the logic between two clocks, requested by the bus or by the device.
//
//   bus_rst_ni, rst_ni   Resets of the two clocks, synchronous. Each lasts at least 16 cycles of
//                        the slower clock, or is the only one of its kind since power-up.
//   request_i            In the bus's clock: resets both clock domains, until up_o is high again.
//                        One cycle is enough.
//   up_o                 In the bus's clock: both clock domains are out of reset. Also the reset,
//                        active low, of the bus's ends of the FIFOs.
//   down_o               The device was reset by itself: the bus's logic requests a reset
//                        (request_i) when it is ready for it. Until then up_o stays high.
//   device_rst_no        In the device's clock: the reset of everything there.
//
// The bus's domain requests a reset. The device's domain goes into reset and acknowledges. The
// bus's domain then releases it and waits until it runs. So both are in reset together for more
// than four cycles of each clock, as rs_async_fifo requires. The device's state crosses in a Gray
// code, except from Run to Down. Any intermediate state of that transition ends in the right state.
// A reset takes some 20 cycles of the slower clock, and does not end while rst_ni is low or the
// device's clock stands still.
module rs_dma_reset (
  input  logic bus_clk_i,
  input  logic bus_rst_ni,
  input  logic request_i,
  output logic up_o,
  output logic down_o,
  input  logic clk_i,
  input  logic rst_ni,
  output logic device_rst_no
);
  typedef enum logic [1:0] {
    DevDown = 2'b00,
    DevHeld = 2'b01,  // in reset, as the bus requests
    DevRun = 2'b11
  } device_e;
  typedef enum logic [1:0] {
    BusAsk,
    BusHold,  // the device is in reset
    BusRelease,
    BusRun
  } bus_e;
  localparam int unsigned Hold = 7;  // cycles of each clock

  // ---- the device's clock -----------------------------------------------------------------------
  device_e    device_q;
  logic [2:0] device_count_q;
  logic       asked, ask_q;
  rs_sync u_to_device (
    .clk_i,
    .d_i(ask_q),
    .d_o(asked)
  );
  assign device_rst_no = device_q == DevRun;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      device_q       <= DevDown;
      device_count_q <= '0;
    end else begin
      case (device_q)
        DevDown: begin
          if (device_count_q != 3'(Hold)) device_count_q <= device_count_q + 3'd1;
          else if (asked) device_q <= DevHeld;
        end
        DevHeld: if (!asked) device_q <= DevRun;
        default: begin
          device_count_q <= '0;
          if (asked) device_q <= DevDown;
        end
      endcase
    end
  end

  // ---- the bus's clock --------------------------------------------------------------------------
  bus_e       bus_q;
  logic [2:0] bus_count_q;
  logic [1:0] device;
  rs_sync #(.Width(2)) u_to_bus (
    .clk_i(bus_clk_i),
    .d_i(device_q),
    .d_o(device)
  );
  assign up_o   = bus_q == BusRun;
  assign down_o = bus_q == BusRun && device != DevRun;
  always_ff @(posedge bus_clk_i) begin
    if (!bus_rst_ni) begin
      bus_q       <= BusAsk;
      bus_count_q <= '0;
      ask_q       <= 1'b1;
    end else begin
      ask_q <= bus_q == BusAsk || bus_q == BusHold;
      case (bus_q)
        BusAsk: begin
          bus_count_q <= '0;
          if (device == DevHeld && ask_q) bus_q <= BusHold;
        end
        BusHold: begin
          bus_count_q <= bus_count_q + 3'd1;
          if (bus_count_q == 3'(Hold)) bus_q <= BusRelease;
        end
        BusRelease: begin
          if (device == DevRun) bus_q <= BusRun;
          else if (device == DevDown) bus_q <= BusAsk;
        end
        default: if (request_i) bus_q <= BusAsk;
      endcase
    end
  end
endmodule
