// Writes words of one channel's OpRead descriptors, and completion records, to host memory.
//
//   job_*     where words go and how many bytes they are, in order; they come as lines of the FIFO
//             from the device. A burst is asked for when all of its lines are in the FIFO
//             (line_count_i): so its data never keep the bus waiting.
//   done_*    valid: all bursts of the oldest job are answered; done_error_o: one of them with an
//             error. ready: the job is removed.
//   record_*  a completion record, written as one burst before any other burst starts. valid stays
//             until record_done_o, which comes with its answer.
//   aw_turn_o The channel's turn on the bus ends: with the last burst of a job, and with a record.
//   halt_i    No burst starts. idle_o: no burst is in progress. rst_ni, synchronous, needs idle_o.
//   void_i    The FIFO from the device gives no more words: the rest of a burst is written without
//             strobes.
//
// Bursts are as in rs_dma_fetch. The data of a burst follow its address (aw_ready_i) before the
// next address is taken. Bytes behind the last row have no strobes.
`include "rs_assert.svh"

module rs_dma_store
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  localparam int unsigned BeatBytes = Cfg.DataBits / 8,
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic                      halt_i,
  input  logic                      void_i,
  output logic                      idle_o,

  input  logic                      job_valid_i,
  output logic                      job_ready_o,
  input  job_t                      job_i,
  output logic                      done_valid_o,
  input  logic                      done_ready_i,
  output logic                      done_error_o,
  input  logic                      record_valid_i,
  input  logic [AddrBits-1:0]       record_addr_i,
  input  logic [DescriptorBits-1:0] record_i,
  output logic                      record_done_o,
  output logic                      record_error_o,

  input  logic                      line_valid_i,
  output logic                      line_ready_o,
  input  logic [8*LineBytes-1:0]    line_i,
  input  logic [Cfg.LogDepth:0]     line_count_i,

  output logic                      aw_valid_o,
  input  logic                      aw_ready_i,
  output logic [AddrBits-1:0]       aw_addr_o,
  output logic [7:0]                aw_len_o,
  output logic                      aw_turn_o,
  output logic                      w_valid_o,
  input  logic                      w_ready_i,
  output logic                      w_last_o,
  output logic [BeatBytes-1:0]      w_strb_o,
  output logic [Cfg.DataBits-1:0]   w_data_o,
  input  logic                      b_valid_i,
  input  logic                      b_error_i
);
  localparam int unsigned LineBeats = LineBytes / BeatBytes;
  localparam int unsigned RowBytes = row_bytes(Cfg.HostWords, Cfg.Width);
  localparam int unsigned Burst = burst_bytes(BeatBytes, LineBytes << Cfg.LogDepth);
  localparam int unsigned LogLine = $clog2(LineBytes);
  localparam int unsigned LogBeat = $clog2(BeatBytes);
  localparam int unsigned BeatCount = CountBytes - LogBeat;
  localparam int unsigned RecordBeats =
      (DescriptorBytes > BeatBytes) ? DescriptorBytes / BeatBytes : 1;
  localparam int unsigned MaxOpen = 32;  // bursts whose answers have not come

  // ---- the next burst ---------------------------------------------------------------------------
  typedef enum logic [1:0] {
    StWait,  // for a job
    StSize,  // of its next burst
    StAsk
  } state_e;
  state_e                state_q;
  logic [AddrBits-1:0]   addr_q;
  logic [BeatCount-1:0]  left_q;   // beats of the job that are not asked for
  logic [BeatBytes-1:0]  mask_q;   // strobes of its last beat
  logic [8:0]            beats_q, beats;
  logic [12:0]           page;
  logic [Cfg.LogDepth:0] need_q;   // lines in the FIFO that belong to bursts asked for
  logic [Cfg.LogDepth:0] lines;    // of this burst
  logic [NumberBits-1:0] issued_q, answered_q, open;  // bursts
  logic                  free, ask, ask_words, ask_record, last_burst, take_job;
  logic                  record_asked_q;
  logic                  ends_ready;
  assign page = 13'(PageBytes) - {1'b0, addr_q[11:0]};
  always_comb begin
    beats = 9'(Burst / BeatBytes);
    if (BeatCount'(page >> LogBeat) < BeatCount'(beats)) beats = 9'(page >> LogBeat);
    if (left_q < BeatCount'(beats)) beats = 9'(left_q);
  end
  assign lines = (Cfg.LogDepth + 1)'(beats_q >> (LogLine - LogBeat));
  assign open  = issued_q - answered_q;

  logic                aw_valid_q, aw_record_q, aw_end_q;
  logic [AddrBits-1:0] aw_addr_q;
  logic [7:0]          aw_len_q;
  assign free       = rst_ni && !halt_i && !aw_valid_q && open < NumberBits'(MaxOpen);
  assign ask_record = free && record_valid_i && !record_asked_q;
  assign ask_words  = free && !ask_record && state_q == StAsk && ends_ready &&
                      line_count_i >= need_q + lines;
  assign ask        = ask_record || ask_words;
  assign last_burst = left_q == BeatCount'(beats_q);
  assign take_job    = state_q == StWait && job_valid_i;
  assign job_ready_o = state_q == StWait;

  // ---- ends of jobs -----------------------------------------------------------------------------
  logic                  end_valid, failed_q;
  logic [NumberBits-1:0] end_number, since_end, before_end;
  logic [NumberBits-1:0] failed_at_q;  // the first burst that was answered with an error
  rs_dma_fifo #(
    .Width(NumberBits),
    .LogDepth(4)
  ) u_ends (
    .clk_i,
    .rst_ni,
    .valid_i(ask_words && last_burst),
    .ready_o(ends_ready),
    .data_i(issued_q + 1'b1),
    .valid_o(end_valid),
    .ready_i(done_ready_i && done_valid_o),
    .data_o(end_number)
  );
  assign since_end    = answered_q - end_number;
  assign before_end   = failed_at_q - end_number;
  assign done_valid_o = end_valid && !since_end[NumberBits-1];
  assign done_error_o = failed_q && before_end[NumberBits-1];

  logic [NumberBits-1:0] record_at_q;
  assign record_done_o  = record_asked_q && b_valid_i && answered_q == record_at_q;
  assign record_error_o = b_error_i;

  // ---- data -------------------------------------------------------------------------------------
  logic                    busy_q, record_q, end_q;
  logic [7:0]              beat_q;  // beats that follow
  logic                    w_take, line_last, aw_take;
  logic [Cfg.DataBits-1:0] line_beat, record_beat;
  logic [BeatBytes-1:0]    record_strb;
  logic [BeatBytes-1:0]    mask_end_q, mask_aw_q;  // of the burst that is written, or comes next
  assign aw_take   = aw_valid_q && aw_ready_i;
  assign w_valid_o = busy_q && (record_q || line_valid_i || void_i);
  assign w_take    = w_valid_o && w_ready_i;
  assign w_last_o  = beat_q == '0;
  assign w_data_o  = record_q ? record_beat : line_beat;
  assign line_ready_o = w_take && !record_q && line_last;
  always_comb begin
    if (record_q) w_strb_o = record_strb;
    else if (!line_valid_i) w_strb_o = '0;
    else if (w_last_o && end_q) w_strb_o = mask_end_q;
    else w_strb_o = '1;
  end

  if (LineBeats == 1) begin : gen_direct
    assign line_last = 1'b1;
    assign line_beat = line_i;
  end else begin : gen_split
    logic [$clog2(LineBeats)-1:0] part_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || (aw_take && !aw_record_q)) part_q <= '0;
      else if (w_take && !record_q) part_q <= part_q + 1'b1;
    end
    assign line_last = part_q == '1;
    assign line_beat = line_i[Cfg.DataBits*part_q+:Cfg.DataBits];
  end
  if (BeatBytes > DescriptorBytes) begin : gen_record_part
    logic upper;
    assign upper       = record_addr_i[$clog2(DescriptorBytes)];
    assign record_beat = {record_i, record_i};
    assign record_strb = {{DescriptorBytes{upper}}, {DescriptorBytes{!upper}}};
  end else if (BeatBytes == DescriptorBytes) begin : gen_record_beat
    assign record_beat = record_i;
    assign record_strb = '1;
  end else begin : gen_record_beats
    localparam int unsigned PartBits = $clog2(RecordBeats);
    logic [PartBits-1:0] part;
    assign part        = ~beat_q[PartBits-1:0];
    assign record_beat = record_i[Cfg.DataBits*part+:Cfg.DataBits];
    assign record_strb = '1;
  end

  // Strobes of a job's last beat: its rows, or all of them.
  logic [BeatBytes-1:0] mask;
  logic [LogBeat-1:0]   last_bytes;
  assign last_bytes = job_i.bytes[LogBeat-1:0];
  always_comb begin
    mask = '1;
    for (int unsigned i = RowBytes; i < BeatBytes; i++) begin
      mask[i] = last_bytes == '0 || i < 32'(last_bytes);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q        <= StWait;
      need_q         <= '0;
      issued_q       <= '0;
      answered_q     <= '0;
      failed_q       <= 1'b0;
      record_asked_q <= 1'b0;
      aw_valid_q     <= 1'b0;
      busy_q         <= 1'b0;
    end else begin
      case (state_q)
        StWait: if (job_valid_i) state_q <= StSize;
        StSize: state_q <= StAsk;
        default: if (ask_words) state_q <= last_burst ? StWait : StSize;
      endcase
      need_q <= need_q + (ask_words ? lines : '0) -
                (Cfg.LogDepth + 1)'(w_take && !record_q && line_last);
      if (ask) issued_q <= issued_q + 1'b1;
      if (b_valid_i) answered_q <= answered_q + 1'b1;
      if (b_valid_i && b_error_i && !(record_asked_q && answered_q == record_at_q)) begin
        failed_q <= 1'b1;
      end
      if (ask_record) record_asked_q <= 1'b1;
      else if (record_done_o) record_asked_q <= 1'b0;
      if (ask) aw_valid_q <= 1'b1;
      else if (aw_ready_i) aw_valid_q <= 1'b0;
      if (aw_take) busy_q <= 1'b1;
      else if (w_take && w_last_o) busy_q <= 1'b0;
    end

    if (b_valid_i && b_error_i && !failed_q) failed_at_q <= answered_q;
    if (ask_record) record_at_q <= issued_q;
    if (take_job) begin
      addr_q <= job_i.address;
      left_q <= BeatCount'((job_i.bytes + CountBytes'(BeatBytes - 1)) >> LogBeat);
      mask_q <= mask;
    end else if (ask_words) begin
      addr_q <= addr_q + (AddrBits'(beats_q) << LogBeat);
      left_q <= left_q - BeatCount'(beats_q);
    end
    beats_q <= beats;
    if (ask) begin
      aw_addr_q   <= ask_record ? record_addr_i >> LogBeat << LogBeat : addr_q;
      aw_len_q    <= ask_record ? 8'(RecordBeats - 1) : 8'(beats_q - 9'd1);
      aw_record_q <= ask_record;
      aw_end_q    <= last_burst;
      mask_aw_q   <= mask_q;
    end
    if (aw_take) begin
      record_q   <= aw_record_q;
      end_q      <= aw_end_q;
      mask_end_q <= mask_aw_q;
      beat_q     <= aw_len_q;
    end else if (w_take) begin
      beat_q <= beat_q - 8'd1;
    end
  end

  assign idle_o     = !aw_valid_q && !busy_q && open == '0;
  assign aw_valid_o = aw_valid_q;
  assign aw_addr_o  = aw_addr_q;
  assign aw_len_o   = aw_len_q;
  assign aw_turn_o  = aw_take && (aw_record_q || aw_end_q);

  `RS_ASSERT(OneBurst_A, !(aw_take && busy_q) || (w_take && w_last_o),
             "a burst is taken before the data of the one before")
  `RS_ASSERT(WordsAreThere_A, !(busy_q && !record_q) || line_valid_i || void_i,
             "a burst began before its words were there")
  `RS_ASSERT(AnswersOfBursts_A, !b_valid_i || open != '0,
             "the bus answers a burst that was not written")
endmodule
