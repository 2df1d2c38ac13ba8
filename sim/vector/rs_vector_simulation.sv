// A simulation of rs_vector_core before a memory that takes its time as timing.py says, with all lists
// of a program.
//
// Lists, settings and the memory's rows are written one by one; start_i begins. The cycle after it
// is cycle 0 of the schedule. load_begun_o, issued_o and store_begun_o stand in the cycles in which
// the next of each list begins, and ended_o counts instructions; done_o says that all has ended.
module rs_vector_simulation
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  int unsigned Width = 32,
  parameter  int unsigned Reduction = VectorMontgomery,
  parameter  int unsigned StepBits = 17,
  parameter  int unsigned LogLanes = 4,
  parameter  int unsigned LogRadix = 2,
  parameter  int unsigned Banks = 4,
  parameter  int unsigned BankRows = 1024,
  parameter  int unsigned TableRows = 1024,
  parameter  int unsigned StreamRows = 512,
  parameter  int unsigned ReadRowCycles = 1,
  parameter  int unsigned WriteRowCycles = 1,
  parameter  int unsigned MemoryLatency = 200,
  parameter  int unsigned MemoryRows = 32768,
  parameter  int unsigned ListLength = 8192,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned Points = LogRadix / 2,
  localparam int unsigned TableWidth = $clog2(TableRows),
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses),
  localparam int unsigned PassBits = $bits(pass_t),
  localparam int unsigned ShiftWidth = $clog2(Width + 1),
  localparam int unsigned MemoryWidth = $clog2(MemoryRows),
  localparam int unsigned ListWidth = $clog2(ListLength)
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // settings
  input  logic                   prime_we_i,
  input  logic [ PrimeWidth-1:0] prime_addr_i,
  input  logic [      Width-1:0] prime_q_i,
  input  logic [      Width-1:0] prime_mu_i,
  input  logic [ ShiftWidth-1:0] prime_shift_i,
  input  logic                   pass_we_i,
  input  logic [  PassWidth-1:0] pass_addr_i,
  input  logic [   PassBits-1:0] pass_i,
  input  logic [            4:0] row_bits_i,
  input  logic [            3:0] passes_i,
  // memory
  input  logic                   memory_we_i,
  input  logic [MemoryWidth-1:0] memory_addr_i,
  input  logic [      Width-1:0] memory_row_i       [Lanes],
  output logic [      Width-1:0] memory_row_o       [Lanes],
  // lists
  input  logic [  ListWidth-1:0] list_addr_i,
  input  logic                   load_we_i,
  input  logic                   load_to_table_i,
  input  logic [            1:0] load_stream_i,
  input  logic [MemoryWidth-1:0] load_from_i,
  input  logic [           15:0] load_rows_i,
  input  logic [ TableWidth-1:0] load_table_row_i,
  input  logic [           31:0] load_after_store_i,
  input  logic [           31:0] load_after_computing_i,
  input  logic                   computing_we_i,
  input  logic [           63:0] computing_i        [InstructionWords],
  input  logic                   store_we_i,
  input  logic                   store_stream_i,
  input  logic [MemoryWidth-1:0] store_to_i,
  input  logic [           31:0] loads_i,
  input  logic [           31:0] computing_count_i,
  input  logic [           31:0] stores_i,
  // the run
  input  logic                   start_i,
  output logic                   load_begun_o,
  output logic                   issued_o,
  output logic                   store_begun_o,
  output logic [           31:0] ended_o,
  output logic                   done_o
);
  typedef struct packed {
    logic                   to_table;
    logic [1:0]             stream;
    logic [MemoryWidth-1:0] from;
    logic [15:0]            rows;
    logic [TableWidth-1:0]  table_row;
  } rows_t;
  typedef struct packed {
    rows_t       moved;
    logic [31:0] after_store;
    logic [31:0] after_computing;
  } load_t;
  typedef struct packed {
    logic                   stream;
    logic [MemoryWidth-1:0] to;
  } store_t;

  // ---- lists --------------------------------------------------------------------------------------
  load_t load_list [ListLength];
  logic [64*InstructionWords-1:0] computing_list [ListLength];
  store_t store_list [ListLength];
  logic [64*InstructionWords-1:0] computing;
  for (genvar i = 0; i < InstructionWords; i++) begin : gen_word
    assign computing[64*i+:64] = computing_i[i];
  end
  always_ff @(posedge clk_i) begin
    if (load_we_i) begin
      load_list[list_addr_i] <= '{
          moved: '{
              to_table: load_to_table_i,
              stream: load_stream_i,
              from: load_from_i,
              rows: load_rows_i,
              table_row: load_table_row_i
          },
          after_store: load_after_store_i,
          after_computing: load_after_computing_i
      };
    end
    if (computing_we_i) computing_list[list_addr_i] <= computing;
    if (store_we_i) store_list[list_addr_i] <= '{stream: store_stream_i, to: store_to_i};
  end

  logic running_q;
  always_ff @(posedge clk_i) running_q <= rst_ni && (running_q || start_i);

  // ---- loads: a row is handed out MemoryLatency cycles after it could be the first time -----------
  localparam int unsigned BusyWidth = 28;
  logic [LoadStreams-1:0] load_room, load_begin;
  logic [31:0]            loads_q, stores_ended_q, loads_ended_q, ended;
  logic [BusyWidth-1:0]   channel_q;
  load_t                  load;
  rows_t                  moved, own_q;
  logic                   load_begins;
  assign load  = load_list[ListWidth'(loads_q)];
  assign moved = load.moved;
  assign load_begins = running_q && loads_q != loads_i && channel_q == '0 &&
      stores_ended_q >= load.after_store && ended >= load.after_computing &&
      (moved.to_table || load_room[moved.stream]);
  always_comb begin
    load_begin               = '0;
    load_begin[moved.stream] = load_begins && !moved.to_table;
  end

  // The row that is handed out: row_q of the load, in the last of its ReadRowCycles cycles.
  typedef struct packed {
    logic                   valid;
    logic                   last;
    logic                   to_table;
    logic [1:0]             stream;
    logic [MemoryWidth-1:0] from;
    logic [TableWidth-1:0]  table_row;
  } beat_t;
  logic        reading_q;
  logic [15:0] row_q, part_q;
  beat_t       beat, come;
  logic        beats;
  assign beats = reading_q && part_q == 16'(ReadRowCycles - 1);
  assign beat = '{
      valid: beats && rst_ni,
      last: row_q + 16'd1 == own_q.rows,
      to_table: own_q.to_table,
      stream: own_q.stream,
      from: own_q.from + MemoryWidth'(row_q),
      table_row: own_q.table_row + TableWidth'(row_q)
  };
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) loads_q <= '0;
    else if (load_begins) loads_q <= loads_q + 32'd1;
    if (!rst_ni) channel_q <= '0;
    else if (load_begins) channel_q <= BusyWidth'(moved.rows) * BusyWidth'(ReadRowCycles) - 1'b1;
    else if (channel_q != '0) channel_q <= channel_q - 1'b1;
    if (load_begins) begin
      own_q  <= moved;
      row_q  <= '0;
      part_q <= '0;
    end else if (beats) begin
      row_q  <= row_q + 16'd1;
      part_q <= '0;
    end else begin
      part_q <= part_q + 16'd1;
    end
    if (!rst_ni) reading_q <= 1'b0;
    else if (load_begins) reading_q <= 1'b1;
    else if (beats && beat.last) reading_q <= 1'b0;
  end
  rs_delay #(.Width($bits(beat_t)), .Depth(MemoryLatency - 1)) u_latency (
    .clk_i, .d_i(beat), .d_o(come)
  );
  logic [LoadStreams-1:0] load_push;
  always_comb begin
    load_push              = '0;
    load_push[come.stream] = come.valid && !come.to_table;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) loads_ended_q <= '0;
    else loads_ended_q <= loads_ended_q + 32'(come.valid && come.last);
  end

  // ---- stores -------------------------------------------------------------------------------------
  logic [31:0]            stores_q;
  logic [BusyWidth-1:0]   writing_q;
  logic [RowWidth:0]      limb_rows;
  store_t                 store, writes_q;
  logic                   store_begins, popping_q, pops, written, written_late, store_ended;
  logic [15:0]            store_row_q, store_part_q;
  logic [Points-1:0]      store_limb, store_begin, store_pop, store_done;
  assign limb_rows    = (RowWidth + 1)'(1) << row_bits_i;
  assign store        = store_list[ListWidth'(stores_q)];
  assign store_begins = running_q && stores_q != stores_i && writing_q == '0 &&
      |(store_limb & (Points'(1) << store.stream));
  assign written      = writing_q == BusyWidth'(1) ||
      (store_begins && 32'(limb_rows) * WriteRowCycles == 1);
  assign pops         = popping_q && store_part_q == '0;
  assign store_begin  = store_begins ? Points'(1) << store.stream : '0;
  assign store_pop    = pops ? Points'(1) << writes_q.stream : '0;
  rs_delay #(.Depth(3)) u_written (.clk_i, .d_i(written && rst_ni), .d_o(written_late));
  rs_delay #(.Depth(MemoryLatency)) u_ended (.clk_i, .d_i(written && rst_ni), .d_o(store_ended));
  logic done_stream;
  rs_delay #(.Depth(3)) u_done_stream (.clk_i, .d_i(writes_q.stream), .d_o(done_stream));
  assign store_done = written_late ? Points'(1) << done_stream : '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) stores_q <= '0;
    else if (store_begins) stores_q <= stores_q + 32'd1;
    if (!rst_ni) writing_q <= '0;
    else if (store_begins) writing_q <= BusyWidth'(limb_rows) * BusyWidth'(WriteRowCycles) - 1'b1;
    else if (writing_q != '0) writing_q <= writing_q - 1'b1;
    if (!rst_ni || start_i) stores_ended_q <= '0;
    else stores_ended_q <= stores_ended_q + 32'(store_ended);
    if (store_begins) begin
      writes_q     <= store;
      store_row_q  <= '0;
      store_part_q <= '0;
    end else begin
      store_part_q <= (store_part_q == 16'(WriteRowCycles - 1)) ? '0 : store_part_q + 16'd1;
      if (pops) store_row_q <= store_row_q + 16'd1;
    end
    if (!rst_ni) popping_q <= 1'b0;
    else if (store_begins) popping_q <= 1'b1;
    else if (pops && store_row_q + 16'd1 == 16'(limb_rows)) popping_q <= 1'b0;
  end

  // ---- memory -------------------------------------------------------------------------------------
  logic [Width-1:0]       memory [MemoryRows][Lanes];
  logic [Width-1:0]       load_row [Lanes];
  logic [Width-1:0]       store_row [Points*Lanes];
  logic                   put;
  logic                   put_stream;
  logic [MemoryWidth-1:0] put_to;
  rs_delay #(.Width(2 + MemoryWidth), .Depth(RamLatency)) u_put (
    .clk_i,
    .d_i({pops && rst_ni, writes_q.stream, writes_q.to + MemoryWidth'(store_row_q)}),
    .d_o({put, put_stream, put_to})
  );
  always_ff @(posedge clk_i) begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (memory_we_i) memory[memory_addr_i][l] <= memory_row_i[l];
      else if (put) memory[put_to][l] <= store_row[((Points > 1 && put_stream) ? Lanes : 0) + l];
    end
  end
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      load_row[l]     = memory[come.from][l];
      memory_row_o[l] = memory[memory_addr_i][l];
    end
  end

  // ---- list computing -----------------------------------------------------------------------------
  logic [31:0] issued_q;
  logic        issued;
  logic [64*InstructionWords-1:0] instruction;
  logic unused_instruction;
  assign instruction        = computing_list[ListWidth'(issued_q)];
  assign unused_instruction = ^instruction;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || start_i) issued_q <= '0;
    else issued_q <= issued_q + 32'(issued);
  end

  rs_vector_core #(
    .Width(Width),
    .Reduction(Reduction),
    .StepBits(StepBits),
    .LogLanes(LogLanes),
    .LogRadix(LogRadix),
    .Banks(Banks),
    .BankRows(BankRows),
    .TableRows(TableRows),
    .StreamRows(StreamRows)
  ) u_core (
    .clk_i,
    .rst_ni,
    .prime_we_i,
    .prime_addr_i,
    .prime_q_i,
    .prime_mu_i,
    .prime_shift_i,
    .pass_we_i,
    .pass_addr_i,
    .pass_i,
    .row_bits_i,
    .passes_i,
    .start_i,
    .instruction_valid_i(running_q && issued_q != computing_count_i),
    .instruction_i(instruction[$bits(instruction_t)-1:0]),
    .instruction_ready_o(issued),
    .ended_o(ended),
    .load_row_i(load_row),
    .load_push_i(load_push),
    .load_begin_i(load_begin),
    .load_room_o(load_room),
    .table_we_i(come.valid && come.to_table),
    .table_addr_i(come.table_row),
    .table_loaded_i(come.valid && come.to_table && come.last),
    .store_limb_o(store_limb),
    .store_begin_i(store_begin),
    .store_pop_i(store_pop),
    .store_row_o(store_row),
    .store_done_i(store_done)
  );
  assign load_begun_o  = load_begins;
  assign issued_o      = issued;
  assign store_begun_o = store_begins;
  assign ended_o       = ended;
  assign done_o        = running_q && loads_ended_q == loads_i && ended == computing_count_i &&
      stores_ended_q == stores_i;
endmodule
