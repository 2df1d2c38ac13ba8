// What test_proofs.py proves of rs_data_path, of any masters that keep AXI's rules, a device that
// gives rows when it likes, and resets at any time.
//
// Each burst that is taken has its answers: one where it writes, after as many beats as it has, no
// fewer and no more; as many beats as it has where it reads, the last one marked; with its ID, and
// with SLVERR from the first beat on where it is refused at its begin. No answer changes, or goes,
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
  localparam int unsigned Lanes = 2 * Cores
) (
  input logic clk_i,
  input logic rst_ni,
  input logic ready_i,
  input logic grant_i,
  input axi_request_t axi_i,
  input logic [15:0] watched_i,
  input logic host_rvalid_i,
  input logic [Width-1:0] host_rdata_i [Lanes]
);
  axi_response_t             axi;
  logic                      claimed, we, re;
  refused_t                  refused;
  logic [ZoneWidth-1:0]      zone;
  logic [RpauWidth-1:0]      rpau;
  logic [HostIndexWidth-1:0] index;
  logic [RowWidth-1:0]       row;
  logic [Width-1:0]          wdata [Lanes];
  rs_data_path #(
    .LogN(LogN),
    .Width(Width),
    .Rpaus(Rpaus),
    .Cores(Cores),
    .WorkPolys(WorkPolys),
    .KeyPolys(KeyPolys)
  ) u_dut (
    .clk_i,
    .rst_ni,
    .ready_i,
    .grant_i,
    .claimed_o(claimed),
    .refused_o(refused),
    .axi_i,
    .axi_o(axi),
    .host_we_o(we),
    .host_re_o(re),
    .host_zone_o(zone),
    .host_rpau_o(rpau),
    .host_index_o(index),
    .host_row_o(row),
    .host_wdata_o(wdata),
    .host_rvalid_i,
    .host_rdata_i
  );

  // ---- the device -------------------------------------------------------------------------------
  // It stays ready for a burst that owns its port, and gives a row for each that was asked for.
  logic owed_q;
  always_ff @(posedge clk_i) owed_q <= rst_ni && (re || (owed_q && !host_rvalid_i));
  always_comb begin
    assume (ready_i || !claimed);
    assume (!host_rvalid_i || owed_q);
    assert (!(re && owed_q));
  end

  // ---- bursts -----------------------------------------------------------------------------------
  logic                   writing_q, reading_q;  // a burst is under way
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

  // ---- refusals ---------------------------------------------------------------------------------
  logic refused_q;  // the burst was, at its begin or since
  always_ff @(posedge clk_i) begin
    if (aw || ar) refused_q <= 1'b0;
    else if (refused != '0) refused_q <= 1'b1;
  end
  always_comb begin
    if (refused != '0) assert ((writing_q || reading_q) && !refused_q && $onehot(refused));
    if (axi.b_valid) assert (axi.b_resp == (refused_q ? 2'b10 : 2'b00));
    if (axi.r_valid) assert (axi.r_resp == (refused_q ? 2'b10 : 2'b00));
    if (axi.r_valid && refused_q) assert (axi.r_data == '0);
  end

  // ---- the host port ----------------------------------------------------------------------------
  localparam int unsigned ChunkWords = (Lanes > BeatWords) ? Lanes : BeatWords;
  localparam int unsigned ChunkBeats = ChunkWords / BeatWords;
  localparam int unsigned ChunkRows = ChunkWords / Lanes;
  localparam int unsigned Rows = (1 << LogN) / Lanes;
  logic                claimed_q, granted_q, moved_q;
  logic [63:0]         words_q [ChunkWords];  // of the chunk that is gathered
  logic [7:0]          place_q;  // in it, of the next beat
  logic [7:0]          next_q;  // the row of it that is stored next
  logic [RowWidth-1:0] row_q;
  always_ff @(posedge clk_i) begin
    claimed_q <= rst_ni && claimed;
    granted_q <= rst_ni && grant_i && ready_i;
    moved_q   <= rst_ni && !aw && !ar && (moved_q || we);
    if (aw || ar) begin
      place_q <= '0;
      next_q  <= '0;
    end else begin
      if (w) place_q <= (place_q == 8'(ChunkBeats - 1)) ? '0 : place_q + 8'd1;
      if (we) next_q <= (next_q == 8'(ChunkRows - 1)) ? '0 : next_q + 8'd1;
    end
    for (int unsigned i = 0; i < ChunkWords; i++) begin
      if (w && place_q == 8'(i / BeatWords)) words_q[i] <= axi_i.w.data[64*(i%BeatWords)+:64];
    end
    if (we) row_q <= row;
  end
  always_comb begin
    if (claimed && !claimed_q) assert (granted_q);
    assert (!(we && re));
    if (we || re) begin
      assert (claimed && !refused_q && 32'(rpau) < Rpaus);
      assert (32'(row) < Rows);
      assert (zone == ZonePoly && 32'(index) < WorkPolys ||
              we && zone == ZoneKey && 32'(index) < KeyPolys);
    end
    if (we) begin
      assert (writing_q && (!moved_q || row == row_q + 1'b1));
      for (int unsigned i = 0; i < ChunkWords; i++) begin
        if (next_q == 8'(i / Lanes)) assert (64'(wdata[i%Lanes]) == words_q[i]);
      end
    end
    if (re) assert (reading_q);
  end

  // ---- words that are read ----------------------------------------------------------------------
  // Of the words that a burst's rows hold, one after another, any one is watched: number watched_i.
  logic [15:0]      watched_q;
  logic [15:0]      given_q;  // rows that the device gave for the burst
  logic [15:0]      at_q;  // the next beat, of those that the rows hold
  logic             seen_q;  // the word came
  logic [Width-1:0] word_q;
  logic [BeatWords-1:0] shown;  // where in a beat it is
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    if (ar) begin
      given_q <= '0;
      at_q    <= 16'(axi_i.ar.addr[6+:LogN-3]) % 16'(ChunkBeats);
      seen_q  <= 1'b0;
    end else begin
      if (host_rvalid_i) given_q <= given_q + 16'd1;
      if (r) at_q <= at_q + 16'd1;
      for (int unsigned l = 0; l < Lanes; l++) begin
        if (host_rvalid_i && 32'(watched_i) == 32'(given_q) * Lanes + l) begin
          seen_q <= 1'b1;
          word_q <= host_rdata_i[l];
        end
      end
    end
  end
  always_comb begin
    assume (ar || watched_i == watched_q);
    for (int unsigned w = 0; w < BeatWords; w++) begin
      shown[w] = watched_i == at_q * 16'(BeatWords) + 16'(w);
      if (axi.r_valid && !refused_q && shown[w]) begin
        assert (seen_q && axi.r_data[64*w+:64] == 64'(word_q));
      end
    end
  end

  // ---- what the induction needs to know of the state --------------------------------------------
  localparam logic [2:0] StDecide = 3'd1, StWrite = 3'd2, StAnswer = 3'd3, StRead = 3'd4;
  localparam int unsigned Beats = (1 << LogN) / BeatWords;
  logic [15:0] beat, place, chunk_row, left, later, waiting, chunk, gathered;
  assign beat      = 16'(u_dut.beat_q);
  assign place     = beat % 16'(ChunkBeats);
  assign chunk_row = beat / 16'(ChunkBeats) * 16'(ChunkRows);
  assign left      = 16'(u_dut.left_q);
  assign later     = (place + left - 16'd1) / 16'(ChunkBeats);  // chunks after that of the beat
  assign chunk     = at_q / 16'(ChunkBeats);  // of the next beat that is read
  assign gathered  = chunk + 16'(u_dut.out_valid_q);  // the one whose rows are in the buffer
  assign waiting   = 16'(u_dut.fetches_q) + 16'(u_dut.fetching_q) + 16'(u_dut.rows_q);
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
      assert (claimed || refused_q);
    end
    if (u_dut.state_q == StRead) assert (left != 16'd0);
    if (u_dut.state_q == StDecide) assert (!moved_q && place_q == '0 && next_q == '0);
    if (u_dut.state_q == StDecide && !u_dut.write_q) begin
      assert (at_q == 16'(u_dut.first_beat) % 16'(ChunkBeats) && given_q == '0 && !seen_q);
    end
    if (u_dut.state_q != StWrite && u_dut.state_q != StRead) begin
      assert (!claimed && u_dut.rows_q == '0);
    end
    if (u_dut.state_q != StRead) assert (!u_dut.fetching_q && !u_dut.out_valid_q);
    assert (u_dut.fetching_q == owed_q);
    if (claimed) begin
      assert (left == 16'd0 || beat + left <= 16'(Beats));
      assert (u_dut.exists && (u_dut.write_q || !u_dut.key) && 32'(u_dut.row_q) <= Rows);
      assert (u_dut.write_q == writing_q);
    end
    if (claimed && writing_q && !refused_q) begin
      assert (16'(place_q) == place && (left + beat) % 16'(ChunkBeats) == 16'd0);
      assert (16'(u_dut.row_q) + 16'(u_dut.rows_q) ==
              (beat == 16'd0 && left == 16'd0 ? 16'(Rows) : chunk_row));
      assert (16'(u_dut.rows_q) <= 16'(ChunkRows));
      assert (u_dut.rows_q == '0 || place_q == '0);
      assert (16'(next_q) == (u_dut.rows_q == '0 ? 16'd0 : 16'(ChunkRows) - 16'(u_dut.rows_q)));
      assert (!moved_q || u_dut.row_q == row_q + 1'b1);
      for (int unsigned i = 0; i < ChunkWords; i++) begin
        if (8'(i / BeatWords) < place_q) assert (64'(u_dut.buffer_q[i]) == words_q[i]);
        for (int unsigned k = 0; k < ChunkRows; k++) begin
          if (u_dut.rows_q != '0 && next_q == 8'(k) && i >= k * Lanes) begin
            assert (64'(u_dut.buffer_q[i-k*Lanes]) == words_q[i]);
          end
        end
      end
    end
    if (u_dut.state_q == StWrite && refused_q) assert (u_dut.rows_q == '0);
    if (u_dut.state_q == StRead && refused_q) assert (waiting == 16'd0 && !u_dut.out_valid_q);
    if (u_dut.state_q == StRead && !refused_q) begin
      assert (waiting == (later + (u_dut.out_valid_q ? 16'd0 : 16'd1)) * 16'(ChunkRows));
      assert (16'(u_dut.rows_q) + 16'(u_dut.fetching_q) <= 16'(ChunkRows));
      assert (16'(u_dut.row_q) + 16'(u_dut.fetches_q) <= 16'(Rows));
      assert (at_q % 16'(ChunkBeats) == place && given_q == gathered * 16'(ChunkRows) +
              16'(u_dut.rows_q) && at_q <= beat);
      assert (seen_q == (32'(watched_i) < 32'(given_q) * Lanes));
      for (int unsigned i = 0; i < ChunkWords; i++) begin
        if (seen_q && u_dut.out_valid_q && 32'(watched_i) == 32'(chunk) * ChunkWords + i) begin
          assert (u_dut.out_q[i] == word_q);
        end
        for (int unsigned k = 1; k <= ChunkRows; k++) begin
          if (seen_q && 32'(u_dut.rows_q) == k && i < k * Lanes &&
              32'(watched_i) == 32'(gathered) * ChunkWords + i) begin
            assert (u_dut.buffer_q[(ChunkRows-k)*Lanes+i] == word_q);
          end
        end
      end
      assert (u_dut.out_valid_q || place == 16'd0 || u_dut.left_q == 9'(u_dut.len_q) + 9'd1);
    end
  end
endmodule
