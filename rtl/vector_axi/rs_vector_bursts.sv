// Addresses of bursts, the same ones for all ports of a cluster.
//
// begin_i, with busy_o low, hands over beats_i beats from beat_i of the ports of cluster home_i on.
// They become INCR bursts of BurstBeats beats, the last one shorter, each handed to all ports at
// once: valid_o[p] stands until ready_i[p], and the next burst follows when all ports have taken
// the last. beat_i is a multiple of BurstBeats, whose bytes divide 4 KiB: no burst crosses such a
// boundary.
//
// issue_o: a burst will be handed to the ports, and final_o says whether it is the last of its
// begin_i. done_i: a burst has ended at all ports; no more than Outstanding are on their way.
//
// Cost: counters of a beat's address.
`include "rs_assert.svh"

module rs_vector_bursts
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Ports = 2,
  parameter  int unsigned BurstBeats = 16,
  parameter  int unsigned Outstanding = 16,
  parameter  int unsigned BeatWidth = 34,  // of an address in beats
  parameter  int unsigned CountWidth = 24
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  begin_i,
  input  logic [  HomeBits-1:0] home_i,
  input  logic [ BeatWidth-1:0] beat_i,
  input  logic [CountWidth-1:0] beats_i,
  output logic                  busy_o,
  output logic                  issue_o,
  output logic                  final_o,
  input  logic                  done_i,
  output logic                  outstanding_o,
  output logic [     Ports-1:0] valid_o,
  output logic [  HomeBits-1:0] home_o,
  output logic [ BeatWidth-1:0] beat_o,
  output logic [           7:0] len_o,
  input  logic [     Ports-1:0] ready_i
);
  localparam int unsigned FlightWidth = $clog2(Outstanding + 1);
  logic                   busy_q, free, issue, final_burst;
  logic [   HomeBits-1:0] home_q, issued_home_q;
  logic [  BeatWidth-1:0] beat_q, issued_beat_q;
  logic [ CountWidth-1:0] left_q;
  logic [            7:0] len, len_q;
  logic [      Ports-1:0] valid_q;
  logic [FlightWidth-1:0] flight_q;

  assign free        = (valid_q & ~ready_i) == '0;
  assign issue       = busy_q && free && flight_q != FlightWidth'(Outstanding);
  assign final_burst = left_q <= CountWidth'(BurstBeats);
  assign len         = final_burst ? 8'(left_q - 1'b1) : 8'(BurstBeats - 1);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q   <= 1'b0;
      valid_q  <= '0;
      flight_q <= '0;
    end else begin
      if (begin_i) busy_q <= 1'b1;
      else if (issue && final_burst) busy_q <= 1'b0;
      valid_q  <= issue ? '1 : valid_q & ~ready_i;
      flight_q <= flight_q + FlightWidth'(issue) - FlightWidth'(done_i);
    end
    if (begin_i) begin
      home_q <= home_i;
      beat_q <= beat_i;
      left_q <= beats_i;
    end else if (issue) begin
      beat_q <= beat_q + BeatWidth'(BurstBeats);
      left_q <= left_q - CountWidth'(BurstBeats);
    end
    if (issue) begin
      issued_home_q <= home_q;
      issued_beat_q <= beat_q;
      len_q         <= len;
    end
  end
  assign busy_o        = busy_q;
  assign issue_o       = issue;
  assign final_o       = final_burst;
  assign outstanding_o = flight_q != '0;
  assign valid_o       = valid_q;
  assign home_o        = issued_home_q;
  assign beat_o        = issued_beat_q;
  assign len_o         = len_q;

  `RS_ASSERT(Aligned_A, !begin_i || beat_i % BeatWidth'(BurstBeats) == '0,
             $sformatf("rows begin at beat %0d, which is no multiple of %0d", beat_i, BurstBeats))
  `RS_ASSERT(NotEmpty_A, !begin_i || (beats_i != '0 && !busy_q),
             $sformatf("%0d beats are handed over", beats_i))
endmodule
