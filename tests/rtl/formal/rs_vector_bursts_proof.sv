// What test_proofs.py proves of rs_vector_bursts, for ports that take their bursts at any time, in
// any order among them.
//
// The bursts of a request cover its beats, each once and in order. None is longer than BurstBeats or
// crosses a multiple of it. Each port gets each burst once (the proof watches any one port), and
// what is offered stays until it is taken. At most Outstanding bursts are on their way. While halt_i
// is high no burst begins to be offered.
module rs_vector_bursts_proof
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Ports = 2,
  parameter  int unsigned BurstBeats = 4,
  parameter  int unsigned Outstanding = 3,
  parameter  int unsigned BeatWidth = 8,
  parameter  int unsigned CountWidth = 6,
  localparam int unsigned PortBits = (Ports > 1) ? $clog2(Ports) : 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  halt_i,
  input logic                  begin_i,
  input logic [  HomeBits-1:0] home_i,
  input logic [ BeatWidth-1:0] beat_i,
  input logic [CountWidth-1:0] beats_i,
  input logic                  done_i,
  input logic [     Ports-1:0] ready_i,
  input logic [  PortBits-1:0] port_i   // the watched one
);
  logic                  busy, issue, last, outstanding;
  logic [     Ports-1:0] valid;
  logic [  HomeBits-1:0] home;
  logic [ BeatWidth-1:0] beat;
  logic [           7:0] len;
  rs_vector_bursts #(
    .Ports(Ports),
    .BurstBeats(BurstBeats),
    .Outstanding(Outstanding),
    .BeatWidth(BeatWidth),
    .CountWidth(CountWidth)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .halt_i,
    .begin_i,
    .home_i,
    .beat_i,
    .beats_i,
    .busy_o(busy),
    .issue_o(issue),
    .final_o(last),
    .done_i,
    .outstanding_o(outstanding),
    .valid_o(valid),
    .home_o(home),
    .beat_o(beat),
    .len_o(len),
    .ready_i
  );

  // ---- what the block may assume ----------------------------------------------------------------
  logic                known_q;
  logic [PortBits-1:0] port_q;
  int unsigned         flight_q;  // bursts handed out and not ended
  always_comb begin
    assume (!begin_i || !busy);
    assume (beat_i % BeatWidth'(BurstBeats) == '0 && beats_i != '0);
    assume (!done_i || flight_q != 0);
    assume (32'(port_i) < Ports);
    if (known_q) assume (port_i == port_q);
  end

  // ---- the model --------------------------------------------------------------------------------
  logic [ BeatWidth-1:0] next_q;   // the beat that the port's next burst begins with
  logic [CountWidth-1:0] left_q;   // beats of the request that the port has not been asked for
  logic [CountWidth-1:0] wait_q;   // the same of a request that began before the last was taken
  logic [ BeatWidth-1:0] wait_beat_q;
  logic [  HomeBits-1:0] home_q, wait_home_q;
  logic                  take, held_q, halted_q, ends;
  logic [  HomeBits-1:0] held_home_q;
  logic [ BeatWidth-1:0] held_beat_q;
  logic [           7:0] held_len_q;
  assign take = valid[port_i] && ready_i[port_i];
  assign ends = take && left_q == CountWidth'(len) + 1'b1;
  always_ff @(posedge clk_i) begin
    known_q     <= rst_ni;
    port_q      <= port_i;
    held_q      <= rst_ni && valid[port_i] && !ready_i[port_i];
    halted_q    <= rst_ni && halt_i;
    held_home_q <= home;
    held_beat_q <= beat;
    held_len_q  <= len;
    if (!rst_ni) begin
      flight_q <= 0;
      left_q   <= '0;
      wait_q   <= '0;
    end else begin
      flight_q <= flight_q + 32'(issue) - 32'(done_i);
      if (ends || left_q == '0) begin
        left_q <= begin_i ? beats_i : wait_q;
        next_q <= begin_i ? beat_i : wait_beat_q;
        home_q <= begin_i ? home_i : wait_home_q;
        wait_q <= '0;
      end else begin
        if (take) left_q <= left_q - CountWidth'(len) - 1'b1;
        if (take) next_q <= next_q + BeatWidth'(len) + 1'b1;
        if (begin_i) begin
          wait_q      <= beats_i;
          wait_beat_q <= beat_i;
          wait_home_q <= home_i;
        end
      end
    end
  end

  always_comb begin
    if (rst_ni) begin
      assert (flight_q <= Outstanding && outstanding == (flight_q != 0));
      if (held_q) begin
        assert (valid[port_i] && home == held_home_q && beat == held_beat_q && len == held_len_q);
      end
      if (halted_q && !held_q) assert (!valid[port_i]);
      if (valid[port_i]) begin
        assert (left_q != '0 && beat == next_q && home == home_q);
        assert (32'(len) < 32'(left_q) && 32'(len) < BurstBeats);
        assert (beat % BeatWidth'(BurstBeats) == '0);
        assert (32'(len) == BurstBeats - 1 || 32'(len) + 1 == 32'(left_q));
      end
      if (issue) assert (!valid[port_i] || ready_i[port_i]);
      if (!busy && !valid[port_i]) assert (left_q == '0 && wait_q == '0);  // nothing is forgotten

      // What the induction needs to know.
      assert (32'(u_dut.flight_q) == flight_q);
      if (busy) begin
        assert (u_dut.left_q != '0 && u_dut.beat_q % BeatWidth'(BurstBeats) == '0);
        if (!valid[port_i]) begin
          assert (wait_q == '0 && left_q == u_dut.left_q && next_q == u_dut.beat_q);
          assert (home_q == u_dut.home_q);
        end else if (wait_q != '0) begin
          assert (wait_q == u_dut.left_q && wait_beat_q == u_dut.beat_q);
          assert (wait_home_q == u_dut.home_q && 32'(len) + 1 == 32'(left_q));
        end else begin
          assert (left_q == u_dut.left_q + CountWidth'(len) + 1'b1 && home_q == u_dut.home_q);
          assert (u_dut.beat_q == next_q + BeatWidth'(len) + 1'b1);
        end
      end else if (valid[port_i]) begin
        assert (wait_q == '0 && 32'(len) + 1 == 32'(left_q));
      end
    end
  end
endmodule
