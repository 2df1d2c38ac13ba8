// The connection between the host and the RPAUs: a chain of registers, a stage for each RPAU.
//
// A request and the words of a write enter at RPAU 0 and go from each RPAU to the next, a cycle a
// stage. The addressed RPAU takes them from its stage. Read data go back through all stages before
// the RPAU's own. Reads of an RPAU near the host are delayed to compensate its shorter path: all
// answers come rs_rpau_pkg::host_read_latency() cycles after their requests.
//
//   host_i   One access a cycle. Until the last read is answered, address space, index and RPAU
//            hold still and nothing is written.
//   busy_o   An access is at the port or in progress: no program may start.
//
// No reset: accesses in progress end, and the chain is empty after rs_rpau_pkg::ResetCycles cycles.
// Nets between two RPAUs: Words words each way, and a request of IndexBits + RowBits + 9 bits.
`include "rs_assert.svh"

module rs_rpau_chain
  import rs_rpau_pkg::*;
#(
  parameter int unsigned Rpaus = 5,
  parameter int unsigned Words = 8,       // rs_rpau_pkg::host_words
  parameter int unsigned Width = 48,
  parameter int unsigned IndexBits = 6,   // that the device's indices have
  parameter int unsigned RowBits = 10     // that rows at the host's port have
) (
  input  logic                 clk_i,

  input  host_t                host_i,
  input  logic [RpauWidth-1:0] rpau_i,
  input  logic [Width-1:0]     wdata_i [Words],
  output logic                 rvalid_o,
  output logic [Width-1:0]     rdata_o [Words],
  output logic                 busy_o,

  output host_t                host_o [Rpaus],
  output logic [Width-1:0]     wdata_o [Rpaus][Words],
  input  logic [Rpaus-1:0]     rvalid_i,
  input  logic [Width-1:0]     rdata_i [Rpaus][Words]
);
  for (genvar r = 0; r < Rpaus; r++) begin : gen_stage
    // ---- away from the host ---------------------------------------------------------------------
    host_t                request, request_q;
    logic [RpauWidth-1:0] rpau, rpau_q;
    logic [Width-1:0]     words [Words];
    logic [Width-1:0]     words_q [Words];
    if (r == 0) begin : gen_first
      assign request = host_i;
      assign rpau    = rpau_i;
      assign words   = wdata_i;
    end else begin : gen_later
      assign request = gen_stage[r-1].request_q;
      assign rpau    = gen_stage[r-1].rpau_q;
      assign words   = gen_stage[r-1].words_q;
    end
    always_ff @(posedge clk_i) begin
      request_q <= '{
          we: request.we,
          re: request.re,
          space: request.space,
          index: HostIndexWidth'(request.index[IndexBits-1:0]),
          row: RowWidth'(request.row[RowBits-1:0])
      };
      rpau_q    <= rpau;
      if (request.we) words_q <= words;
    end

    logic               own, late_re;
    logic [RowBits-1:0] late_row;
    assign own = rpau_q == RpauWidth'(r);
    rs_delay #(
      .Width(1 + RowBits),
      .Depth(2 * (Rpaus - 1 - r))
    ) u_late (
      .clk_i,
      .d_i({request_q.re && own, request_q.row[RowBits-1:0]}),
      .d_o({late_re, late_row})
    );
    assign host_o[r]  = '{
            we: request_q.we && own,
            re: late_re,
            space: request_q.space,
            index: request_q.index,
            row: late_re ? RowWidth'(late_row) : request_q.row
        };
    assign wdata_o[r] = words_q;

    // ---- back to the host -----------------------------------------------------------------------
    logic             behind_valid, valid_q;
    logic [Width-1:0] behind [Words];
    logic [Width-1:0] answer_q [Words];
    if (r == Rpaus - 1) begin : gen_last
      assign behind_valid = 1'b0;
      assign behind       = rdata_i[r];
    end else begin : gen_sooner
      assign behind_valid = gen_stage[r+1].valid_q;
      assign behind       = gen_stage[r+1].answer_q;
    end
    always_ff @(posedge clk_i) begin
      valid_q <= rvalid_i[r] || behind_valid;
      if (rvalid_i[r] || behind_valid) answer_q <= rvalid_i[r] ? rdata_i[r] : behind;
    end

    `RS_ASSERT(OneAnswer_A, !(rvalid_i[r] && behind_valid),
               $sformatf("RPAU %0d answers while another answer passes", r), clk_i, 1'b1)
    `RS_ASSERT(NoWriteAmongReads_A, !(late_re && request_q.we),
               "the host writes before its reads are answered", clk_i, 1'b1)
  end
  assign rvalid_o = gen_stage[0].valid_q;
  assign rdata_o  = gen_stage[0].answer_q;

  // ---- accesses in progress ---------------------------------------------------------------------
  localparam int unsigned Latency = host_read_latency(Rpaus);
  localparam int unsigned CountBits = $clog2(Latency + 1);
  logic                 access;
  logic [CountBits-1:0] left_q;  // cycles in which one may be in progress
  assign access = host_i.we || host_i.re;
  assign busy_o = access || left_q != '0;
  always_ff @(posedge clk_i) begin
    if (access) left_q <= CountBits'(Latency);
    else if (left_q != '0) left_q <= left_q - 1'b1;
  end
endmodule
