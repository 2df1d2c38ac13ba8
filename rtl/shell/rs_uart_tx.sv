// Sender on a serial line, 8N1: a start bit (0), eight data bits, the lowest first, a stop bit
// (1).
//
// A byte is taken where valid_i and ready_o are high, and ready_o is high again when its stop
// bit is over. A bit takes ClockHz / Baud cycles on average: the fraction (24 bits) is carried
// from bit to bit.
module rs_uart_tx
  import rs_uart_pkg::*;
#(
  parameter int unsigned ClockHz = 48_000_000,
  parameter int unsigned Baud = 1_000_000
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  input  logic [7:0] data_i,
  output logic       ready_o,
  output logic       tx_o
);
  localparam logic [PhaseBits-1:0] Step = phase_step(64'(ClockHz), 64'(Baud));
  localparam int unsigned FrameBits = 10;

  if (64'(Baud) * 2 > 64'(ClockHz) || Baud == 0) begin : gen_bad_rate
    $error("rs_uart_tx: %0d baud needs a clock of at least twice that, not %0d Hz", Baud, ClockHz);
  end

  logic [PhaseBits-1:0] phase_q, phase;
  logic                 bit_ends;
  logic [FrameBits-1:0] shift_q;
  logic [3:0]           left_q;  // bits that are not over
  assign {bit_ends, phase} = {1'b0, phase_q} + {1'b0, Step};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      left_q  <= '0;
      shift_q <= '1;
    end else if (ready_o) begin
      if (valid_i) begin
        left_q  <= 4'(FrameBits);
        shift_q <= {1'b1, data_i, 1'b0};
      end
    end else if (bit_ends) begin
      left_q  <= left_q - 1'b1;
      shift_q <= {1'b1, shift_q[FrameBits-1:1]};
    end
    phase_q <= ready_o ? '0 : phase;
  end
  assign ready_o = left_q == '0;
  assign tx_o    = shift_q[0];
endmodule
