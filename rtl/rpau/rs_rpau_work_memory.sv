// Work polynomials of one RPAU, in banks of one read and one write port, shared by three clients.
//
// The first UramPolys polynomials are in UltraRAM, as many in a bank as the 4,096 words of an
// UltraRAM hold. The others are in BlockBanks banks of block RAM, evenly: the first ones have one
// more where the number does not divide. The banks of a lane stand side by side: a client takes its
// words from one of them.
//
// A row of 2*Cores words lies in two halves that are addressed apart. Half h of row r stands in
// physical half h ^ parity(r) (docs/architecture.md): that is the clients' business; here words and
// rows are physical, lane l belonging to half l / Cores.
//
// Main (the main unit) and side (the dyadic unit) read up to three polynomials of the same rows at
// once, operands a, b and c, and write one; link (the link unit, where there is one) reads one and
// writes one. The words that link reads come out as main's operand c, while link_busy_i: main reads
// no operand c then. While nothing runs, the host reads as main and writes as side. The selections
// hold still while reads are under way: they steer the words on the way back too. Main's operand a
// alone may change from one read to the next. Latency from address to words:
// rs_rpau_pkg::memory_read_latency().
//
// Side takes a row SideWords at a time (rs_rpau_row_parts): side_part_i is 0 with side_re_i and
// names the other parts in the cycles behind it, with the row's side_swap_i; the words of each come
// with the same latency.
//
// No two clients touch one polynomial, read one bank, or write one, at the same time, none reads
// two polynomials of a bank at once, and none reads a row while it writes it: the program's hazard
// rule, and the units' schedules. A row of side's stands in its banks until its parts are taken.
//
// Cost: for a lane and Banks banks a selector of Banks words for each of main's operands; for a word
// of side a selector of parts a bank and one of Banks words an operand; and in front of each bank's
// write port a choice among the clients, a LUT a bit.
module rs_rpau_work_memory
  import rs_rpau_pkg::*;
  import rs_rpau_isa_pkg::*;
