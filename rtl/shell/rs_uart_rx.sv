// Receiver of a serial line, 8N1: a start bit (0), eight data bits, the lowest first, a stop bit
// (1).
//
//   valid_o is high for one cycle with each byte, error_o for one cycle where a stop bit is 0
//
// A falling edge starts a byte. Each bit is sampled at three, four and five eighths of its time,
// and takes the value of two of the three samples, so that a shorter disturbance changes no bit.
// A start bit with the value 1 was a disturbance and is ignored. After an error the
// receiver waits until the line is 1. The time of a bit is counted from the edge of the start
// bit in fractions of a cycle (24 bits), so that any ratio of clock and rate of at least 8
// works, and a sender whose rate differs by up to 2 % is understood.
//
// quiet_o is high while the line is 1 and no byte is being received.
module rs_uart_rx
  import rs_uart_pkg::*;
#(
  parameter int unsigned ClockHz = 48_000_000,
  parameter int unsigned Baud = 1_000_000
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       rx_i,     // asynchronous
  output logic       valid_o,
  output logic [7:0] data_o,
  output logic       error_o,
  output logic       quiet_o
);
  localparam logic [PhaseBits-1:0] Step = phase_step(64'(ClockHz), 64'(Baud));
  localparam logic [3:0] StopBit = 4'd9;

  if (64'(Baud) * 8 > 64'(ClockHz) || Baud == 0) begin : gen_bad_rate
    $error("rs_uart_rx: %0d baud needs a clock of at least eight times that, not %0d Hz", Baud,
           ClockHz);
  end

  typedef enum logic [1:0] {
    StIdle,
    StByte,
    StBreak
  } state_e;
  state_e               state_q;
  (* async_reg = "true" *)
  logic                 meta_q, line_q;
  logic [PhaseBits-1:0] phase_q, phase;
  logic [2:0]           eighth;
  logic                 enters;  // an eighth of the bit begins
  logic [1:0]           samples_q;
  logic                 decide, level;
  logic [3:0]           bit_q;
  logic [7:0]           data_q;
  logic                 valid_q, error_q;

  assign phase  = phase_q + Step;
  assign eighth = phase[PhaseBits-1-:3];
  assign enters = eighth != phase_q[PhaseBits-1-:3];
  assign decide = state_q == StByte && enters && eighth == 3'd5;
  assign level  = (samples_q[0] && samples_q[1]) || (line_q && (samples_q[0] || samples_q[1]));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      meta_q  <= 1'b1;
      line_q  <= 1'b1;
      state_q <= StIdle;
      valid_q <= 1'b0;
      error_q <= 1'b0;
    end else begin
      meta_q  <= rx_i;
      line_q  <= meta_q;
      valid_q <= decide && bit_q == StopBit && level;
      error_q <= decide && bit_q == StopBit && !level;
      case (state_q)
        StIdle:  if (!line_q) state_q <= StByte;
        StByte: begin
          if (decide && bit_q == '0 && level) state_q <= StIdle;
          else if (decide && bit_q == StopBit) state_q <= level ? StIdle : StBreak;
        end
        default: if (line_q) state_q <= StIdle;
      endcase
    end
    if (state_q == StByte) begin
      phase_q <= phase;
      if (enters && eighth == 3'd3) samples_q[0] <= line_q;
      if (enters && eighth == 3'd4) samples_q[1] <= line_q;
      if (decide) begin
        bit_q <= bit_q + 1'b1;
        if (bit_q != StopBit) data_q <= {level, data_q[7:1]};
      end
    end else begin
      phase_q <= '0;
      bit_q   <= '0;
    end
  end

  assign valid_o = valid_q;
  assign data_o  = data_q;
  assign error_o = error_q;
  assign quiet_o = state_q == StIdle && line_q;
endmodule
