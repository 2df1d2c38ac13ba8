// What test_proofs.py proves of rs_host_window, of a host that waits for each answer, and a device
// that gives a row some cycles after it was asked.
//
// Each access has one answer, and a bound on its cycles. What is stored is what was written since
// the host moved, in order, whole rows where they are rows, at the place that the registers named,
// which the device has. What a read gives is the word of the row at that place, as the device gave
// it since the last write, move or program. What is refused has no effect.
module rs_host_window_proof
  import rs_ntt_pkg::*;
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  int unsigned LogN = 4,
  parameter  int unsigned Width = 40,
  parameter  int unsigned Rpaus = 3,
  parameter  int unsigned Cores = 2,
  parameter  int unsigned Polys = 3,
  parameter  int unsigned Longest = 3,  // cycles that the device takes for a row, at most
  parameter  int unsigned NarrowRpaus = 0,
  parameter  int unsigned NarrowWidth = 0,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned LogLanes = $clog2(Lanes),
  localparam int unsigned HostWords = host_words(Lanes),
  localparam int unsigned LogWords = $clog2(HostWords)
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             ready_i,
  input logic [7:0]       space_i,
  input logic [7:0]       unit_i,
  input logic [15:0]      index_i,
  input logic [16:0]      word_i,
  input logic             moved_i,
  input access_t          access_i,
  input logic             rvalid_i,
  input logic [Width-1:0] rdata_i [HostWords]
);
  function automatic rpau_cfg_t configuration();
    rpau_cfg_t own;
    own = DefaultCfg;
    own.LogN = LogN;
    own.Width = Width;
    own.Rpaus = Rpaus;
    own.Cores = Cores;
    own.WorkPolys = Polys;
    own.KeyPolys = Polys;
    own.Constants = 5;
    own.Twiddles = TwiddlesStored;
    own.NarrowRpaus = NarrowRpaus;
    own.NarrowWidth = NarrowWidth;
    return own;
  endfunction

  logic                      advance, ack, idle, we, re;
  logic [31:0]               data;
  refused_t                  refused;
  logic [SpaceWidth-1:0]      space;
  logic [RpauWidth-1:0]      rpau;
  logic [HostIndexWidth-1:0] index;
  logic [RowWidth-1:0]       row;
  logic [Width-1:0]          wdata [HostWords];
  rs_host_window #(
    .Cfg(configuration())
  ) u_dut (
    .clk_i,
    .rst_ni,
    .ready_i,
    .space_i,
    .unit_i,
    .index_i,
    .word_i,
    .moved_i,
    .advance_o(advance),
    .access_i,
    .ack_o(ack),
    .idle_o(idle),
    .data_o(data),
    .refused_o(refused),
    .host_we_o(we),
    .host_re_o(re),
    .host_space_o(space),
    .host_rpau_o(rpau),
    .host_index_o(index),
    .host_row_o(row),
    .host_wdata_o(wdata),
    .host_rvalid_i(rvalid_i),
    .host_rdata_i(rdata_i)
  );

  // ---- the host and the device ------------------------------------------------------------------
  typedef struct packed {
    logic [7:0]  space;
    logic [7:0]  unit;
    logic [15:0] index;
    logic [16:0] word;
  } place_t;
  place_t     place, place_q;
  logic       waiting_q;  // an access has no answer yet
  logic       reset_q, moved_q, advance_q;
  logic       asked_q;  // the device owes a row
  logic [3:0] asked_for_q;
  assign place = '{space: space_i, unit: unit_i, index: index_i, word: word_i};
  always_ff @(posedge clk_i) begin
    reset_q   <= !rst_ni;
    place_q   <= place;
    moved_q   <= moved_i;
    advance_q <= advance;
    waiting_q <= rst_ni && (waiting_q || access_i.valid) && !ack;
    asked_q   <= rst_ni && ready_i && (re || asked_q) && !rvalid_i;
    if (re) asked_for_q <= 4'd0;
    else asked_for_q <= asked_for_q + 4'd1;
  end
  always_comb begin
    assume (!(access_i.valid && waiting_q));
    assume (!(moved_i && (access_i.valid || waiting_q)));
    assume (!rvalid_i || (asked_q && ready_i));
    assume (!(asked_q && asked_for_q == 4'(Longest)) || rvalid_i || !ready_i);
    assume (reset_q || moved_q || (place.space == place_q.space && place.unit == place_q.unit &&
                                   place.index == place_q.index &&
                                   place.word == place_q.word + 17'(advance_q)));
  end

  // ---- answers ----------------------------------------------------------------------------------
  logic [3:0] waits_q;
  always_ff @(posedge clk_i) begin
    if (waiting_q) waits_q <= waits_q + 4'd1;
    else waits_q <= 4'd1;
  end
  always_comb begin
    if (ack) assert (access_i.valid || waiting_q);
    assert (idle == !(access_i.valid || waiting_q));
    if (waiting_q) assert (waits_q <= 4'(Longest + 3));
  end

  // ---- what exists ------------------------------------------------------------------------------
  logic rows, exists;
  assign rows   = space_i == 8'(SpacePoly) || space_i == 8'(SpaceKey);
  assign exists = unit_i < 8'(Rpaus) && (
      rows ? index_i < 16'(Polys) && word_i < 17'(1 << LogN) :
      index_i == '0 && (space_i == 8'(SpaceConstant) && word_i < 17'd5 ||
                        space_i == 8'(SpaceModulus) && word_i < 17'(ModulusWords) ||
                        space_i == 8'(SpaceTwiddle) && word_i < 17'(1 << LogN)));

  // ---- writes -----------------------------------------------------------------------------------
  logic        write, lower_first_q;
  logic [31:0] lower_q;
  logic [63:0] word;
  assign write = access_i.valid && access_i.write;
  assign word  = {access_i.data, lower_q};
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || moved_i) lower_first_q <= 1'b0;
    else if (write) lower_first_q <= !access_i.upper && access_i.whole;
    if (write && !access_i.upper) lower_q <= access_i.data;
  end

  logic [LogLanes:0]  gathered_q;  // words of the memory's row that came since its first one
  logic [Width-1:0]   words_q [HostWords];  // of the port's row
  logic               written, stored, stored_q, fetch;
  logic [LogLanes-1:0] lane;
  assign lane    = rows ? word_i[LogLanes-1:0] : '0;
  assign written = ready_i && write && access_i.upper && access_i.whole && lower_first_q &&
      exists && word < 64'd1 << Width && (!rows || gathered_q == (LogLanes + 1)'(lane)) &&
      (unit_i < 8'(Rpaus - NarrowRpaus) || word < 64'd1 << NarrowWidth);
  assign fetch   = access_i.valid && !access_i.write && !ack;
  assign stored  = written && (!rows || &lane[LogWords-1:0]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || !ready_i || moved_i || fetch) gathered_q <= '0;
    else if (written) gathered_q <= (!rows || &lane) ? '0 : gathered_q + 1'b1;
    if (written) words_q[lane[LogWords-1:0]] <= word[Width-1:0];
    stored_q <= rst_ni && stored;
  end
  always_comb begin
    assert (we == stored_q);
    if (we || re) begin
      assert (8'(space) == place_q.space && 8'(rpau) == place_q.unit &&
              16'(index) == place_q.index);
      assert (8'(rpau) < 8'(Rpaus));
    end
    if (we && (space == SpacePoly || space == SpaceKey)) begin
      assert (17'(row) == place_q.word >> LogWords);
      for (int unsigned i = 0; i < HostWords; i++) assert (wdata[i] == words_q[i]);
    end else if (we) begin
      assert (17'(row) == place_q.word && wdata[0] == words_q[0]);
    end
  end

  // ---- reads ------------------------------------------------------------------------------------
  logic             read, upper_q, row_q_good;
  logic [Width-1:0] row_q [HostWords];  // as the device gave it
  logic [16:0]      row_place_q;
  logic [63:0]      expected;
  assign read     = (access_i.valid && !access_i.write) || waiting_q;
  assign expected = 64'(row_q[word_i[LogWords-1:0]]);
  always_ff @(posedge clk_i) begin
    if (access_i.valid) upper_q <= access_i.upper;
    if (rvalid_i) begin
      row_q       <= rdata_i;
      row_place_q <= word_i >> LogWords;
    end
    row_q_good <= rst_ni && ready_i && !moved_i && !written && (rvalid_i || row_q_good);
  end
  always_comb begin
    if (re) assert (space == SpacePoly && 17'(row) == place_q.word >> LogWords);
    if (ack && read && refused == '0) begin
      assert (ready_i && exists && space_i == 8'(SpacePoly) && row_q_good);
      assert (row_place_q == word_i >> LogWords);
      assert (data == ((access_i.valid ? access_i.upper : upper_q) ? expected[63:32]
                                                                   : expected[31:0]));
    end
  end

  // ---- refused accesses -------------------------------------------------------------------------
  always_comb begin
    if (refused != '0) assert (ack && !advance && !stored && data == '0);
    if (access_i.valid && !ready_i) assert (refused.busy);
    if (write && access_i.upper) assert (advance == written);
    if (write && access_i.upper) assert (written || refused != '0);
    if (read) assert (advance == (ack && refused == '0 &&
                                  (access_i.valid ? access_i.upper : upper_q)));
    if (advance) assert (access_i.valid || waiting_q);
  end

  // ---- what the induction needs to know of the window's state -----------------------------------
  always_comb begin
    assert (u_dut.u_halves.lower_valid_q == lower_first_q);
    assert (!lower_first_q || u_dut.u_halves.lower_q == lower_q);
    assert (gathered_q < (LogLanes + 1)'(Lanes) && u_dut.filled_q == gathered_q[LogLanes-1:0]);
    assert (gathered_q == '0 || (rows && !waiting_q));
    assert (!(reset_q || moved_q) || (gathered_q == '0 && !waiting_q && !u_dut.row_valid_q));
    for (int unsigned i = 0; i < HostWords; i++) begin
      if (LogWords'(i) < gathered_q[LogWords-1:0]) assert (u_dut.row_q[i] == words_q[i]);
    end
    assert (u_dut.fetching_q == waiting_q);
    assert (!waiting_q || (u_dut.upper_q == upper_q && exists && space_i == 8'(SpacePoly)));
    assert (!u_dut.row_valid_q ||
            (row_q_good && row_place_q == word_i >> LogWords && exists &&
             space_i == 8'(SpacePoly)));
    for (int unsigned i = 0; i < HostWords; i++) begin
      assert (!u_dut.row_valid_q || u_dut.row_q[i] == row_q[i]);
    end
    assert (!waiting_q || u_dut.row_valid_q || re || asked_q);
    assert (!re || (waiting_q && waits_q == 4'd1 && !asked_q));
    assert (!asked_q || (waiting_q && !u_dut.row_valid_q && waits_q == asked_for_q + 4'd2 &&
                         asked_for_q <= 4'(Longest)));
  end
endmodule
