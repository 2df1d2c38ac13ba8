// What test_proofs.py proves of rs_data_path, of any masters that keep AXI's rules, a device that
// gives rows when it likes, and resets of both, or of the device alone (forget_i), at any time.
//
// Each burst that is taken has its answers: one where it writes, after as many beats as it has, no
// fewer and no more; as many beats as it has where it reads, the last one marked; with its ID, and
// with SLVERR from the first beat on where it is refused at its begin, and from the reset of the
// device on in whose middle it is. No answer changes, or goes,
// before it is accepted. The host port is touched by bursts that own it, one at a time, and at
// places that exist; rows that are written follow each other and hold the words that came, none of
// which lost bits; and what is read are the words of the rows that the device gave, in their order.
module rs_data_path_proof
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  int unsigned LogN = 7,
  parameter  int unsigned Width = 2,
  parameter  int unsigned Rpaus = 3,
  parameter  int unsigned Cores = 8,
  parameter  int unsigned WorkPolys = 3,
  parameter  int unsigned KeyPolys = 5,
  parameter  int unsigned NarrowRpaus = 0,
  parameter  int unsigned NarrowWidth = 0,
  parameter  int unsigned ReadLatency = 1,
  localparam int unsigned Lanes = 2 * Cores,
  localparam int unsigned HostWords = host_words(Lanes)
) (
  input logic clk_i,
  input logic rst_ni,
  input logic forget_i,
  input logic ready_i,
  input logic streams_i,
  input logic grant_i,
  input axi_request_t axi_i,
  input logic [15:0] watched_i,
  input logic host_rvalid_i,
  input logic [Width-1:0] host_rdata_i [HostWords]
);
  function automatic rpau_cfg_t configuration();
    rpau_cfg_t own;
    own = DefaultCfg;
    own.LogN = LogN;
    own.Width = Width;
    own.Rpaus = Rpaus;
    own.Cores = Cores;
    own.WorkPolys = WorkPolys;
    own.KeyPolys = KeyPolys;
    own.NarrowRpaus = NarrowRpaus;
    own.NarrowWidth = NarrowWidth;
    return own;
  endfunction

  axi_response_t             axi;
  logic                      claimed, we, re;
  refused_t                  refused;
  logic [SpaceWidth-1:0]      space;
  logic [RpauWidth-1:0]      rpau;
  logic [HostIndexWidth-1:0] index;
  logic [RowWidth-1:0]       row;
  logic [Width-1:0]          wdata [HostWords];
  rs_data_path #(
    .Cfg(configuration()),
    .ReadLatency(ReadLatency)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .forget_i,
    .ready_i,
    .streams_i,
    .grant_i,
    .claimed_o(claimed),
    .refused_o(refused),
    .axi_i,
    .axi_o(axi),
    .host_we_o(we),
    .host_re_o(re),
    .host_space_o(space),
    .host_rpau_o(rpau),
    .host_index_o(index),
    .host_row_o(row),
    .host_wdata_o(wdata),
    .host_rvalid_i,
    .host_rdata_i
  );

  // ---- the device -------------------------------------------------------------------------------
  // It stays ready for a burst that owns its port, or goes on taking keys from one that writes them,
  // and gives a row for each that was asked for.
  logic [7:0] owed_q;
  always_ff @(posedge clk_i) begin
    owed_q <= (rst_ni && !forget_i) ? owed_q + 8'(re) - 8'(host_rvalid_i) : '0;
  end
  always_comb begin
    assume (ready_i || !claimed || streams_i && u_dut.key && u_dut.write_q);
    assume (!host_rvalid_i || owed_q != '0);
  end

  // ---- bursts -----------------------------------------------------------------------------------
  logic                   writing_q, reading_q;  // a burst is in progress
  logic [8:0]             due_q;  // its beats that have not crossed
  logic [DataIdWidth-1:0] id_q;
  logic                   aw, w, b, ar, r;  // what crosses in this cycle
  assign aw = axi_i.aw.valid && axi.aw_ready;
  assign w  = axi_i.w.valid && axi.w_ready;
  assign b  = axi.b_valid && axi_i.b_ready;
  assign ar = axi_i.ar.valid && axi.ar_ready;
  assign r  = axi.r_valid && axi_i.r_ready;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writing_q <= 1'b0;
      reading_q <= 1'b0;
    end else begin
      if (aw) writing_q <= 1'b1;
      else if (b) writing_q <= 1'b0;
      if (ar) reading_q <= 1'b1;
      else if (r && axi.r_last) reading_q <= 1'b0;
    end
    if (aw || ar) begin
      due_q <= 9'(aw ? axi_i.aw.len : axi_i.ar.len) + 9'd1;
      id_q  <= aw ? axi_i.aw.id : axi_i.ar.id;
    end else if (w || r) begin
      due_q <= due_q - 9'd1;
    end
  end
  always_comb begin
    if (aw || ar) assert (!(aw && ar) && !writing_q && !reading_q);
    if (w) assert (writing_q && due_q != '0);
    if (axi.b_valid) assert (writing_q && due_q == '0 && axi.b_id == id_q);
    if (axi.r_valid) begin
      assert (reading_q && due_q != '0 && axi.r_id == id_q && axi.r_last == (due_q == 9'd1));
    end
  end

  // ---- answers stay -----------------------------------------------------------------------------
  logic                   held_b_q, held_r_q, rlast_q;
  logic [1:0]             bresp_q, rresp_q;
  logic [BeatBits-1:0]    rdata_q;
  always_ff @(posedge clk_i) begin
    held_b_q <= rst_ni && axi.b_valid && !axi_i.b_ready;
    held_r_q <= rst_ni && axi.r_valid && !axi_i.r_ready;
    bresp_q  <= axi.b_resp;
    rresp_q  <= axi.r_resp;
    rlast_q  <= axi.r_last;
    rdata_q  <= axi.r_data;
  end
  always_comb begin
    if (held_b_q) assert (axi.b_valid && axi.b_resp == bresp_q);
    if (held_r_q) begin
      assert (axi.r_valid && axi.r_resp == rresp_q && axi.r_last == rlast_q);
      assert (axi.r_data == rdata_q);
    end
  end

  // ---- refused accesses -------------------------------------------------------------------------
  logic refused_q;  // the burst was, at its begin or since, or a reset of the device has ended it
  logic forget_q;   // that waits for a beat that is offered
  logic offered, drop;
  assign offered = axi.r_valid && !axi_i.r_ready && !refused_q;
  assign drop    = (forget_i || forget_q) && !offered && (writing_q && !axi.b_valid || reading_q);
  always_ff @(posedge clk_i) begin
    if (aw || ar) refused_q <= 1'b0;
    else if (refused != '0 || drop) refused_q <= 1'b1;
    forget_q <= rst_ni && (forget_i || forget_q) && offered;
  end
  always_comb begin
    if (refused != '0) assert ((writing_q || reading_q) && !refused_q && $onehot(refused));
    if (axi.b_valid) assert (axi.b_resp == (refused_q ? 2'b10 : 2'b00));
    if (axi.r_valid) assert (axi.r_resp == (refused_q ? 2'b10 : 2'b00));
    if (axi.r_valid && refused_q) assert (axi.r_data == '0);
  end

  // ---- the host port ----------------------------------------------------------------------------
  localparam int unsigned BeatRows = BeatWords / HostWords;
  localparam int unsigned RowBeats = (Lanes > BeatWords) ? Lanes / BeatWords : 1;
  localparam int unsigned Rows = (1 << LogN) / HostWords;
  logic                claimed_q, granted_q, moved_q;
  logic [63:0]         words_q [BeatWords];  // of the last beat
  logic [7:0]          next_q;  // the row of it that is stored next
  logic [RowWidth-1:0] row_q;
  always_ff @(posedge clk_i) begin
    claimed_q <= rst_ni && claimed;
    granted_q <= rst_ni && grant_i && (ready_i || streams_i && u_dut.key && u_dut.write_q);
    moved_q   <= rst_ni && !aw && !ar && (moved_q || we);
    if (aw || ar) next_q <= '0;
    else if (we) next_q <= (next_q == 8'(BeatRows - 1)) ? '0 : next_q + 8'd1;
    for (int unsigned i = 0; i < BeatWords; i++) begin
      if (w) words_q[i] <= axi_i.w.data[64*i+:64];
    end
    if (we) row_q <= row;
  end
  always_comb begin
    if (claimed && !claimed_q) assert (granted_q);
    assert (!(we && re));
    if (we || re) begin
      assert (claimed && !refused_q && 32'(rpau) < Rpaus);
      assert (32'(row) < Rows);
      assert (space == SpacePoly && 32'(index) < WorkPolys ||
              we && space == SpaceKey && 32'(index) < KeyPolys);
    end
    if (we) begin
      assert (writing_q && (!moved_q || row == row_q + 1'b1));
      for (int unsigned i = 0; i < BeatWords; i++) begin
        if (next_q == 8'(i / HostWords)) assert (64'(wdata[i%HostWords]) == words_q[i]);
        if (32'(rpau) >= Rpaus - NarrowRpaus) assert (words_q[i] >> NarrowWidth == '0);
      end
    end
    if (re) assert (reading_q);
  end

  // ---- words that are read ----------------------------------------------------------------------
  // Of the words that a burst's rows hold, one after another, any one is watched: number watched_i.
  logic [15:0]      watched_q;
  logic [15:0]      asked_q;  // rows that the burst asked for
  logic [15:0]      given_q;  // and that the device gave
  logic [15:0]      at_q;  // the next beat, of those that the rows hold
  logic             seen_q;  // the word came
  logic [Width-1:0] word_q;
  logic [BeatWords-1:0] shown;  // where in a beat it is
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    if (ar) begin
      asked_q <= '0;
      given_q <= '0;
      at_q    <= '0;
      seen_q  <= 1'b0;
    end else begin
      if (re) asked_q <= asked_q + 16'd1;
      if (host_rvalid_i) given_q <= given_q + 16'd1;
      if (r) at_q <= at_q + 16'd1;
      for (int unsigned i = 0; i < HostWords; i++) begin
        if (host_rvalid_i && 32'(watched_i) == 32'(given_q) * HostWords + i) begin
          seen_q <= 1'b1;
          word_q <= host_rdata_i[i];
        end
      end
    end
  end
  always_comb begin
    assume (ar || watched_i == watched_q);
    for (int unsigned i = 0; i < BeatWords; i++) begin
      shown[i] = watched_i == at_q * 16'(BeatWords) + 16'(i);
      if (axi.r_valid && !refused_q && shown[i]) begin
        assert (seen_q && axi.r_data[64*i+:64] == 64'(word_q));
      end
    end
  end

  // ---- what the induction needs to know of the state --------------------------------------------
  localparam logic [2:0] StDecide = 3'd1, StWrite = 3'd2, StAnswer = 3'd3, StRead = 3'd4;
  localparam int unsigned AddrBits = $clog2(ReadLatency + 3);
  localparam int unsigned Places = 2 ** AddrBits;
  logic [15:0] left, first_row, total, pushed, popped, taken, beat;
  assign left      = 16'(u_dut.left_q);
  assign first_row = 16'(u_dut.first_beat) * 16'(BeatRows);
  assign total     = (16'(u_dut.len_q) + 16'd1) * 16'(BeatRows);  // rows of the burst
  assign pushed    = given_q / 16'(BeatRows);
  assign popped    = at_q + 16'(u_dut.out_valid_q);
  assign taken     = (asked_q + 16'(BeatRows) - 16'd1) / 16'(BeatRows) - popped;  // places
  assign beat      = watched_i / 16'(BeatWords);
  always_comb begin
    assert (u_dut.state_q <= StRead);
    assert (writing_q == (u_dut.state_q == StWrite || u_dut.state_q == StAnswer ||
                          u_dut.state_q == StDecide && u_dut.write_q));
    assert (reading_q == (u_dut.state_q == StRead ||
                          u_dut.state_q == StDecide && !u_dut.write_q));
    if (writing_q || reading_q) assert (u_dut.id_q == id_q);
    if (u_dut.state_q == StDecide) assert (!refused_q && due_q == 9'(u_dut.len_q) + 9'd1);
    if (u_dut.state_q == StWrite || u_dut.state_q == StRead || u_dut.state_q == StAnswer) begin
      assert (u_dut.failed_q == refused_q && u_dut.left_q == due_q);
    end
    if (u_dut.state_q == StAnswer) assert (due_q == '0);
    if (u_dut.state_q == StWrite && u_dut.left_q != '0 || u_dut.state_q == StRead) begin
      assert (claimed || refused_q || forget_q);
    end
    assert (u_dut.forget_q == forget_q);
    if (forget_q) begin
      assert (u_dut.state_q == StRead && u_dut.out_valid_q && !refused_q && !claimed);
      assert (owed_q == '0 && u_dut.fetches_q == '0 && u_dut.rows_q == '0);
      assert (at_q + left == 16'(u_dut.len_q) + 16'd1 && popped <= pushed);
      assert (seen_q == (32'(watched_i) < 32'(given_q) * HostWords));
      for (int unsigned i = 0; i < BeatWords; i++) begin
        if (seen_q && watched_i % 16'(BeatWords) == 16'(i) && beat == at_q) begin
          assert (u_dut.out[i*Width+:Width] == word_q);
        end
      end
    end
    if (u_dut.state_q == StRead) assert (left != 16'd0);
    if (u_dut.state_q == StDecide) assert (!moved_q && next_q == '0);
    if (u_dut.state_q == StDecide && !u_dut.write_q) begin
      assert (at_q == '0 && asked_q == '0 && given_q == '0 && !seen_q);
    end
    if (u_dut.state_q != StWrite && u_dut.state_q != StRead) begin
      assert (!claimed && u_dut.rows_q == '0);
    end
    if (u_dut.state_q != StRead) assert (owed_q == '0 && !u_dut.out_valid_q);
    if (claimed) begin
      assert (first_row + total <= 16'(Rows) && u_dut.len_q < 8'd64);
      assert (u_dut.exists && (u_dut.write_q || !u_dut.key));
      assert (u_dut.write_q == writing_q && 16'(u_dut.len_q) + 16'd1 >= left);
    end
    if (claimed && writing_q && !refused_q) begin
      assert (16'(u_dut.row_q) + 16'(u_dut.rows_q) + left * 16'(BeatRows) == first_row + total);
      assert (u_dut.rows_q <= 3'(BeatRows));
      assert (16'(next_q) == (u_dut.rows_q == '0 ? 16'd0 : 16'(BeatRows) - 16'(u_dut.rows_q)));
      assert (!moved_q || u_dut.row_q == row_q + 1'b1);
      for (int unsigned i = 0; i < BeatWords; i++) begin
        if (u_dut.rows_q != '0 && u_dut.narrow) assert (words_q[i] >> NarrowWidth == '0);
        for (int unsigned k = 0; k < BeatRows; k++) begin
          if (u_dut.rows_q != '0 && next_q == 8'(k) && i >= k * HostWords) begin
            assert (64'(u_dut.buffer_q[i-k*HostWords]) == words_q[i]);
          end
        end
      end
    end
    if (claimed && writing_q && refused_q) begin
      assert (u_dut.rows_q == '0 || 16'(u_dut.row_q) + 16'(u_dut.rows_q) <= 16'(Rows));
    end
    if (u_dut.state_q == StWrite && refused_q) assert (u_dut.rows_q == '0);
    if (u_dut.state_q == StRead && refused_q) begin
      assert (owed_q == '0 && !u_dut.out_valid_q && u_dut.fetches_q == '0);
      assert (!claimed && u_dut.rows_q == '0);
    end
    if (u_dut.state_q == StRead && !refused_q && !forget_q) begin
      assert (given_q <= asked_q && 16'(owed_q) + given_q == asked_q &&
              asked_q + 16'(u_dut.fetches_q) == total);
      assert (at_q + left == 16'(u_dut.len_q) + 16'd1 && popped <= pushed);
      assert (16'(u_dut.row_q) == first_row + asked_q);
      assert (u_dut.pushed_q == (AddrBits + 1)'(pushed));
      assert (u_dut.popped_q == (AddrBits + 1)'(popped));
      assert (16'(u_dut.rows_q) == given_q % 16'(BeatRows));
      assert (taken <= 16'(Places) && 16'(u_dut.free_q) == 16'(Places) - taken);
      assert (seen_q == (32'(watched_i) < 32'(given_q) * HostWords));
      for (int unsigned i = 0; i < BeatWords; i++) begin
        if (seen_q && watched_i % 16'(BeatWords) == 16'(i)) begin
          if (u_dut.out_valid_q && beat == at_q) assert (u_dut.out[i*Width+:Width] == word_q);
          for (int unsigned p = 0; p < Places; p++) begin
            if (beat >= popped && beat < pushed && beat % 16'(Places) == 16'(p)) begin
              assert (u_dut.u_beats.gen_read_undefined.mem[p][i*Width+:Width] == word_q);
            end
          end
        end
        for (int unsigned k = 1; k < BeatRows; k++) begin
          if (seen_q && 32'(u_dut.rows_q) == k && i < k * HostWords &&
              32'(watched_i) == 32'(pushed) * BeatWords + i) begin
            assert (u_dut.buffer_q[(BeatRows-k)*HostWords+i] == word_q);
          end
        end
      end
    end
  end
endmodule