#(
  parameter  int unsigned LogN = 13,
  parameter  int unsigned Cores = 4,
  parameter  int unsigned Width = 48,
  parameter  int unsigned Polys = 16,
  parameter  int unsigned UramPolys = 0,
  parameter  int unsigned BlockBanks = 0,             // 0: as many as polynomials in block RAM
  parameter  int unsigned SideWords = 2,              // 0: side reads nothing
  parameter  int unsigned Link = 0,                   // 1: the third client counts
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned SidePorts = (SideWords > 0) ? SideWords : 1,
  localparam int unsigned PartBits = part_bits(Lanes, SideWords),
  localparam int unsigned RowBits = LogN - $clog2(Lanes)
) (
  input  logic                clk_i,

  input  logic                main_re_i,
  input  logic [2:0]          main_use_i,        // which of the operands c, b, a (bits 2, 1, 0)
  input  logic [DstWidth-1:0] main_sel_i [3],    // polynomial of a, b, c
  input  logic [RowBits-1:0]  main_rrow_i [2],   // of each half
  output logic [Width-1:0]    main_a_o [Lanes],
  output logic [Width-1:0]    main_b_o [Lanes],
  output logic [Width-1:0]    main_c_o [Lanes],
  input  logic                main_we_i,
  input  logic [DstWidth-1:0] main_wsel_i,
  input  logic [RowBits-1:0]  main_wrow_i [2],
  input  logic [Width-1:0]    main_wdata_i [Lanes],

  input  logic                side_re_i,
  input  logic [2:0]          side_use_i,
  input  logic [DstWidth-1:0] side_sel_i [3],
  input  logic [RowBits-1:0]  side_rrow_i,
  input  logic                side_swap_i,
  input  logic [PartBits-1:0] side_part_i,
  output logic [Width-1:0]    side_a_o [SidePorts],
  output logic [Width-1:0]    side_b_o [SidePorts],
  output logic [Width-1:0]    side_c_o [SidePorts],
  input  logic                side_we_i,
  input  logic [DstWidth-1:0] side_wsel_i,
  input  logic [RowBits-1:0]  side_wrow_i,
  input  logic [Width-1:0]    side_wdata_i [Lanes],

  input  logic                link_busy_i,       // while it may read
  input  logic                link_re_i,
  input  logic [DstWidth-1:0] link_sel_i,
  input  logic [RowBits-1:0]  link_rrow_i,
  input  logic                link_we_i,
  input  logic [DstWidth-1:0] link_wsel_i,
  input  logic [RowBits-1:0]  link_wrow_i,
  input  logic [Width-1:0]    link_wdata_i [Lanes]
);
  localparam int unsigned BankPolys = (UramWords >> RowBits) > 1 ? UramWords >> RowBits : 1;
  localparam int unsigned UramBanks = (UramPolys + BankPolys - 1) / BankPolys;
  localparam int unsigned BlockPolys = Polys - UramPolys;
  localparam int unsigned Blocks = (BlockBanks == 0) ? BlockPolys : BlockBanks;
  localparam int unsigned Each = (Blocks == 0) ? 0 : BlockPolys / Blocks;
  localparam int unsigned Larger = BlockPolys - Each * Blocks;  // banks that hold one more
  localparam int unsigned Banks = UramBanks + Blocks;
  localparam int unsigned BankWidth = $clog2(Banks);
  typedef logic [Banks:0][DstWidth:0] firsts_t;

  if (UramPolys > Polys) begin : gen_bad_uram_polys
    $error("rs_rpau_work_memory: UramPolys = %0d of %0d", UramPolys, Polys);
  end
  if (Blocks > BlockPolys || (Blocks == 0 && BlockPolys != 0)) begin : gen_bad_block_banks
    $error("rs_rpau_work_memory: BlockBanks = %0d of %0d", BlockBanks, BlockPolys);
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
        first = (first + BankPolys <= UramPolys) ? first + BankPolys : UramPolys;
      end else begin
        first = first + Each + ((b - UramBanks + 1 <= Larger) ? 1 : 0);
      end
    end
    return found;
  endfunction
  // verilator coverage_on
  localparam firsts_t Firsts = firsts();

  // The banks of the polynomials that are named. Not by a function: Verilator would number its
  // locals, and RPAUs would no longer be one piece of code.
  logic [DstWidth-1:0]  named [10];
  logic [BankWidth-1:0] bank [10];
  logic [BankWidth-1:0] main_bank [3];
  logic [BankWidth-1:0] side_bank [3];
  logic [BankWidth-1:0] link_bank, main_wbank, side_wbank, link_wbank;
  assign named = '{main_sel_i[0], main_sel_i[1], main_sel_i[2], main_wsel_i,
                   side_sel_i[0], side_sel_i[1], side_sel_i[2], side_wsel_i,
                   link_sel_i, link_wsel_i};
  always_comb begin
    for (int unsigned i = 0; i < 10; i++) begin
      bank[i] = '0;
      for (int unsigned b = 1; b < Banks; b++) begin
        if ({1'b0, named[i]} >= Firsts[b]) bank[i] = BankWidth'(b);
      end
    end
    main_bank  = '{bank[0], bank[1], bank[2]};
    main_wbank = bank[3];
    side_bank  = '{bank[4], bank[5], bank[6]};
    side_wbank = bank[7];
    link_bank  = bank[8];
    link_wbank = bank[9];
  end

  // What is written: half a row has one address, and its words stand side by side in one memory.
  localparam int unsigned HalfWidth = Cores * Width;
  logic [HalfWidth-1:0] main_half [2];
  logic [HalfWidth-1:0] side_half [2];
  logic [HalfWidth-1:0] link_half [2];
  always_comb begin
    for (int unsigned h = 0; h < 2; h++) begin
      for (int unsigned c = 0; c < Cores; c++) begin
        main_half[h][c*Width+:Width] = main_wdata_i[h*Cores+c];
        side_half[h][c*Width+:Width] = side_wdata_i[h*Cores+c];
        link_half[h][c*Width+:Width] = link_wdata_i[h*Cores+c];
      end
    end
  end

  // What was read. Lanes first: each selects a bank among its own words.
  logic [Width-1:0] word [Lanes][Banks];

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    localparam int unsigned First = 32'(Firsts[b]);
    localparam int unsigned Held = 32'(Firsts[b+1]) - First;
    localparam int unsigned Depth = Held << RowBits;
    localparam int unsigned AddrWidth = $clog2(Depth);

    // The polynomials that main, side and link read here, if any, and those that they write.
    logic main_read, side_read, link_read, main_write, side_write, link_write;
    logic [DstWidth-1:0] main_rsel, side_rsel, rsel, wsel;
    always_comb begin
      main_read = 1'b0;
      side_read = 1'b0;
      main_rsel = '0;
      side_rsel = '0;
      for (int unsigned k = 0; k < 3; k++) begin
        if (main_re_i && main_use_i[k] && main_bank[k] == BankWidth'(b)) begin
          main_read = 1'b1;
          main_rsel = main_sel_i[k];
        end
        if (side_re_i && side_use_i[k] && side_bank[k] == BankWidth'(b)) begin
          side_read = 1'b1;
          side_rsel = side_sel_i[k];
        end
      end
      link_read  = Link != 0 && link_re_i && link_bank == BankWidth'(b);
      main_write = main_we_i && main_wbank == BankWidth'(b);
      side_write = side_we_i && side_wbank == BankWidth'(b);
      link_write = Link != 0 && link_we_i && link_wbank == BankWidth'(b);
      rsel = main_read ? main_rsel : link_read ? link_sel_i : side_rsel;
      wsel = main_write ? main_wsel_i : link_write ? link_wsel_i : side_wsel_i;
    end

    // The memories' output registers follow reads only: what is not read costs a simulator nothing.
    logic read_q;
    always_ff @(posedge clk_i) read_q <= main_read || side_read || link_read;

    for (genvar h = 0; h < 2; h++) begin : gen_half
      logic [AddrWidth-1:0] raddr, waddr;
      assign raddr = AddrWidth'({rsel - DstWidth'(First), main_read ? main_rrow_i[h] :
                                                          link_read ? link_rrow_i : side_rrow_i});
      assign waddr = AddrWidth'({wsel - DstWidth'(First), main_write ? main_wrow_i[h] :
                                                          link_write ? link_wrow_i : side_wrow_i});
      logic [HalfWidth-1:0] rdata;
      rs_rpau_bank #(
        .Width(HalfWidth),
        .Depth(Depth),
        .RamStyle(b < UramBanks ? "ultra" : "block")
      ) u_bank (
        .clk_i,
        .main_we_i(main_write),
        .side_we_i(side_write),
        .link_we_i(link_write),
        .waddr_i(waddr),
        .main_wdata_i(main_half[h]),
        .side_wdata_i(side_half[h]),
        .link_wdata_i(link_half[h]),
        .re_i(main_read || side_read || link_read),
        .raddr_i(raddr),
        .rdata_o(rdata)
      );
      logic [HalfWidth-1:0] words_q;
      always_ff @(posedge clk_i) begin
        if (read_q) words_q <= rdata;
      end
      for (genvar c = 0; c < Cores; c++) begin : gen_word
        assign word[h*Cores+c][b] = words_q[c*Width+:Width];
      end
    end

    OneReader_A :
    assert property (@(posedge clk_i) $onehot0({main_read, side_read, link_read}))
    else $error("two clients read bank %0d", b);
    OneWriter_A :
    assert property (@(posedge clk_i) $onehot0({main_write, side_write, link_write}))
    else $error("two clients write bank %0d", b);
    if (SideWords != 0 && SideWords < Lanes) begin : gen_side_stays
      localparam int unsigned Others = Lanes / SidePorts - 1;  // parts behind a row's first
      logic [Others-1:0] side_reads_q;                         // the latest
      always_ff @(posedge clk_i) side_reads_q <= Others'({side_reads_q, side_read});
      SideRowStays_A :
      assert property (@(posedge clk_i) side_reads_q == '0 ||
                                        !(main_read || side_read || link_read))
      else $error("bank %0d is read before the dyadic unit has taken all of a row", b);
    end
    for (genvar k = 0; k < 3; k++) begin : gen_one_poly
      MainReadsOne_A :
      assert property (@(posedge clk_i) !(main_re_i && main_use_i[k]) ||
                       main_bank[k] != BankWidth'(b) || main_sel_i[k] == main_rsel)
      else $error("the main unit reads two polynomials of bank %0d at once", b);
      SideReadsOne_A :
      assert property (@(posedge clk_i) !(side_re_i && side_use_i[k]) ||
                       side_bank[k] != BankWidth'(b) || side_sel_i[k] == side_rsel)
      else $error("the dyadic unit reads two polynomials of bank %0d at once", b);
    end
  end

  for (genvar k = 0; k < 3; k++) begin : gen_operand
    MainReadInRange_A :
    assert property (@(posedge clk_i) !(main_re_i && main_use_i[k]) || 32'(main_sel_i[k]) < Polys)
    else $error("read of polynomial %0d of %0d", main_sel_i[k], Polys);
    SideReadInRange_A :
    assert property (@(posedge clk_i) !(side_re_i && side_use_i[k]) || 32'(side_sel_i[k]) < Polys)
    else $error("read of polynomial %0d of %0d", side_sel_i[k], Polys);
  end
  LinkReadInRange_A :
  assert property (@(posedge clk_i) !link_re_i || 32'(link_sel_i) < Polys)
  else $error("read of polynomial %0d of %0d", link_sel_i, Polys);
  MainWriteInRange_A :
  assert property (@(posedge clk_i) !main_we_i || 32'(main_wsel_i) < Polys)
  else $error("write to polynomial %0d of %0d", main_wsel_i, Polys);
  SideWriteInRange_A :
  assert property (@(posedge clk_i) !side_we_i || 32'(side_wsel_i) < Polys)
  else $error("write to polynomial %0d of %0d", side_wsel_i, Polys);
  LinkWriteInRange_A :
  assert property (@(posedge clk_i) !link_we_i || 32'(link_wsel_i) < Polys)
  else $error("write to polynomial %0d of %0d", link_wsel_i, Polys);

  // The selection of main's operand a goes with its words.
  logic [BankWidth-1:0] main_a_bank;
  rs_delay #(
    .Width(BankWidth),
    .Depth(RamLatency)
  ) u_main_a_bank (
    .clk_i,
    .d_i(main_bank[0]),
    .d_o(main_a_bank)
  );

  logic [BankWidth-1:0] from_bank [3];
  assign from_bank[0] = main_a_bank;
  assign from_bank[1] = main_bank[1];
  assign from_bank[2] = (Link != 0 && link_busy_i) ? link_bank : main_bank[2];
  LinkTakesOperandC_A :
  assert property (@(posedge clk_i) !(Link != 0 && link_busy_i && main_re_i && main_use_i[2]))
  else $error("the main unit reads an operand c while the link unit sends");

  logic [Width-1:0] operand_q [3][Lanes];
  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic [Width-1:0] own [Banks];  // the lane's words
    assign own = word[l];
    for (genvar k = 0; k < 3; k++) begin : gen_operand
      logic [Width-1:0] chosen;
      rs_rpau_bank_mux #(
        .Width(Width),
        .Banks(Banks)
      ) u_bank (
        .bank_i(from_bank[k]),
        .word_i(own),
        .word_o(chosen)
      );
      always_ff @(posedge clk_i) operand_q[k][l] <= chosen;
    end
  end
  assign main_a_o = operand_q[0];
  assign main_b_o = operand_q[1];
  assign main_c_o = operand_q[2];

  if (SideWords != 0) begin : gen_side
    logic                side_swap;
    logic [PartBits-1:0] side_part;
    rs_delay #(
      .Width(1 + PartBits),
      .Depth(RamLatency)
    ) u_side_part (
      .clk_i,
      .d_i({side_swap_i, side_part_i}),
      .d_o({side_swap, side_part})
    );
    rs_rpau_row_parts #(
      .Cores(Cores),
      .Width(Width),
      .Words(SideWords),
      .Banks(Banks)
    ) u_side (
      .clk_i,
      .swap_i(side_swap),
      .part_i(side_part),
      .bank_i(side_bank),
      .word_i(word),
      .a_o(side_a_o),
      .b_o(side_b_o),
      .c_o(side_c_o)
    );
  end else begin : gen_no_side
    logic unused_side;
    assign unused_side = ^{side_swap_i, side_part_i};
    assign side_a_o    = '{default: '0};
    assign side_b_o    = '{default: '0};
    assign side_c_o    = '{default: '0};
  end

  if (Link == 0) begin : gen_no_link
    logic             unused_link;
    logic [Width-1:0] unused_words;
    always_comb begin
      unused_words = '0;
      for (int unsigned l = 0; l < Lanes; l++) unused_words ^= link_wdata_i[l];
    end
    assign unused_link = ^{
      link_busy_i, link_re_i, link_bank, link_rrow_i, link_we_i, link_wbank, link_wrow_i
    };
  end
endmodule
