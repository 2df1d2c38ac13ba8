// A port of memory in a simulation: an AXI4 slave that takes its time as timing.py says.
//
// Bursts are served one after another, a beat a cycle, but not in the first ReadPause cycles of
// every Interval, of reads, and the first WritePause, of writes. Intervals are counted from epoch_i
// on, the cycle after it being their first. A burst is taken when the one before it has been
// served, or in the cycle in which its last beat is: so it is served from the cycle after that on.
// Where nothing is in the way, the first beat comes Latency cycles after its address was taken, the
// answer to a burst that is written Latency cycles after its last beat. What the master does not
// take at once waits.
//
// Contents are somewhere else: read_data_i is the beat at read_beat_o in the same cycle.
//
// error_i: answers are SLVERR. silent_i: nothing is taken, and nothing answered.
module rs_vector_memory #(
  parameter  int unsigned PortBits = 256,
  parameter  int unsigned AddrWidth = 40,
  parameter  int unsigned Latency = 62,
  parameter  int unsigned Interval = 975,
  parameter  int unsigned ReadPause = 65,
  parameter  int unsigned WritePause = 267,
  parameter  int unsigned LogDepth = 9,    // beats that wait
  localparam int unsigned ByteBits = $clog2(PortBits / 8),
  localparam int unsigned BeatWidth = AddrWidth - ByteBits
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 epoch_i,
  input  logic                 error_i,
  input  logic                 silent_i,
  input  logic                 ar_valid_i,
  input  logic [AddrWidth-1:0] ar_addr_i,
  input  logic [          7:0] ar_len_i,
  output logic                 ar_ready_o,
  output logic                 r_valid_o,
  output logic                 r_last_o,
  output logic [          1:0] r_resp_o,
  input  logic                 r_ready_i,
  output logic [BeatWidth-1:0] read_beat_o,
  input  logic                 aw_valid_i,
  input  logic [AddrWidth-1:0] aw_addr_i,
  input  logic [          7:0] aw_len_i,
  output logic                 aw_ready_o,
  input  logic                 w_valid_i,
  input  logic                 w_last_i,
  output logic                 w_ready_o,
  output logic                 write_o,
  output logic [BeatWidth-1:0] write_beat_o,
  output logic                 b_valid_o,
  output logic [          1:0] b_resp_o,
  input  logic                 b_ready_i
);
  localparam logic [1:0] RespSlverr = 2'b10;
  logic [31:0] now_q, phase_q;
  always_ff @(posedge clk_i) begin
    now_q   <= rst_ni ? now_q + 1'b1 : '0;
    phase_q <= (!rst_ni || epoch_i || phase_q == Interval - 1) ? '0 : phase_q + 1'b1;
  end

  // ---- reads --------------------------------------------------------------------------------------
  typedef struct packed {
    logic                 last;
    logic [BeatWidth-1:0] beat;
    logic [31:0]          due;
  } read_t;
  read_t                reads [2**LogDepth];
  read_t                next;
  logic [LogDepth:0]    read_in_q, read_out_q;
  logic                 reading_q, serve, take_read;
  logic [BeatWidth-1:0] read_beat_q;
  logic [          8:0] reads_left_q;
  assign serve      = reading_q && phase_q + 1 > ReadPause && !silent_i;
  assign ar_ready_o = !silent_i && (!reading_q || (serve && reads_left_q == 9'd1));
  assign take_read  = ar_valid_i && ar_ready_o;
  assign next       = reads[read_out_q[LogDepth-1:0]];
  always_ff @(posedge clk_i) begin
    if (serve) begin
      reads[read_in_q[LogDepth-1:0]] <= '{
          last: reads_left_q == 9'd1,
          beat: read_beat_q,
          due: now_q + Latency - 1
      };
    end
    read_in_q <= rst_ni ? read_in_q + (LogDepth + 1)'(serve) : '0;
    read_out_q <= rst_ni ? read_out_q + (LogDepth + 1)'(r_valid_o && r_ready_i) : '0;
    reading_q <= rst_ni && (take_read || (reading_q && !(serve && reads_left_q == 9'd1)));
    if (take_read) begin
      read_beat_q  <= ar_addr_i[AddrWidth-1:ByteBits];
      reads_left_q <= 9'(ar_len_i) + 9'd1;
    end else if (serve) begin
      read_beat_q  <= read_beat_q + 1'b1;
      reads_left_q <= reads_left_q - 9'd1;
    end
  end
  assign r_valid_o   = read_in_q != read_out_q && now_q >= next.due && !silent_i;
  assign r_last_o    = next.last;
  assign r_resp_o    = error_i ? RespSlverr : '0;
  assign read_beat_o = next.beat;
  Depth_A :
  assert property (@(posedge clk_i) !rst_ni || !serve ||
                   read_in_q - read_out_q != {1'b1, LogDepth'(0)})
  else $error("more beats wait than the simulated memory holds");

  // ---- writes -------------------------------------------------------------------------------------
  logic [31:0]          answers [2**LogDepth];
  logic [LogDepth:0]    answer_in_q, answer_out_q;
  logic                 writing_q, take_write;
  logic [BeatWidth-1:0] write_beat_q;
  logic [          8:0] writes_left_q;
  assign w_ready_o  = writing_q && phase_q + 1 > WritePause && !silent_i;
  assign write_o    = w_valid_i && w_ready_o;
  assign aw_ready_o = !silent_i && (!writing_q || (write_o && writes_left_q == 9'd1));
  assign take_write = aw_valid_i && aw_ready_o;
  always_ff @(posedge clk_i) begin
    if (write_o && w_last_i) answers[answer_in_q[LogDepth-1:0]] <= now_q + Latency;
    answer_in_q <= rst_ni ? answer_in_q + (LogDepth + 1)'(write_o && w_last_i) : '0;
    answer_out_q <= rst_ni ? answer_out_q + (LogDepth + 1)'(b_valid_o && b_ready_i) : '0;
    writing_q <= rst_ni && (take_write || (writing_q && !(write_o && writes_left_q == 9'd1)));
    if (take_write) begin
      write_beat_q  <= aw_addr_i[AddrWidth-1:ByteBits];
      writes_left_q <= 9'(aw_len_i) + 9'd1;
    end else if (write_o) begin
      write_beat_q  <= write_beat_q + 1'b1;
      writes_left_q <= writes_left_q - 9'd1;
    end
  end
  assign write_beat_o = write_beat_q;
  assign b_valid_o    = answer_in_q != answer_out_q && !silent_i &&
      now_q >= answers[answer_out_q[LogDepth-1:0]];
  assign b_resp_o     = error_i ? RespSlverr : '0;
  Last_A :
  assert property (@(posedge clk_i) !rst_ni || !write_o || w_last_i == (writes_left_q == 9'd1))
  else $error("a burst ends where its address did not say so");

  // ---- what AXI4 asks of a master -----------------------------------------------------------------
  logic unused_low;
  assign unused_low = ^{ar_addr_i[ByteBits-1:0], aw_addr_i[ByteBits-1:0]};
  for (genvar w = 0; w < 2; w++) begin : gen_address
    logic                 valid, ready, valid_q, ready_q;
    logic [AddrWidth-1:0] addr, addr_q;
    logic [          7:0] len;
    logic [         12:0] end_byte;
    logic                 unused_end;
    assign valid    = (w == 0) ? ar_valid_i : aw_valid_i;
    assign ready    = (w == 0) ? ar_ready_o : aw_ready_o;
    assign addr     = (w == 0) ? ar_addr_i : aw_addr_i;
    assign len      = (w == 0) ? ar_len_i : aw_len_i;
    assign end_byte = 13'(addr[11:0]) + ((13'(len) + 13'd1) << ByteBits) - 13'd1;
    assign unused_end = ^end_byte;
    always_ff @(posedge clk_i) begin
      valid_q <= rst_ni && valid;
      ready_q <= ready;
      addr_q  <= addr;
    end
    Stays_A :
    assert property (@(posedge clk_i) !rst_ni || !valid_q || ready_q || (valid && addr == addr_q))
    else $error("an address is taken back");
    Page_A :
    assert property (@(posedge clk_i) !rst_ni || !valid || !end_byte[12])
    else $error("a burst crosses 4 KiB: address %h, %0d beats", addr, 9'(len) + 9'd1);
  end
endmodule
