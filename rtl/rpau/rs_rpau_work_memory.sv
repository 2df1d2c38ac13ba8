// Work polynomials of one RPAU, in banks that its units share. A bank has one read port and one
// write port.
//
// The first UramPolys polynomials are in UltraRAM, as many in a bank as the 4,096 words of an
// UltraRAM hold. The others are in BlockBanks banks of block RAM, evenly: if the
// number is no multiple, the first banks have one more. The banks of a lane are parallel: a unit
// takes its words from one of them.
//
// A row of 2*Cores words lies in two halves with separate addresses. Half h of row r stands in
// physical half h ^ parity(r) (docs/reference/rpau.md): the units do this mapping. Here
// words and rows are physical: lane l belongs to half l / Cores.
//
// Each unit has a read and a write port, by unit_e. The main and the dyadic unit read up to three
// polynomials of the same rows at once, operands a, b and c, and write one; the link unit reads
// one, its operand a, and writes one. The words that the link unit reads come out as the main
// unit's operand c, while link_busy_i: the main unit reads no operand c then. While nothing runs,
// the host reads as the main unit and writes as the dyadic unit. The polynomials of operands hold
// still until all reads are answered: they also select the returning words. The main unit's
// operand a alone may change from one read to the next. Latency from address to words:
// rs_ntt_pkg::memory_read_latency().
//
// Addresses are registered in front of the memories, with the number of each polynomial's bank. A
// write gives its address a cycle before its words, so this register does not delay it.
//
// The coefficient unit reads operands a and b, Converters words of a row at a time, as they stand,
// in part coefficient_part_i of the row that was read with or before it.
//
// The dyadic unit takes a row DyadicWords at a time (rs_rpau_row_parts): dyadic_part_i is 0 with a
// read and names the other parts in the cycles behind it, with the row's dyadic_swap_i; the words
// of each come with the same latency.
//
// No two units touch one polynomial, read one bank, or write one, at the same time, none reads two
// polynomials of a bank at once, and no unit reads a row while it writes it. The program's hazard
// rule and the units' schedules ensure this. A row that the dyadic unit reads stands in its banks
// until its parts are taken.
//
// Cost: for a lane and Banks banks a selector of Banks words for each of the main unit's operands;
// for a word of the dyadic unit a selector of parts a bank and one of Banks words an operand; and
// in front of each bank's write port a choice among the units, a LUT a bit of three.
`include "rs_assert.svh"

module rs_rpau_work_memory
  import rs_mem_pkg::*;
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  localparam int unsigned Lanes = 2 * Cfg.Cores,
  localparam int unsigned DyadicPorts = (Cfg.DyadicCores > 0) ? Cfg.DyadicCores : 1,
  localparam int unsigned PartBits = part_bits(Lanes, Cfg.DyadicCores),
  localparam int unsigned CoefficientPorts = (Cfg.Converters > 0) ? Cfg.Converters : 1,
  localparam int unsigned CoefficientPartBits = part_bits(Lanes, Cfg.Converters),
  localparam int unsigned RowBits = Cfg.LogN - $clog2(Lanes)
) (
  input  logic                           clk_i,

  input  work_read_t                     read_i [Units],
  input  work_write_t                    write_i [Units],
  input  logic [Cfg.Width-1:0]           words_i [Units][Lanes],  // a cycle after the address

  output logic [Cfg.Width-1:0]           main_o [3][Lanes],       // operands a, b, c
  input  logic                           dyadic_swap_i,
  input  logic [PartBits-1:0]            dyadic_part_i,
  output logic [Cfg.Width-1:0]           dyadic_o [3][DyadicPorts],   // likewise
  input  logic                           link_busy_i,             // while the link unit may read

  input  logic [CoefficientPartBits-1:0] coefficient_part_i,
  output logic [Cfg.Width-1:0]           coefficient_o [3][CoefficientPorts]
);
  localparam int unsigned BankPolys = (UramWords >> RowBits) > 1 ? UramWords >> RowBits : 1;
  localparam int unsigned UramBanks = (Cfg.WorkUramPolys + BankPolys - 1) / BankPolys;
  localparam int unsigned BlockPolys = Cfg.WorkPolys - Cfg.WorkUramPolys;
  localparam int unsigned Blocks = (Cfg.WorkBlockBanks == 0) ? BlockPolys : Cfg.WorkBlockBanks;
  localparam int unsigned Each = (Blocks == 0) ? 0 : BlockPolys / Blocks;
  localparam int unsigned Larger = BlockPolys - Each * Blocks;  // banks that hold one more
  localparam int unsigned Banks = UramBanks + Blocks;
  localparam int unsigned BankWidth = $clog2(Banks);
  typedef logic [Banks:0][DstWidth:0] firsts_t;

  if (Cfg.WorkUramPolys > Cfg.WorkPolys) begin : gen_bad_uram_polys
    $error("rs_rpau_work_memory: WorkUramPolys = %0d of %0d", Cfg.WorkUramPolys, Cfg.WorkPolys);
  end
  if (Blocks > BlockPolys || (Blocks == 0 && BlockPolys != 0)) begin : gen_bad_block_banks
    $error("rs_rpau_work_memory: WorkBlockBanks = %0d of %0d", Cfg.WorkBlockBanks, BlockPolys);
  end

  // The first polynomial of each bank, and the number of all: computed at elaboration, so that
  // nothing of it is covered.
  // verilator coverage_off
  function automatic firsts_t firsts();
    firsts_t found;
    int unsigned first;
    first = 0;
    for (int unsigned b = 0; b <= Banks; b++) begin
      found[b] = (DstWidth + 1)'(first);
      if (b + 1 <= UramBanks) begin
        first = (first + BankPolys <= Cfg.WorkUramPolys) ? first + BankPolys : Cfg.WorkUramPolys;
      end else begin
        first = first + Each + ((b - UramBanks + 1 <= Larger) ? 1 : 0);
      end
    end
    return found;
  endfunction
  // verilator coverage_on
  localparam firsts_t Firsts = firsts();

  localparam operands_t Operands = operands_of(Cfg);
  // The host writes as the dyadic unit.
  localparam logic [Units-1:0] Writers = units_of(Cfg) | Units'(1 << UnitDyadic);

  // Addresses, and banks of the polynomials. Not by a function: Verilator would number its locals,
  // and RPAUs would no longer share one function.
  typedef logic [BankWidth-1:0] bank_t;
  bank_t       read_bank [Units][3];
  bank_t       read_bank_q [Units][3];
  bank_t       write_bank [Units];
  bank_t       write_bank_q [Units];
  work_read_t  read_q [Units];
  work_write_t write_q [Units];
  always_comb begin
    for (int unsigned u = 0; u < Units; u++) begin
      write_bank[u] = '0;
      for (int unsigned b = 1; b < Banks; b++) begin
        if ({1'b0, write_i[u].poly} >= Firsts[b]) write_bank[u] = bank_t'(b);
      end
      for (int unsigned k = 0; k < 3; k++) begin
        read_bank[u][k] = '0;
        for (int unsigned b = 1; b < Banks; b++) begin
          if ({1'b0, read_i[u].poly[k]} >= Firsts[b]) read_bank[u][k] = bank_t'(b);
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned u = 0; u < Units; u++) begin
      read_q[u]       <= read_i[u];
      write_q[u]      <= write_i[u];
      write_bank_q[u] <= write_bank[u];
      for (int unsigned k = 0; k < 3; k++) read_bank_q[u][k] <= read_bank[u][k];
    end
  end

  // Write data: half a row has one address, and its words stand next to each other in one
  // memory.
  localparam int unsigned HalfWidth = Cfg.Cores * Cfg.Width;
  logic [HalfWidth-1:0] half [2][Units];
  always_comb begin
    for (int unsigned h = 0; h < 2; h++) begin
      for (int unsigned u = 0; u < Units; u++) begin
        for (int unsigned c = 0; c < Cfg.Cores; c++) begin
          half[h][u][c*Cfg.Width+:Cfg.Width] = words_i[u][h*Cfg.Cores+c];
        end
      end
    end
  end

  // Read data. Lanes first: each selects a bank among its own words.
  logic [Cfg.Width-1:0] word [Lanes][Banks];

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    localparam int unsigned First = 32'(Firsts[b]);
    localparam int unsigned Held = 32'(Firsts[b+1]) - First;
    localparam int unsigned Depth = Held << RowBits;
    localparam int unsigned AddrWidth = $clog2(Depth);

    // The units that read and write here, and the polynomials.
    logic [Units-1:0]         reads, writes;
    logic [Units-1:0][2:0]    operand;       // the operands that are read here
    logic [DstWidth-1:0]      rpoly, wpoly;
    logic [1:0][RowBits-1:0]  rrow, wrow;
    always_comb begin
      rpoly = read_q[0].poly[0];
      wpoly = write_q[0].poly;
      for (int unsigned h = 0; h < 2; h++) begin
        rrow[h] = read_q[0].row[h][RowBits-1:0];
        wrow[h] = write_q[0].row[h][RowBits-1:0];
      end
      for (int unsigned u = 0; u < Units; u++) begin
        for (int unsigned k = 0; k < 3; k++) begin
          operand[u][k] = Operands[u][k] && read_q[u].valid && read_q[u].uses[k] &&
                          read_bank_q[u][k] == bank_t'(b);
          if (operand[u][k]) rpoly = read_q[u].poly[k];
        end
        reads[u]  = |operand[u];
        writes[u] = Writers[u] && write_i[u].valid && write_bank_q[u] == bank_t'(b);
        if (writes[u]) wpoly = write_q[u].poly;
        for (int unsigned h = 0; h < 2; h++) begin
          if (reads[u]) rrow[h] = read_q[u].row[h][RowBits-1:0];
          if (writes[u]) wrow[h] = write_q[u].row[h][RowBits-1:0];
        end
      end
    end

    // The memories' output registers change with reads only: this makes simulation faster.
    logic read_now_q;
    always_ff @(posedge clk_i) read_now_q <= |reads;

    for (genvar h = 0; h < 2; h++) begin : gen_half
      logic [HalfWidth-1:0] rdata;
      rs_rpau_bank #(
        .Width(HalfWidth),
        .Depth(Depth),
        .RamStyle(b < UramBanks ? "ultra" : "block"),
        .Writers(Writers)
      ) u_bank (
        .clk_i,
        .we_i(writes),
        .waddr_i(AddrWidth'({wpoly - DstWidth'(First), wrow[h]})),
        .wdata_i(half[h]),
        .re_i(|reads),
        .raddr_i(AddrWidth'({rpoly - DstWidth'(First), rrow[h]})),
        .rdata_o(rdata)
      );
      logic [HalfWidth-1:0] words_q;
      always_ff @(posedge clk_i) begin
        if (read_now_q) words_q <= rdata;
      end
      for (genvar c = 0; c < Cfg.Cores; c++) begin : gen_word
        assign word[h*Cfg.Cores+c][b] = words_q[c*Cfg.Width+:Cfg.Width];
      end
    end

    `RS_ASSERT(OneReader_A, $onehot0(reads), $sformatf("two units read bank %0d", b), clk_i, 1'b1)
    `RS_ASSERT(OneWriter_A, $onehot0(writes), $sformatf("two units write bank %0d", b), clk_i, 1'b1)
    if (Cfg.DyadicCores != 0 && Cfg.DyadicCores < Lanes) begin : gen_dyadic_stays
      localparam int unsigned Others = Lanes / DyadicPorts - 1;  // parts behind a row's first
      logic [Others-1:0] dyadic_reads_q;                         // the latest
      always_ff @(posedge clk_i) dyadic_reads_q <= Others'({dyadic_reads_q, reads[UnitDyadic]});
      `RS_ASSERT(SideRowStays_A, dyadic_reads_q == '0 || reads == '0,
                 $sformatf("bank %0d is read before the dyadic unit has taken all of a row", b),
                 clk_i, 1'b1)
    end
    for (genvar u = 0; u < Units; u++) begin : gen_unit
      for (genvar k = 0; k < 3; k++) begin : gen_one_poly
        `RS_ASSERT(ReadsOne_A, !operand[u][k] || read_q[u].poly[k] == rpoly,
                   $sformatf("unit %0d reads two polynomials of bank %0d at once", u, b),
                   clk_i, 1'b1)
      end
    end
  end

  for (genvar u = 0; u < Units; u++) begin : gen_unit
    for (genvar k = 0; k < 3; k++) begin : gen_operand
      `RS_ASSERT(ReadInRange_A,
                 !(read_i[u].valid && read_i[u].uses[k]) ||
                 (Operands[u][k] && 32'(read_i[u].poly[k]) < Cfg.WorkPolys),
                 $sformatf("unit %0d reads polynomial %0d of %0d", u, read_i[u].poly[k],
                     Cfg.WorkPolys), clk_i, 1'b1)
    end
    `RS_ASSERT(WriteInRange_A,
               !write_i[u].valid || (Writers[u] && 32'(write_q[u].poly) < Cfg.WorkPolys),
               $sformatf("unit %0d writes polynomial %0d of %0d", u, write_q[u].poly,
                   Cfg.WorkPolys), clk_i, 1'b1)
  end

  // The selection of the main unit's operand a is delayed with its words.
  bank_t main_a_bank;
  rs_delay #(
    .Width(BankWidth),
    .Depth(RamLatency)
  ) u_main_a_bank (
    .clk_i,
    .d_i(read_bank_q[UnitMain][0]),
    .d_o(main_a_bank)
  );

  bank_t from_bank [3];
  assign from_bank[0] = main_a_bank;
  assign from_bank[1] = read_bank_q[UnitMain][1];
  assign from_bank[2] = (Cfg.Link && link_busy_i) ? read_bank_q[UnitLink][0]
                                                  : read_bank_q[UnitMain][2];
  `RS_ASSERT(LinkTakesOperandC_A,
             !(Cfg.Link && link_busy_i) || !(read_i[UnitMain].valid && read_i[UnitMain].uses[2]),
             "the main unit reads an operand c while the link unit sends", clk_i, 1'b1)

  logic [Cfg.Width-1:0] operand_q [3][Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [Cfg.Width-1:0] own [Banks];  // the lane's words
    assign own = word[l];
    for (genvar k = 0; k < 3; k++) begin : gen_operand
      logic [Cfg.Width-1:0] chosen;
      rs_rpau_bank_mux #(
        .Width(Cfg.Width),
        .Banks(Banks)
      ) u_bank (
        .bank_i(from_bank[k]),
        .word_i(own),
        .word_o(chosen)
      );
      always_ff @(posedge clk_i) operand_q[k][l] <= chosen;
    end
  end
  assign main_o = operand_q;

  if (Cfg.DyadicCores != 0) begin : gen_dyadic
    logic                dyadic_swap;
    logic [PartBits-1:0] dyadic_part;
    rs_delay #(
      .Width(1 + PartBits),
      .Depth(memory_read_latency() - 1)
    ) u_dyadic_part (
      .clk_i,
      .d_i({dyadic_swap_i, dyadic_part_i}),
      .d_o({dyadic_swap, dyadic_part})
    );
    rs_rpau_row_parts #(
      .Cfg(Cfg),
      .Words(Cfg.DyadicCores),
      .Banks(Banks)
    ) u_dyadic (
      .clk_i,
      .swap_i(dyadic_swap),
      .part_i(dyadic_part),
      .bank_i(read_bank_q[UnitDyadic]),
      .word_i(word),
      .operand_o(dyadic_o)
    );
  end else begin : gen_no_dyadic
    assign dyadic_o      = '{default: '0};
  end

  if (Cfg.Converters != 0) begin : gen_coefficient
    logic [CoefficientPartBits-1:0] coefficient_part;
    rs_delay #(
      .Width(CoefficientPartBits),
      .Depth(memory_read_latency() - 1)
    ) u_part (
      .clk_i,
      .d_i(coefficient_part_i),
      .d_o(coefficient_part)
    );
    rs_rpau_row_parts #(
      .Cfg(Cfg),
      .Words(Cfg.Converters),
      .Banks(Banks)
    ) u_parts (
      .clk_i,
      .swap_i(1'b0),
      .part_i(coefficient_part),
      .bank_i(read_bank_q[UnitCoefficient]),
      .word_i(word),
      .operand_o(coefficient_o)
    );
  end else begin : gen_no_coefficient
    assign coefficient_o = '{default: '0};
  end
endmodule
