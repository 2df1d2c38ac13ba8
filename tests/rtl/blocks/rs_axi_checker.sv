// Checks one AXI4 port: what masters and slaves owe each other, in every cycle.
//
//   - what is offered stays, unchanged, until it is taken, on all five channels
//   - bursts are INCR, within 4 KiB, of beats no wider than the bus
//   - the last beat of a burst that writes, and no other, has w_last
//   - there is one answer to a burst that was written, and none before its last beat
//   - there are as many beats of a read as it asked for, in the order of its id, the last one marked
//
// A port without writes ties their inputs to 0. Legal = 0: for a bench whose master breaks the rules
// of bursts and of w_last on purpose; a burst then has as many beats as its address says. Nothing is demanded of ready: a bench shows that
// nobody waits for it by raising it late.
module rs_axi_checker #(
  parameter int unsigned AddrWidth = 40,
  parameter int unsigned DataBits = 256,
  parameter int unsigned IdBits = 1,
  parameter bit Legal = 1'b1,
  localparam int unsigned StrobeBits = DataBits / 8
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  aw_valid_i,
  input logic                  aw_ready_i,
  input logic [    IdBits-1:0] aw_id_i,
  input logic [ AddrWidth-1:0] aw_addr_i,
  input logic [           7:0] aw_len_i,
  input logic [           2:0] aw_size_i,
  input logic [           1:0] aw_burst_i,
  input logic                  w_valid_i,
  input logic                  w_ready_i,
  input logic                  w_last_i,
  input logic [StrobeBits-1:0] w_strb_i,
  input logic [  DataBits-1:0] w_data_i,
  input logic                  b_valid_i,
  input logic                  b_ready_i,
  input logic [    IdBits-1:0] b_id_i,
  input logic [           1:0] b_resp_i,
  input logic                  ar_valid_i,
  input logic                  ar_ready_i,
  input logic [    IdBits-1:0] ar_id_i,
  input logic [ AddrWidth-1:0] ar_addr_i,
  input logic [           7:0] ar_len_i,
  input logic [           2:0] ar_size_i,
  input logic [           1:0] ar_burst_i,
  input logic                  r_valid_i,
  input logic                  r_ready_i,
  input logic                  r_last_i,
  input logic [    IdBits-1:0] r_id_i,
  input logic [           1:0] r_resp_i,
  input logic [  DataBits-1:0] r_data_i
);
  localparam int unsigned Ids = 2 ** IdBits;
  localparam int unsigned Channels = 5;
  localparam int unsigned AddressBits = IdBits + AddrWidth + 13;
  localparam int unsigned Widest = AddressBits + StrobeBits + DataBits + IdBits + 3;

  // ---- what is offered stays --------------------------------------------------------------------
  logic [Channels-1:0] valid, ready, held_q;  // aw, w, b, ar, r from the lowest on
  logic [Widest-1:0]   offered [Channels];
  logic [Widest-1:0]   offered_q [Channels];
  assign valid      = {r_valid_i, ar_valid_i, b_valid_i, w_valid_i, aw_valid_i};
  assign ready      = {r_ready_i, ar_ready_i, b_ready_i, w_ready_i, aw_ready_i};
  assign offered[0] = Widest'({aw_id_i, aw_addr_i, aw_len_i, aw_size_i, aw_burst_i});
  assign offered[1] = Widest'({w_last_i, w_strb_i, w_data_i});
  assign offered[2] = Widest'({b_id_i, b_resp_i});
  assign offered[3] = Widest'({ar_id_i, ar_addr_i, ar_len_i, ar_size_i, ar_burst_i});
  assign offered[4] = Widest'({r_id_i, r_resp_i, r_last_i, r_data_i});
  always_ff @(posedge clk_i) begin
    held_q    <= rst_ni ? valid & ~ready : '0;
    offered_q <= offered;
  end
  for (genvar c = 0; c < Channels; c++) begin : gen_channel
    Stays_A :
    assert property (@(posedge clk_i) !rst_ni || !held_q[c] ||
                     (valid[c] && offered[c] == offered_q[c]))
    else $error("channel %0d of aw, w, b, ar, r changes what it offers", c);
  end

  // ---- bursts -----------------------------------------------------------------------------------
  function automatic bit legal(logic [11:0] addr, logic [7:0] len, logic [2:0] size,
                               logic [1:0] burst);
    return burst == 2'b01 && 32'd8 << size <= DataBits &&
        32'(addr) + ((32'(len) + 32'd1) << size) <= 32'd4096;
  endfunction
  LegalWrite_A :
  assert property (@(posedge clk_i) !rst_ni || !Legal || !aw_valid_i ||
                   legal(aw_addr_i[11:0], aw_len_i, aw_size_i, aw_burst_i))
  else $error("a burst writes %0d beats from %h on", 9'(aw_len_i) + 9'd1, aw_addr_i);
  LegalRead_A :
  assert property (@(posedge clk_i) !rst_ni || !Legal || !ar_valid_i ||
                   legal(ar_addr_i[11:0], ar_len_i, ar_size_i, ar_burst_i))
  else $error("a burst reads %0d beats from %h on", 9'(ar_len_i) + 9'd1, ar_addr_i);

  // ---- beats and answers ------------------------------------------------------------------------
  typedef struct packed {
    logic [IdBits-1:0] id;
    logic [8:0]        beats;
  } burst_t;
  burst_t     asked[$];       // to be written, whose beats have not all come
  logic [8:0] written[$];     // beats of bursts that came before their addresses
  logic [8:0] reads[Ids][$];  // beats of bursts, by id
  int unsigned beats, owed[Ids], read[Ids];
  bit last;
  always @(posedge clk_i) begin
    if (!rst_ni) begin
      asked.delete();
      written.delete();
      beats = 0;
      for (int unsigned i = 0; i < Ids; i++) begin
        reads[i].delete();
        owed[i] = 0;
        read[i] = 0;
      end
    end else begin
      if (b_valid_i) begin
        assert (owed[b_id_i] != 0)
        else $error("an answer comes to a burst that was not written");
        if (b_ready_i) owed[b_id_i]--;
      end
      if (r_valid_i) begin
        assert (reads[r_id_i].size() != 0)
        else $error("a beat comes that was not asked for");
        if (r_ready_i && reads[r_id_i].size() != 0) begin
          read[r_id_i]++;
          assert (r_last_i == (read[r_id_i] == 32'(reads[r_id_i][0])))
          else $error("beat %0d of %0d read: last = %b", read[r_id_i], reads[r_id_i][0], r_last_i);
          if (r_last_i) begin
            read[r_id_i] = 0;
            void'(reads[r_id_i].pop_front());
          end
        end
      end
      if (ar_valid_i && ar_ready_i) reads[ar_id_i].push_back(9'(ar_len_i) + 9'd1);
      if (aw_valid_i && aw_ready_i) asked.push_back('{aw_id_i, 9'(aw_len_i) + 9'd1});
      if (w_valid_i && w_ready_i) begin
        beats++;
        last = w_last_i;
        if (asked.size() > written.size()) begin
          last = beats == 32'(asked[written.size()].beats);
          assert (!Legal || w_last_i == last)
          else $error("beat %0d is written: last = %b", beats, w_last_i);
        end
        if (last) begin
          written.push_back(9'(beats));
          beats = 0;
        end
      end
      while (asked.size() != 0 && written.size() != 0) begin
        assert (asked[0].beats == written[0])
        else $error("a burst of %0d beats has %0d", asked[0].beats, written[0]);
        owed[asked[0].id]++;
        void'(asked.pop_front());
        void'(written.pop_front());
      end
    end
  end
endmodule
