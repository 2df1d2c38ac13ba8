// A cluster: sequencer, scratchpad, streams, twiddle memory and array; docs/reference/vector.md
// describes it.
//
// It processes the list of computations of a program (rs_vector_sequencer). The memory interface
// processes the lists of loads and stores:
//
//   load    begins with load_begin_i[s], where load_free_o[s] says that stream s can take a limb;
//           its rows come one by one, with load_push_i[s], in order. A table's rows come with
//           table_we_i, and table_loaded_i with the last of them
//   store   begins with store_begin_i[h], where store_limb_o[h] says that a full limb is there;
//           store_pop_i[h] asks for its rows one by one, store_row_o has each RamLatency cycles
//           later, and store_done_i[h] marks the last one
//
// Primes and passes are written before start_i, and are in force until they are written again. The
// cycle after start_i is cycle 0 of timeline.py, which counts the cycles of this block.
//
// The control signals that travel with a row have no reset: rst_ni is low for at least
// core_transform_latency + 8 cycles, until they have left.
//
// Cost: the memories and the array, and multiplexers of Banks + 3 words for each lane and operand.
`include "rs_assert.svh"

module rs_vector_core
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned Banks = Cfg.Banks,
  localparam int unsigned BankRows = Cfg.BankRows,
  localparam int unsigned TableRows = Cfg.TableRows,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned TableWidth = $clog2(TableRows),
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses),
  localparam int unsigned ShiftWidth = $clog2(Width + 1)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  // settings of a program
  input  logic                           prime_we_i,
  input  logic         [ PrimeWidth-1:0] prime_addr_i,
  input  logic         [      Width-1:0] prime_q_i,
  input  logic         [      Width-1:0] prime_mu_i,
  input  logic         [ ShiftWidth-1:0] prime_shift_i,
  input  logic                           pass_we_i,
  input  logic         [  PassWidth-1:0] pass_addr_i,
  input  pass_t                          pass_i,
  input  logic         [            4:0] row_bits_i,
  input  logic         [            3:0] passes_i,
  // list computing
  input  logic                           start_i,
  input  logic                           instruction_valid_i,
  input  instruction_t                   instruction_i,
  output logic                           instruction_ready_o,
  output logic         [           31:0] ended_o,
  // loads
  input  logic         [      Width-1:0] load_row_i      [Lanes],
  input  logic         [LoadStreams-1:0] load_push_i,
  input  logic         [LoadStreams-1:0] load_begin_i,
  output logic         [LoadStreams-1:0] load_free_o,
  input  logic                           table_we_i,
  input  logic         [ TableWidth-1:0] table_addr_i,
  input  logic                           table_loaded_i,
  // stores
  output logic         [     Points-1:0] store_limb_o,
  input  logic         [     Points-1:0] store_begin_i,
  input  logic         [     Points-1:0] store_pop_i,
  output logic         [      Width-1:0] store_row_o     [Points*Lanes],
  input  logic         [     Points-1:0] store_done_i
);
  localparam int unsigned AddrWidth = $clog2(BankRows);
  localparam int unsigned Halves = 2;
  localparam int unsigned Readers = 1 + 2 * Points;  // x, and y and z of each result
  localparam int unsigned Choices = Banks + FactorStreams + 1;  // what an operand may be
  localparam int unsigned ChoiceWidth = $clog2(Choices);
  localparam int unsigned ToArray = core_read_latency();

  // ---- sequencer --------------------------------------------------------------------------------
  row_t                  row;
  logic [  LogRadix-1:0] row_time;
  logic [  LogLanes-1:0] element, constant;
  logic [  RowWidth-1:0] table_row;
  logic [PrimeWidth-1:0] prime [Points];
  access_t               x_access;
  access_t               y_access [Points];
  access_t               z_access [Points];
  access_t               target [Points];
  logic [     Width-1:0] y_word [Points];
  logic [     Width-1:0] z_word [Points];
  logic [    Points-1:0] writes, stores;
  rs_vector_sequencer #(
    .Cfg(Cfg)
  ) u_sequencer (
    .clk_i,
    .rst_ni,
    .start_i,
    .row_bits_i,
    .passes_i,
    .pass_we_i,
    .pass_addr_i,
    .pass_i,
    .valid_i(instruction_valid_i),
    .instruction_i,
    .ready_o(instruction_ready_o),
    .ended_o,
    .load_pushed_i(load_push_i),
    .table_loaded_i,
    .load_begun_i(load_begin_i),
    .load_free_o,
    .store_limb_o,
    .store_begun_i(store_begin_i),
    .store_done_i,
    .row_o(row),
    .time_o(row_time),
    .element_o(element),
    .constant_o(constant),
    .table_row_o(table_row),
    .prime_o(prime),
    .x_o(x_access),
    .y_o(y_access),
    .z_o(z_access),
    .y_word_o(y_word),
    .z_word_o(z_word),
    .target_o(target),
    .writes_o(writes),
    .stores_o(stores)
  );

  // ---- readers: x at once, y and z of each half when its stage takes them -----------------------
  // Reader 0 is x, 1 + 2h result h's y, 2 + 2h its z. A request is at the register in front of the
  // banks in cycle t; the operand is at the array's input in cycle t + ToArray.
  logic [Readers-1:0] request [Halves];
  access_t            request_at [Halves][Readers];
  logic [Width-1:0]   request_word [Halves][Readers];
  for (genvar f = 0; f < Halves; f++) begin : gen_request
    assign request[f][0]      = row.valid;
    assign request_at[f][0]   = x_access;
    assign request_word[f][0] = '0;
    for (genvar h = 0; h < Points; h++) begin : gen_point
      localparam int unsigned Stage = 2 * h + f;
      localparam int unsigned Y = array_y_time(Cfg, Stage);
      localparam int unsigned Z = array_z_time(Cfg, Stage);
      rs_delay #(.Width(1 + $bits(access_t) + Width), .Depth(Y)) u_y (
        .clk_i,
        .d_i({row.valid && row.point, y_access[h], y_word[h]}),
        .d_o({request[f][1+2*h], request_at[f][1+2*h], request_word[f][1+2*h]})
      );
      rs_delay #(.Width(1 + $bits(access_t) + Width), .Depth(Z)) u_z (
        .clk_i,
        .d_i({row.valid && row.point, z_access[h], z_word[h]}),
        .d_o({request[f][2+2*h], request_at[f][2+2*h], request_word[f][2+2*h]})
      );
    end
  end

  // ---- ports of banks and load streams ----------------------------------------------------------
  logic [Halves-1:0]      bank_re_q [Banks];
  logic [AddrWidth-1:0]   bank_raddr_q [Banks][Halves];
  logic [Halves-1:0]      pop_q [LoadStreams];
  logic [Readers-1:0]     of_bank [Banks][Halves];
  logic [Readers-1:0]     of_stream [LoadStreams][Halves];
  logic [AddrWidth-1:0]   bank_raddr [Banks][Halves];
  always_comb begin
    for (int unsigned f = 0; f < Halves; f++) begin
      for (int unsigned b = 0; b < Banks; b++) begin
        bank_raddr[b][f] = '0;
        for (int unsigned i = 0; i < Readers; i++) begin
          of_bank[b][f][i] = request[f][i] && request_at[f][i].origin == FromBank &&
              32'(request_at[f][i].bank) == b;
          bank_raddr[b][f] |= AddrWidth'(request_at[f][i].row) & {AddrWidth{of_bank[b][f][i]}};
        end
      end
      for (int unsigned s = 0; s < LoadStreams; s++) begin
        for (int unsigned i = 0; i < Readers; i++) begin
          of_stream[s][f][i] = request[f][i] && request_at[f][i].origin == FromStream &&
              32'(request_at[f][i].bank) == s;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    bank_raddr_q <= bank_raddr;
    for (int unsigned f = 0; f < Halves; f++) begin
      for (int unsigned b = 0; b < Banks; b++) bank_re_q[b][f] <= rst_ni && |of_bank[b][f];
      for (int unsigned s = 0; s < LoadStreams; s++) pop_q[s][f] <= rst_ni && |of_stream[s][f];
    end
  end
  for (genvar f = 0; f < Halves; f++) begin : gen_one_reader
    for (genvar b = 0; b < Banks; b++) begin : gen_bank
      `RS_ASSERT(OneReader_A, $onehot0(of_bank[b][f]),
                 $sformatf("half %0d of bank %0d is read by several: %b", f, b, of_bank[b][f]))
    end
    for (genvar s = 0; s < LoadStreams; s++) begin : gen_stream
      `RS_ASSERT(OneReader_A, $onehot0(of_stream[s][f]),
                 $sformatf("half %0d of stream %0d is read by several: %b", f, s, of_stream[s][f]))
    end
  end

  // ---- writes: a register behind the array's results --------------------------------------------
  // Writer h is result h of point operations, writer Points a transform.
  localparam int unsigned Writers = Points + 1;
  localparam int unsigned WriterWidth = $clog2(Writers);
  logic [Width-1:0]     transform_row [Lanes];
  logic [Width-1:0]     point_row [Points*Lanes];
  logic [Writers-1:0]   write [Halves];
  access_t              write_at [Halves][Writers];
  logic [Points-1:0]    hands_out [Halves];  // to a store stream
  logic                 write_transform;
  access_t              transform_at;
  rs_delay #(
    .Width(1 + $bits(access_t)),
    .Depth(core_transform_latency(Cfg))
  ) u_transform_at (
    .clk_i, .d_i({row.valid && !row.point, target[0]}), .d_o({write_transform, transform_at})
  );
  for (genvar f = 0; f < Halves; f++) begin : gen_write
    for (genvar h = 0; h < Points; h++) begin : gen_point
      localparam int unsigned Written = core_point_latency(Cfg, 2 * h + f);
      logic valid, writes_late, stores_late;
      rs_delay #(.Width(3 + $bits(access_t)), .Depth(Written)) u_target (
        .clk_i,
        .d_i({row.valid && row.point, writes[h], stores[h], target[h]}),
        .d_o({valid, writes_late, stores_late, write_at[f][h]})
      );
      assign write[f][h]     = valid && writes_late;
      assign hands_out[f][h] = rst_ni && valid && stores_late;
    end
    assign write[f][Points]    = write_transform;
    assign write_at[f][Points] = transform_at;
  end

  logic [Halves-1:0]      bank_we_q [Banks];
  logic [AddrWidth-1:0]   bank_waddr_q [Banks][Halves];
  logic [Writers-1:0]     to_bank [Banks][Halves];
  logic [AddrWidth-1:0]   bank_waddr [Banks][Halves];
  logic [WriterWidth-1:0] writer [Banks][Halves];
  always_comb begin
    for (int unsigned f = 0; f < Halves; f++) begin
      for (int unsigned b = 0; b < Banks; b++) begin
        bank_waddr[b][f] = '0;
        writer[b][f]     = '0;
        for (int unsigned i = 0; i < Writers; i++) begin
          to_bank[b][f][i] = write[f][i] && 32'(write_at[f][i].bank) == b;
          bank_waddr[b][f] |= AddrWidth'(write_at[f][i].row) & {AddrWidth{to_bank[b][f][i]}};
          writer[b][f]     |= WriterWidth'((f == 1 && i == Points) ? Points - 1 : i) &
              {WriterWidth{to_bank[b][f][i]}};
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    bank_waddr_q <= bank_waddr;
    for (int unsigned f = 0; f < Halves; f++) begin
      for (int unsigned b = 0; b < Banks; b++) bank_we_q[b][f] <= rst_ni && |to_bank[b][f];
    end
  end

  // ---- scratchpad -------------------------------------------------------------------------------
  logic [Width-1:0] choice [Choices-1][Lanes];  // banks, then the streams of an operand but x's
  logic [Width-1:0] stream_x [Lanes];
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [Width-1:0] written [Lanes];
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      // In half 1 the last point result is a transform's row (rs_vector_unit).
      localparam int unsigned Half = lane_half(LogRadix, l);
      localparam int unsigned Words = Writers - Half;
      localparam int unsigned IndexWidth = (Words > 1) ? $clog2(Words) : 1;
      logic [Width-1:0] results [Words];
      for (genvar h = 0; h < Points; h++) begin : gen_point
        assign results[h] = point_row[h*Lanes+l];
      end
      if (Half == 0) begin : gen_transform
        assign results[Points] = transform_row[l];
      end
      rs_select #(
        .Width(Cfg.Width),
        .Words(Words)
      ) u_written (
        .clk_i,
        .index_i(IndexWidth'(writer[b][Half])),
        .word_i(results),
        .word_o(written[l])
      );
    end
    rs_vector_bank #(
      .Width(Cfg.Width),
      .LogLanes(Cfg.LogLanes),
      .LogRadix(Cfg.LogRadix),
      .Rows(Cfg.BankRows),
      .RamStyle((Cfg.BankRam == BankUltra) ? "ultra" : "block")
    ) u_bank (
      .clk_i,
      .we_i(bank_we_q[b]),
      .waddr_i(bank_waddr_q[b]),
      .wdata_i(written),
      .re_i(bank_re_q[b]),
      .raddr_i(bank_raddr_q[b]),
      .rdata_o(choice[b])
    );
    for (genvar f = 0; f < Halves; f++) begin : gen_half
      `RS_ASSERT(OneWriter_A, $onehot0(to_bank[b][f]),
                 $sformatf("half %0d of bank %0d is written by several: %b", f, b, to_bank[b][f]))
    end
  end

  // ---- streams ----------------------------------------------------------------------------------
  for (genvar s = 0; s < LoadStreams; s++) begin : gen_load
    logic [Width-1:0] popped [Lanes];
    rs_vector_stream #(
      .Width(Cfg.Width),
      .LogLanes(Cfg.LogLanes),
      .LogRadix(Cfg.LogRadix),
      .Rows(Cfg.StreamRows)
    ) u_stream (
      .clk_i,
      .rst_ni,
      .push_i({Halves{load_push_i[s]}}),
      .row_i(load_row_i),
      .pop_i(pop_q[s]),
      .row_o(popped)
    );
    if (s == StreamX) begin : gen_x
      assign stream_x = popped;
    end else begin : gen_factor
      assign choice[Banks+s] = popped;
    end
  end
  for (genvar h = 0; h < Points; h++) begin : gen_store
    logic [Width-1:0] pushed [Lanes];
    logic [Width-1:0] popped [Lanes];
    for (genvar l = 0; l < Lanes; l++) begin : gen_lane
      assign pushed[l]                = point_row[h*Lanes+l];
      assign store_row_o[h*Lanes+l] = popped[l];
    end
    rs_vector_stream #(
      .Width(Cfg.Width),
      .LogLanes(Cfg.LogLanes),
      .LogRadix(Cfg.LogRadix),
      .Rows(Cfg.StreamRows)
    ) u_stream (
      .clk_i,
      .rst_ni,
      .push_i({hands_out[1][h], hands_out[0][h]}),
      .row_i(pushed),
      .pop_i({Halves{store_pop_i[h]}}),
      .row_o(popped)
    );
  end

  // ---- operands ---------------------------------------------------------------------------------
  // x: a bank, or its stream. y: a bank, a stream, a word. z: a bank, a word. A reader of an even
  // number chooses from the banks and one word more. y is one of the first four choices, or that is
  // chosen from the others and it: a LUT a bit less than one of all of them takes.
  localparam int unsigned Others = Choices - 3;
  localparam int unsigned OtherWidth = $clog2(Others);
  logic [Width-1:0] x [Lanes];
  logic [Width-1:0] y [Points*Lanes];
  logic [Width-1:0] z [Points*Lanes];
  for (genvar f = 0; f < Halves; f++) begin : gen_operand
    logic [ChoiceWidth-1:0] index [Readers];
    logic [ OtherWidth-1:0] other [Readers];
    logic [      Width-1:0] word [Readers];
    for (genvar i = 0; i < Readers; i++) begin : gen_reader
      logic [ChoiceWidth-1:0] chosen;
      logic [ OtherWidth-1:0] chosen_other;
      always_comb begin
        unique case (request_at[f][i].origin)
          FromBank:   chosen = ChoiceWidth'(request_at[f][i].bank);
          FromStream: chosen = (i == 0) ? ChoiceWidth'(Banks) :
                          ChoiceWidth'(Banks) + ChoiceWidth'(request_at[f][i].bank);
          default:    chosen = ChoiceWidth'((i % 2 == 0) ? Banks : Banks + FactorStreams);
        endcase
      end
      assign chosen_other = (32'(chosen) < 4) ? '0 : OtherWidth'(chosen - ChoiceWidth'(3));
      rs_delay #(.Width(ChoiceWidth + OtherWidth + Width), .Depth(ToArray - 1)) u_chosen (
        .clk_i,
        .d_i({chosen, chosen_other, request_word[f][i]}),
        .d_o({index[i], other[i], word[i]})
      );
    end
    for (genvar k = 0; k < Lanes / 2; k++) begin : gen_word
      localparam int unsigned Lane = half_lane(LogRadix, f, k);
      logic [Width-1:0] x_choice [Banks+1];
      for (genvar b = 0; b < Banks; b++) begin : gen_bank
        assign x_choice[b] = choice[b][Lane];
      end
      assign x_choice[Banks] = stream_x[Lane];
      rs_select #(.Width(Cfg.Width), .Words(Banks + 1)) u_x (
        .clk_i, .index_i($clog2(Banks + 1)'(index[0])), .word_i(x_choice), .word_o(x[Lane])
      );
      for (genvar h = 0; h < Points; h++) begin : gen_point
        logic [Width-1:0] y_first [4];
        logic [Width-1:0] y_other [Others];
        logic [Width-1:0] z_choice [Banks+1];
        for (genvar c = 0; c < 4; c++) begin : gen_first
          assign y_first[c] = choice[c][Lane];
        end
        for (genvar c = 4; c < Choices - 1; c++) begin : gen_other
          assign y_other[c-3] = choice[c][Lane];
        end
        for (genvar b = 0; b < Banks; b++) begin : gen_bank
          assign z_choice[b] = choice[b][Lane];
        end
        assign y_other[Others-1] = word[1+2*h];
        assign z_choice[Banks]   = word[2+2*h];
        rs_mux #(.Width(Cfg.Width), .Words(4)) u_y_first (
          .index_i(index[1+2*h][1:0]), .word_i(y_first), .word_o(y_other[0])
        );
        rs_select #(.Width(Cfg.Width), .Words(Others)) u_y (
          .clk_i, .index_i(other[1+2*h]), .word_i(y_other), .word_o(y[h*Lanes+Lane])
        );
        rs_select #(.Width(Cfg.Width), .Words(Banks + 1)) u_z (
          .clk_i, .index_i($clog2(Banks + 1)'(index[2+2*h])), .word_i(z_choice),
          .word_o(z[h*Lanes+Lane])
        );
      end
    end
  end

  // ---- array ------------------------------------------------------------------------------------
  row_t                  array_row;
  logic [  LogRadix-1:0] array_time;
  logic [  LogLanes-1:0] array_element, array_constant;
  logic [TableWidth-1:0] array_table_row;
  rs_delay #(.Width($bits(row_t)), .Depth(ToArray)) u_row (
    .clk_i, .d_i(row), .d_o(array_row)
  );
  rs_delay #(.Width(LogRadix + 2 * LogLanes), .Depth(ToArray)) u_position_delay (
    .clk_i,
    .d_i({row_time, element, constant}),
    .d_o({array_time, array_element, array_constant})
  );
  rs_delay #(.Width(TableWidth), .Depth(ToArray - 1)) u_table_row (
    .clk_i, .d_i(table_row[TableWidth-1:0]), .d_o(array_table_row)
  );

  // Moduli, read a cycle before they enter.
  logic [Width-1:0]      q [Points];
  logic [Width-1:0]      mu [Points];
  logic [ShiftWidth-1:0] shift [Points];
  for (genvar h = 0; h < Points; h++) begin : gen_prime
    logic                  prime_re;
    logic [PrimeWidth-1:0] prime_late;
    rs_delay #(.Width(1 + PrimeWidth), .Depth(ToArray - 1)) u_prime (
      .clk_i, .d_i({row.valid, prime[h]}), .d_o({prime_re, prime_late})
    );
    rs_ram_1r1w #(
      .Width(2 * Width + ShiftWidth),
      .Depth(2 ** PrimeWidth),
      .RamStyle("distributed")
    ) u_ram (
      .clk_i,
      .we_i(prime_we_i),
      .waddr_i(prime_addr_i),
      .wdata_i({prime_q_i, prime_mu_i, prime_shift_i}),
      .re_i(prime_re && rst_ni),
      .raddr_i(prime_late),
      .rdata_o({q[h], mu[h], shift[h]})
    );
  end

  logic [  LogRadix-1:0] table_re;
  logic [TableWidth-1:0] table_raddr [LogRadix];
  logic [     Width-1:0] factor [Lanes];
  rs_vector_table #(
    .Width(Cfg.Width),
    .LogLanes(Cfg.LogLanes),
    .LogRadix(Cfg.LogRadix),
    .Rows(Cfg.TableRows)
  ) u_table (
    .clk_i,
    .we_i(table_we_i),
    .waddr_i(table_addr_i),
    .wdata_i(load_row_i),
    .re_i(table_re),
    .raddr_i(table_raddr),
    .rdata_o(factor)
  );
  rs_vector_array #(
    .Cfg(Cfg)
  ) u_array (
    .clk_i,
    .rst_ni,
    .row_i(array_row),
    .time_i(array_time),
    .element_i(array_element),
    .constant_i(array_constant),
    .table_row_i(array_table_row),
    .q_i(q),
    .mu_i(mu),
    .shift_i(shift),
    .x_i(x),
    .y_i(y),
    .z_i(z),
    .table_re_o(table_re),
    .table_row_o(table_raddr),
    .factor_i(factor),
    .transform_o(transform_row),
    .point_o(point_row)
  );
endmodule
