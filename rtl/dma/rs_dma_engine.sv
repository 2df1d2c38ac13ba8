// One channel on the bus's clock: works through a list of descriptors in its order.
//
// rs_dma_fetch reads descriptors and the words for the device, rs_dma_store writes words of the
// device and completion records. The engine ends descriptors, one after another. It waits for the
// device's answer (answer_*) and, if words went to host memory, for the bus's answers to all of
// them. Then it writes the completion record and waits for the bus's answer to that.
//
// A descriptor that fails stops the channel when all before it are complete. Its completion record,
// if it has one, is written and names the error, unless the descriptor could not be read or is
// malformed. Later descriptors are not executed, but words of a later OpRead may have been written.
// A stop, an error, and a device that was reset end in the same way: the channel asks the bus for
// nothing more, waits for all answers, and then resets both of its clock domains (reset_request_o,
// rs_dma_reset). Then the channel can be used again.
//
// A completion record, 32 bytes from the lowest on: u32 the descriptor's number in its list, from 1
// on; u32 error_e; u64 the device's counter of cycles when it had ended the descriptor, 0 if it had
// not; u64 the descriptor's address; u64 0.
module rs_dma_engine
  import rs_dma_pkg::*;
#(
  parameter  dma_cfg_t    Cfg = DefaultDmaCfg,
  localparam int unsigned BeatBytes = Cfg.DataBits / 8,
  localparam int unsigned LineBytes = line_bytes(Cfg)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  control_t                control_i,
  output status_t                 status_o,

  output logic                    ar_valid_o,
  input  logic                    ar_ready_i,
  output logic [AddrBits-1:0]     ar_addr_o,
  output logic [7:0]              ar_len_o,
  output logic                    ar_turn_o,
  input  logic                    r_valid_i,
  input  logic                    r_last_i,
  input  logic                    r_error_i,
  input  logic [Cfg.DataBits-1:0] r_data_i,
  output logic                    aw_valid_o,
  input  logic                    aw_ready_i,
  output logic [AddrBits-1:0]     aw_addr_o,
  output logic [7:0]              aw_len_o,
  output logic                    aw_turn_o,
  output logic                    w_valid_o,
  input  logic                    w_ready_i,
  output logic                    w_last_o,
  output logic [BeatBytes-1:0]    w_strb_o,
  output logic [Cfg.DataBits-1:0] w_data_o,
  input  logic                    b_valid_i,
  input  logic                    b_error_i,

  input  logic                    up_i,
  input  logic                    down_i,
  output logic                    reset_request_o,
  output logic                    command_valid_o,
  input  logic                    command_ready_i,
  output command_t                command_o,
  input  logic                    answer_valid_i,
  output logic                    answer_ready_o,
  input  answer_t                 answer_i,
  output logic                    out_valid_o,  // a line to the device
  output logic [8*LineBytes-1:0]  out_o,
  input  logic [Cfg.LogDepth:0]   out_count_i,
  input  logic                    in_valid_i,  // a line from the device
  output logic                    in_ready_o,
  input  logic [8*LineBytes-1:0]  in_i,
  input  logic [Cfg.LogDepth:0]   in_count_i
);
  typedef enum logic [3:0] {
    StIdle,
    StClear,   // both clock domains leave reset before a list begins
    StStart,
    StRun,     // waits for the end of the oldest descriptor in the device
    StWords,   // its words are being written to host memory
    StRecord,  // its completion record is
    StDone,
    StDrain,   // waits for the bus
    StReset,
    StWaitUp
  } state_e;
  state_e state_q;
  logic   flush_n, halt;
  assign flush_n = rst_ni && state_q != StClear && state_q != StReset && state_q != StWaitUp;
  assign halt    = state_q == StDrain;

  // ---- host memory ------------------------------------------------------------------------------
  logic                  fetch_idle, store_idle, all;
  logic [NumberBits-1:0] pushed, ended_q;  // descriptors
  fail_t                 fail;
  logic                  entry_in_valid, entry_in_ready, entry_valid, entry_take;
  entry_t                entry_in, entry;
  logic                  job_in_valid, job_in_ready, job_valid, job_ready;
  job_t                  job_in, job;
  logic                  done_valid, done_error, record_done, record_error;
  logic [DescriptorBits-1:0] record;
  logic [AddrBits-1:0]   list_q;
  rs_dma_fetch #(
    .Cfg(Cfg)
  ) u_fetch (
    .clk_i,
    .rst_ni(flush_n),
    .start_i(state_q == StStart),
    .list_i(list_q),
    .halt_i(halt),
    .idle_o(fetch_idle),
    .all_o(all),
    .pushed_o(pushed),
    .fail_o(fail),
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .ar_turn_o,
    .r_valid_i,
    .r_last_i,
    .r_error_i,
    .r_data_i,
    .command_valid_o,
    .command_ready_i,
    .command_o,
    .entry_valid_o(entry_in_valid),
    .entry_ready_i(entry_in_ready),
    .entry_o(entry_in),
    .job_valid_o(job_in_valid),
    .job_ready_i(job_in_ready),
    .job_o(job_in),
    .line_valid_o(out_valid_o),
    .line_o(out_o),
    .line_count_i(out_count_i)
  );
  rs_dma_fifo #(
    .Width($bits(entry_t)),
    .LogDepth(3)
  ) u_entries (
    .clk_i,
    .rst_ni(flush_n),
    .valid_i(entry_in_valid),
    .ready_o(entry_in_ready),
    .data_i(entry_in),
    .valid_o(entry_valid),
    .ready_i(entry_take),
    .data_o(entry)
  );
  rs_dma_fifo #(
    .Width($bits(job_t)),
    .LogDepth(3)
  ) u_jobs (
    .clk_i,
    .rst_ni(flush_n),
    .valid_i(job_in_valid),
    .ready_o(job_in_ready),
    .data_i(job_in),
    .valid_o(job_valid),
    .ready_i(job_ready),
    .data_o(job)
  );
  rs_dma_store #(
    .Cfg(Cfg)
  ) u_store (
    .clk_i,
    .rst_ni(flush_n),
    .halt_i(halt),
    .void_i(down_i),
    .idle_o(store_idle),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .job_i(job),
    .done_valid_o(done_valid),
    .done_ready_i(state_q == StWords),
    .done_error_o(done_error),
    .record_valid_i(state_q == StRecord),
    .record_addr_i(entry.record),
    .record_i(record),
    .record_done_o(record_done),
    .record_error_o(record_error),
    .line_valid_i(in_valid_i),
    .line_ready_o(in_ready_o),
    .line_i(in_i),
    .line_count_i(in_count_i),
    .aw_valid_o,
    .aw_ready_i,
    .aw_addr_o,
    .aw_len_o,
    .aw_turn_o,
    .w_valid_o,
    .w_ready_i,
    .w_last_o,
    .w_strb_o,
    .w_data_o,
    .b_valid_i,
    .b_error_i
  );

  // ---- ends of descriptors ----------------------------------------------------------------------
  logic                go_q, stop_q, running_q, failed_q, reported_q;
  logic [AddrBits-1:0] address_q;
  logic [31:0]         completed_q;
  error_e              error_q;
  logic [63:0]         cycles_q;
  logic                fails, ends;
  assign fails = fail.valid && fail.number == ended_q && (entry_valid || !fail.pushed);
  assign ends  = entry_valid && answer_valid_i;
  assign answer_ready_o = state_q == StRun && !stop_q && !down_i && !fails && entry_valid;
  assign entry_take     = state_q == StDone;
  assign record         = {
    64'd0, entry.address, cycles_q, 32'(error_q), completed_q + 32'd1
  };

  always_ff @(posedge clk_i) begin
    reported_q <= 1'b0;
    if (!rst_ni) begin
      state_q     <= StIdle;
      go_q        <= 1'b0;
      stop_q      <= 1'b0;
      running_q   <= 1'b0;
      failed_q    <= 1'b0;
      error_q     <= ErrNone;
      address_q   <= '0;
      completed_q <= '0;
      ended_q     <= '0;
      reported_q <= 1'b0;
    end else begin
      if (control_i.go && !running_q) begin
        go_q        <= 1'b1;
        running_q   <= 1'b1;
        failed_q    <= 1'b0;
        error_q     <= ErrNone;
        address_q   <= control_i.list;
        list_q      <= control_i.list;
        completed_q <= '0;
        ended_q     <= '0;
        stop_q      <= 1'b0;
      end
      if (control_i.stop && running_q) stop_q <= 1'b1;

      case (state_q)
        StIdle: begin
          if (down_i) state_q <= StReset;
          else if (go_q) state_q <= StClear;
        end
        StClear: begin
          if (down_i) state_q <= StReset;
          else if (stop_q || up_i) begin
            go_q      <= 1'b0;
            running_q <= !stop_q;
            state_q   <= stop_q ? StIdle : StStart;
          end
        end
        StStart: state_q <= StRun;
        StRun: begin
          if (entry_valid) address_q <= entry.address;
          if (stop_q) begin
            state_q <= StDrain;
          end else if (down_i) begin
            error_q <= ErrDevice;
            state_q <= StDrain;
          end else if (fails) begin
            error_q  <= fail.error;
            cycles_q <= '0;
            if (!fail.pushed) address_q <= fail.address;
            state_q <= (fail.pushed && entry.keep) ? StRecord : StDrain;
          end else if (ends) begin
            error_q  <= answer_i.error;
            cycles_q <= answer_i.cycles;
            if (entry.read && answer_i.error == ErrNone) state_q <= StWords;
            else if (entry.keep) state_q <= StRecord;
            else state_q <= (answer_i.error == ErrNone) ? StDone : StDrain;
          end else if (all && pushed == ended_q) begin
            running_q <= 1'b0;
            state_q   <= StIdle;
          end
        end
        StWords: begin
          if (stop_q || down_i) begin
            if (!stop_q) error_q <= ErrDevice;
            state_q <= StDrain;
          end else if (done_valid) begin
            if (done_error) error_q <= ErrWrite;
            if (entry.keep) state_q <= StRecord;
            else state_q <= done_error ? StDrain : StDone;
          end
        end
        StRecord: begin
          if (record_done) begin
            if (error_q == ErrNone && record_error) error_q <= ErrRecord;
            state_q <= (error_q != ErrNone || record_error) ? StDrain : StDone;
          end
        end
        StDone: begin
          completed_q <= completed_q + 32'd1;
          ended_q     <= ended_q + 1'b1;
          reported_q <= entry.tell;
          state_q     <= StRun;
        end
        StDrain: if (fetch_idle && store_idle) state_q <= StReset;
        StReset: state_q <= StWaitUp;
        default: begin  // StWaitUp; a list may wait to begin
          if (up_i) begin
            if (!go_q) begin
              running_q   <= 1'b0;
              failed_q    <= failed_q || error_q != ErrNone;
              reported_q <= error_q != ErrNone && running_q;
            end
            state_q <= StIdle;
          end
        end
      endcase
    end
  end

  assign reset_request_o = state_q == StReset;
  assign status_o = '{
          running: running_q,
          reported: reported_q,
          failed: failed_q,
          error: error_q,
          address: address_q,
          completed: completed_q
      };
endmodule
