// Issues the instructions of list computing, and their rows one a cycle.
//
// Before the cycle of start_i the program's settings are there (its ring, and its passes are
// written), and no instruction is running; the cycle after it is cycle 0. An instruction that is
// there with valid_i is taken, with ready_o, in the first cycle in which
//
//   gap cycles have passed since the one before it was taken, or since cycle 0
//   tables of factors have been loaded, as many as it says
//   the load streams hold the limbs that it takes, all rows of them
//   the store streams can take the limbs that it hands out
//
// The limbs and the space in streams are then reserved. The compiler ensures everything else by gap
// (backends/vector/compiler/timeline.py). An instruction's rows follow: of a point operation or an
// automorphism a limb's; of a transform those of all its limbs pass by pass, a pass starts when its
// first limb's rows are written. rows_o says what happens to a row, two cycles after it was issued:
// the instruction's first row is issued in the cycle in which it was taken.
//
// A limb has at least four rows. So the needs of the next limb or pass are looked up while the
// previous one is processed. What an instruction took is counted a cycle after it.
//
// Cost: counters, an instruction's registers and the passes' memory. No multiplier: an
// automorphism's row comes from the one before by an addition.
`include "rs_assert.svh"

module rs_vector_sequencer
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned LogRadix = Cfg.LogRadix,
  localparam int unsigned StreamRows = Cfg.StreamRows,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses)
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           start_i,
  // settings
  input  logic         [            4:0] row_bits_i,          // log2 of the rows of a limb
  input  logic         [            3:0] passes_i,
  input  logic                           pass_we_i,
  input  logic         [  PassWidth-1:0] pass_addr_i,         // direction, then number
  input  pass_t                          pass_i,
  // instructions
  input  logic                           valid_i,
  input  instruction_t                   instruction_i,
  output logic                           ready_o,
  output logic         [           31:0] ended_o,             // instructions since start_i
  // streams
  input  logic         [LoadStreams-1:0] load_pushed_i,       // a row has come
  input  logic                           table_loaded_i,
  input  logic         [LoadStreams-1:0] load_begun_i,        // a limb is on its way
  output logic         [LoadStreams-1:0] load_free_o,         // for a limb
  output logic         [     Points-1:0] store_limb_o,        // a whole one is there
  input  logic         [     Points-1:0] store_begun_i,       // it is being taken
  input  logic         [     Points-1:0] store_done_i,        // all of it is taken
  // rows
  output row_t                           row_o,
  output logic         [   LogRadix-1:0] time_o,
  output logic         [   LogLanes-1:0] element_o,
  output logic         [   LogLanes-1:0] constant_o,
  output logic         [   RowWidth-1:0] table_row_o,         // a cycle later than all else
  output logic         [ PrimeWidth-1:0] prime_o       [Points],
  output access_t                        x_o,
  output access_t                        y_o           [Points],
  output access_t                        z_o           [Points],
  output logic         [      Width-1:0] y_word_o      [Points],
  output logic         [      Width-1:0] z_word_o      [Points],
  output access_t                        target_o      [Points],
  output logic         [     Points-1:0] writes_o,            // of point operations
  output logic         [     Points-1:0] stores_o
);
  localparam int unsigned PassLatency = core_transform_latency(Cfg);
  localparam int unsigned CountWidth = $clog2(StreamRows + 1);
  localparam int unsigned EntryWidth = $clog2(MaxEntries);
  localparam int unsigned LowWidth = ElementWidth;
  localparam int unsigned WaitWidth = RowWidth + 1;

  // ---- settings ---------------------------------------------------------------------------------
  logic [4:0]            row_bits_q, row_bits_less_q, top_bits_q;
  logic [RowWidth:0]     rows_q;  // of a limb
  logic [RowWidth-1:0]   last_row_q, before_last_q;
  logic [CountWidth-1:0] capacity_q;  // limbs that a stream holds
  logic [3:0]            last_pass_q;
  always_ff @(posedge clk_i) begin
    row_bits_q      <= row_bits_i;
    row_bits_less_q <= row_bits_i - 5'd1;
    top_bits_q      <= 5'(RowWidth) - row_bits_i;
    rows_q          <= (RowWidth + 1)'(1) << row_bits_i;
    last_row_q      <= RowWidth'(((RowWidth + 1)'(1) << row_bits_i) - 1'b1);
    before_last_q   <= RowWidth'(((RowWidth + 1)'(1) << row_bits_i) - 2'd2);
    capacity_q      <= CountWidth'(StreamRows) >> row_bits_i;
    last_pass_q     <= passes_i - 4'd1;
  end

  // ---- passes -----------------------------------------------------------------------------------
  pass_t passes_q [2*MaxPasses];
  always_ff @(posedge clk_i) if (pass_we_i) passes_q[pass_addr_i] <= pass_i;

  // ---- what an instruction waits for ------------------------------------------------------------
  logic                   take, waits;
  logic [31:0]            since_q, tables_q;
  logic [RowWidth-1:0]    coming_q [LoadStreams];  // rows of a limb that is not whole yet
  logic [LoadStreams-1:0] last_comes_q, come;      // the next row is the last of them; it is here
  logic [CountWidth-1:0]  there_q [LoadStreams];   // limbs that no instruction took
  logic [3:0]             taken_q [LoadStreams];
  logic [CountWidth-1:0]  used_q [Points];         // limbs that a store stream has, or will have
  logic [Points-1:0]      store_free_q, handed_q;
  logic [LoadStreams-1:0] enough;
  logic [Points-1:0]      hands_out;
  always_comb begin
    for (int unsigned s = 0; s < LoadStreams; s++) begin
      come[s]   = load_pushed_i[s] && last_comes_q[s];
      enough[s] = there_q[s] >= CountWidth'(instruction_i.limbs[s]);
    end
    for (int unsigned h = 0; h < Points; h++) begin
      hands_out[h] = instruction_i.operation.point &&
          instruction_i.operation.result[h].stores;
    end
  end
  assign waits = since_q < instruction_i.gap || tables_q < instruction_i.tables || !(&enough) ||
      |(hands_out & ~store_free_q);
  assign take    = valid_i && !waits && !start_i;
  assign ready_o = take;
  always_ff @(posedge clk_i) begin
    since_q  <= (!rst_ni || start_i) ? '0 : take ? 32'd1 : since_q + 32'd1;
    tables_q <= (!rst_ni || start_i) ? '0 : tables_q + 32'(table_loaded_i);
    for (int unsigned s = 0; s < LoadStreams; s++) begin
      taken_q[s] <= (take && rst_ni) ? instruction_i.limbs[s] : '0;
      if (!rst_ni) coming_q[s] <= '0;
      else if (load_pushed_i[s]) coming_q[s] <= come[s] ? '0 : coming_q[s] + 1'b1;
      if (!rst_ni) last_comes_q[s] <= 1'b0;
      else if (load_pushed_i[s]) last_comes_q[s] <= !come[s] && coming_q[s] == before_last_q;
      if (!rst_ni) there_q[s] <= '0;
      else there_q[s] <= there_q[s] + CountWidth'(come[s]) - CountWidth'(taken_q[s]);
    end
    handed_q <= hands_out & {Points{take && rst_ni}};
    for (int unsigned h = 0; h < Points; h++) begin
      store_free_q[h] <= used_q[h] < capacity_q;
      if (!rst_ni) used_q[h] <= '0;
      else used_q[h] <= used_q[h] + CountWidth'(handed_q[h]) - CountWidth'(store_done_i[h]);
    end
  end

  // ---- the running instruction: rows of limbs of passes -----------------------------------------
  operation_t            own_q;
  logic                  busy_q, waiting_q, at_last_q;  // at_last_q: row_q is the last of a limb
  logic [RowWidth-1:0]   row_q, ahead_q;               // ahead_q: row_q + 1
  logic [EntryWidth-1:0] entry_q;
  logic [2:0]            pass_q;
  logic [WaitWidth-1:0]  wait_q, pause_q;
  logic [WaitWidth+EntryWidth:0] pass_rows_q, pass_least_q;
  logic                  issues, last_entry, limb_ends, pass_ends, ends;
  logic                  idle;  // no rows in the next cycle, unless an instruction is taken
  assign issues     = busy_q && !waiting_q;
  assign last_entry = own_q.point || entry_q == own_q.last;
  assign limb_ends  = issues && at_last_q;
  assign pass_ends  = limb_ends && last_entry;
  assign ends       = pass_ends && (own_q.point || 4'(pass_q) == last_pass_q);

  // What is wide of an instruction is loaded while it waits, too, so that nothing of it waits for the
  // comparisons above.
  assign idle = !busy_q || ends;

  // A pass begins when a limb's rows of the pass before it have left the pipeline, or later.
  always_ff @(posedge clk_i) begin
    pass_rows_q  <= ((WaitWidth + EntryWidth + 1)'(own_q.last) + 1'b1) << row_bits_q;
    pass_least_q <=
        (WaitWidth + EntryWidth + 1)'(rows_q) + (WaitWidth + EntryWidth + 1)'(PassLatency);
    pause_q      <= (pass_least_q > pass_rows_q) ? WaitWidth'(pass_least_q - pass_rows_q) : '0;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) busy_q <= 1'b0;
    else busy_q <= take || (busy_q && !ends);
    if (idle) own_q <= instruction_i.operation;
    if (take) begin
      row_q     <= '0;
      ahead_q   <= RowWidth'(1);
      at_last_q <= 1'b0;
      entry_q   <= '0;
      pass_q    <= '0;
      wait_q    <= '0;
      waiting_q <= 1'b0;
    end else begin
      if (issues) row_q <= at_last_q ? '0 : ahead_q;
      if (issues) ahead_q <= at_last_q ? RowWidth'(1) : ahead_q + 1'b1;
      if (issues) at_last_q <= !at_last_q && row_q == before_last_q;
      if (limb_ends) entry_q <= last_entry ? '0 : entry_q + 1'b1;
      if (pass_ends) pass_q <= pass_q + 1'b1;
      if (pass_ends) wait_q <= pause_q;
      else if (waiting_q) wait_q <= wait_q - 1'b1;
      waiting_q <= pass_ends ? pause_q != '0 : waiting_q && wait_q != WaitWidth'(1);
    end
  end
  `RS_ASSERT(NotBusy_A, !take || idle,
             "an instruction is issued, and the one before it has rows left")

  // ---- what the next limb and the next pass take ------------------------------------------------
  pass_t      pass, next_pass_q;
  entry_t     entry, next_entry_q;
  logic [4:0] back_q, next_back_q;  // row_bits_q - turn
  source_t    next_source_q;        // of the next entry: banks, but in the first pass
  pass_t      first_pass;
  assign first_pass = passes_q[{instruction_i.operation.inverse, 3'd0}];
  always_ff @(posedge clk_i) begin
    next_pass_q   <= passes_q[{own_q.inverse, pass_q + 3'd1}];
    next_back_q   <= row_bits_q - next_pass_q.turn;
    next_entry_q  <= own_q.entry[last_entry?'0 : entry_q+1'b1];
    next_source_q <= (pass_q == '0 && !last_entry) ? next_entry_q.source :
        '{origin: FromBank, slot: next_entry_q.target};
  end

  // Where the rows of x and of the target begin: the limb's number times its rows.
  function automatic access_t first_row(source_t source, logic [4:0] row_bits);
    return '{
        origin: source.origin,
        bank: source.slot.bank,
        row: RowWidth'(source.slot.index << row_bits)
    };
  endfunction
  pass_t   pass_now_q;
  entry_t  entry_now_q;
  access_t x_first_q, target_first_q, next_x_first_q, next_target_first_q;
  assign pass  = pass_now_q;
  assign entry = entry_now_q;
  // Looked up ahead: x_first_q, target_first_q.
  always_ff @(posedge clk_i) begin
    next_x_first_q      <= first_row(next_source_q, row_bits_q);
    next_target_first_q <= first_row('{origin: FromBank, slot: next_entry_q.target}, row_bits_q);
    if (idle) begin
      pass_now_q     <= first_pass;
      back_q         <= row_bits_q - first_pass.turn;
      entry_now_q    <= instruction_i.operation.entry[0];
      x_first_q      <= first_row(instruction_i.operation.point ? instruction_i.operation.x :
                                  instruction_i.operation.entry[0].source, row_bits_q);
      target_first_q <= first_row(
          '{origin: FromBank, slot: instruction_i.operation.entry[0].target}, row_bits_q);
    end else if (limb_ends) begin
      entry_now_q    <= next_entry_q;
      x_first_q      <= next_x_first_q;
      target_first_q <= next_target_first_q;
      if (pass_ends) begin
        pass_now_q <= next_pass_q;
        back_q     <= next_back_q;
      end
    end
  end

  // ---- automorphisms: the row's number with its bits reversed, times the element ----------------
  // Row c + 1 reversed is c reversed, and 3*2^(R-1-k) - 2^R more, where the k lowest bits of c are
  // 1. For row c = row_q, step_q is the element times this difference, places_q is R-1-k of row c +
  // 1, ones_q is k of row c + 2; in an instruction's first cycle, with fresh_q, none of them is
  // there yet.
  logic [LowWidth-1:0] low_q, first_step_q, step_q, thrice_q, whole_q, new_element;
  logic [4:0]          places_q, second_q, ones_q, ones, places;
  logic                fresh_q;
  assign new_element = LowWidth'(instruction_i.operation.element);
  always_comb begin  // of row_q + 3
    ones = 5'(RowWidth);
    for (int unsigned i = RowWidth - 1; i >= 2; i--) begin
      if (!row_q[i]) ones = 5'(i);
    end
    if (row_q[0]) ones = 5'd0;
    else if (row_q[1]) ones = 5'd1;
  end
  assign places = fresh_q ? second_q : places_q;
  always_ff @(posedge clk_i) begin
    fresh_q      <= take;
    first_step_q <= new_element << row_bits_less_q;
    second_q     <= row_bits_less_q - 5'd1;
    ones_q       <= ones;
    places_q     <= row_bits_less_q - (ones_q & {5{!fresh_q}});
    step_q       <= (thrice_q << places) - whole_q;
    if (idle) begin
      low_q    <= LowWidth'(instruction_i.operation.element >> 1);
      thrice_q <= new_element + (new_element << 1);
      whole_q  <= new_element << row_bits_q;
    end else if (issues) begin
      low_q <= low_q + (fresh_q ? first_step_q : step_q);
    end
  end

  // ---- rows -------------------------------------------------------------------------------------
  // turned_q is row_q turned; it is 0 in a limb's first row.
  logic [RowWidth-1:0] turned_q, mapped, reversed_low;
  always_ff @(posedge clk_i) begin
    if (take || limb_ends) turned_q <= '0;
    else if (issues) turned_q <= (ahead_q << pass.turn | ahead_q >> back_q) & last_row_q;
  end
  always_comb begin
    for (int unsigned i = 0; i < RowWidth; i++) reversed_low[i] = low_q[RowWidth-1-i];
  end
  assign mapped = reversed_low >> top_bits_q;

  function automatic access_t at(access_t first, logic [RowWidth-1:0] row);
    return '{origin: first.origin, bank: first.bank, row: first.row | row};
  endfunction

  logic                last_q;
  logic                first_q;  // of a limb that x is read from
  logic [RowWidth-1:0] limb_row_q, table_first_q;
  logic [4:0]          table_shift_q;
  row_t                issued_q;
  logic [LogRadix-1:0] time_q;
  logic [LogLanes-1:0] element_q, constant_q;
  logic [PrimeWidth-1:0] prime_q [Points];
  access_t             x_q;
  access_t             y_q [Points];
  access_t             z_q [Points];
  access_t             target_q [Points];
  logic [Width-1:0]    y_word_q [Points];
  logic [Width-1:0]    z_word_q [Points];
  logic [Points-1:0]   writes_q, stores_q;
  always_ff @(posedge clk_i) begin
    issued_q.valid     <= issues && rst_ni;
    issued_q.point     <= own_q.point;
    issued_q.transform <= '{inverse: own_q.inverse, stages: pass.stages};
    issued_q.permute   <= pass.permute;
    if (own_q.point) issued_q.permute <= '{rotate: 1'b0, exchange: '0, arrange: ArrangeStraight};
    for (int unsigned h = 0; h < MaxPoints; h++) begin
      issued_q.subtract[h] <= own_q.result[h].subtract;
      issued_q.y_is_x[h]   <= own_q.result[h].y.origin == FromX;
      issued_q.z_is_x[h]   <= own_q.result[h].z.origin == FromX;
    end
    time_q     <= row_q[LogRadix-1:0];
    element_q  <= own_q.point ? own_q.element[LogLanes-1:0] : LogLanes'(1);
    constant_q <= own_q.point ? LogLanes'(low_q >> row_bits_q) : '0;
    x_q        <= at(x_first_q, own_q.point ? mapped : turned_q);
    for (int unsigned h = 0; h < Points; h++) begin
      prime_q[h]  <= own_q.point ? own_q.result[h].prime : entry.prime;
      y_q[h]      <= at(first_row(own_q.result[h].y, row_bits_q), row_q);
      z_q[h]      <= at(first_row(own_q.result[h].z, row_bits_q), row_q);
      y_word_q[h] <= own_q.result[h].y_word[Width-1:0];
      z_word_q[h] <= own_q.result[h].z_word[Width-1:0];
      target_q[h] <= own_q.point ?
          at(first_row('{origin: FromBank, slot: own_q.result[h].target}, row_bits_q), row_q) :
          at(target_first_q, turned_q);
      writes_q[h] <= own_q.result[h].writes;
      stores_q[h] <= own_q.result[h].stores;
    end
    limb_row_q    <= turned_q;
    table_first_q <= entry.table_row + pass.table_row;
    table_shift_q <= pass.shift;
    last_q        <= ends && rst_ni;
    first_q       <= issues && row_q == '0 && pass_q == '0 && rst_ni;
  end
  assign row_o       = issued_q;
  assign time_o      = time_q;
  assign element_o   = element_q;
  assign constant_o  = constant_q;
  assign prime_o     = prime_q;
  assign x_o         = x_q;
  assign y_o         = y_q;
  assign z_o         = z_q;
  assign y_word_o    = y_word_q;
  assign z_word_o    = z_word_q;
  assign target_o    = target_q;
  assign writes_o    = writes_q;
  assign stores_o    = stores_q;
  logic [RowWidth-1:0] table_late_q, table_shifted_q;
  always_ff @(posedge clk_i) begin
    table_late_q    <= table_first_q;
    table_shifted_q <= limb_row_q >> table_shift_q;
  end
  assign table_row_o = table_late_q + table_shifted_q;

  // ---- what the memory interface learns, NOTICE cycles (timeline.py) after a row's issue --------
  logic        ended;
  logic [31:0] ended_q;
  rs_delay #(.Depth(PassLatency + 2)) u_ended (.clk_i, .d_i(last_q), .d_o(ended));
  always_ff @(posedge clk_i) begin
    ended_q <= (!rst_ni || start_i) ? '0 : ended_q + 32'(ended);
  end
  assign ended_o = ended_q;

  logic [Points-1:0] whole;  // a store stream has another limb
  logic [LoadStreams-1:0] read [Points+1];  // streams where the reading of a limb begins
  for (genvar h = 0; h < Points; h++) begin : gen_point
    localparam int unsigned Stage = 2 * h + 1;  // of the later half
    localparam int unsigned Written = core_point_latency(Cfg, Stage);
    localparam int unsigned Factor = array_y_time(Cfg, Stage);
    logic [FactorStreams-1:0] begins, began;
    rs_delay #(.Depth(Written + 2)) u_whole (
      .clk_i, .d_i(last_q && issued_q.point && stores_q[h]), .d_o(whole[h])
    );
    always_comb begin
      for (int unsigned s = 0; s < FactorStreams; s++) begin
        begins[s] = first_q && issued_q.point && y_q[h].origin == FromStream &&
            32'(y_q[h].bank) == s;
      end
    end
    rs_delay #(.Width(FactorStreams), .Depth(Factor)) u_begun (
      .clk_i, .d_i(begins), .d_o(began)
    );
    assign read[h] = {1'b0, began};
  end
  assign read[Points] = {first_q && x_q.origin == FromStream, {FactorStreams{1'b0}}};

  logic [CountWidth-1:0]  filled_q [LoadStreams];  // limbs that a load stream has, or will have
  logic [LoadStreams-1:0] given, load_free_q;
  logic [CountWidth-1:0]  limbs_q [Points];  // whole ones in a store stream
  always_comb begin
    given = '0;
    for (int unsigned i = 0; i <= Points; i++) given |= read[i];
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < LoadStreams; s++) begin
      load_free_q[s] <= filled_q[s] < capacity_q;
      if (!rst_ni) filled_q[s] <= '0;
      else filled_q[s] <= filled_q[s] + CountWidth'(load_begun_i[s]) - CountWidth'(given[s]);
    end
  end
  assign load_free_o = load_free_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned h = 0; h < Points; h++) begin
      if (!rst_ni) limbs_q[h] <= '0;
      else limbs_q[h] <= limbs_q[h] + CountWidth'(whole[h]) - CountWidth'(store_begun_i[h]);
    end
  end
  always_comb begin
    for (int unsigned h = 0; h < Points; h++) store_limb_o[h] = limbs_q[h] != '0;
  end
endmodule
