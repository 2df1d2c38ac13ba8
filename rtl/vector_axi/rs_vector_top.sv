// An accelerator of architecture vector: Clusters clusters with ports of their own, behind one
// AXI4-Lite bus (docs/reference/vector-registers.md).
//
// Port p of cluster c is number Ports*c + p of the ports for rows. Its memory is 2^SpanBits bytes
// from address 2^SpanBits times its number on; a cluster reads what another one has written at the
// addresses of that one's ports. Each cluster has a port that reads its lists. All bursts are INCR
// bursts of whole beats with id 0, bufferable and modifiable, unprivileged and secure.
//
// Crossed: ports for rows go through rs_vector_crossing and are in mem_clk_i, of any frequency and
// phase; all else is in clk_i. rst_ni and mem_rst_ni then come together, each synchronous to its
// clock, and are both low for at least four cycles of each clock. Otherwise mem_clk_i and mem_rst_ni
// are not used.
//
// rst_ni, synchronous, is that of memory's ports, too. It is low for at least two cycles: ports offer
// nothing from the second on. rs_vector_control prolongs it for the clusters. control.reset resets
// the clusters alone, when memory owes them nothing any more.
//
// load_begun_o, issued_o and store_begun_o stand in the cycles in which a cluster's next load,
// instruction and store begins, ended_o counts its instructions; start_o, run_o and done_o are
// those of rs_vector_control.
module rs_vector_top
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  parameter  bit Crossed = 1'b0,
  parameter  type rows_request_t = default_rows_request_t,    // RS_AXI_TYPES
  parameter  type rows_response_t = default_rows_response_t,
  parameter  type lists_request_t = default_lists_request_t,  // RS_AXI_READ_TYPES
  parameter  type lists_response_t = default_lists_response_t,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned SpanBits = Cfg.SpanBits,
  localparam int unsigned BurstBeats = Cfg.BurstBeats,
  localparam int unsigned AddrWidth = Cfg.AddrWidth,
  localparam int unsigned AllPorts = Clusters * Ports
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        mem_clk_i,
  input  logic                        mem_rst_ni,
  input  axil_request_t               axil_i,
  output axil_response_t              axil_o,
  output rows_request_t               rows_o        [AllPorts],
  input  rows_response_t              rows_i        [AllPorts],
  output lists_request_t              lists_o       [Clusters],
  input  lists_response_t             lists_i       [Clusters],
  output logic                        start_o,
  output logic                        run_o,
  output logic                        done_o,
  output logic [Clusters-1:0]         load_begun_o,
  output logic [Clusters-1:0]         issued_o,
  output logic [Clusters-1:0]         store_begun_o,
  output logic [Clusters-1:0] [ 31:0] ended_o
);
  localparam int unsigned PassWidth = $clog2(2 * MaxPasses);
  localparam int unsigned ShiftWidth = $clog2(Width + 1);
  localparam int unsigned RowCycles = row_cycles(Cfg);
  localparam int unsigned BeatWidth = MemoryRowBits + $clog2(RowCycles);
  localparam int unsigned ByteBits = $clog2(PortBits / 8);
  localparam logic [1:0] BurstIncr = 2'b01;
  localparam logic [3:0] CacheModifiable = 4'b0011;
  localparam logic [2:0] ProtData = 3'b000;
  if (RowCycles == 0 || RowCycles * Ports * PortBits != stored_bits(
          Width
      ) << LogLanes) begin : gen_bad
    $error("rs_vector_top: a row is no whole number of beats of %0d ports", Ports);
  end
  if (BurstBeats % RowCycles != 0 || 4096 % (BurstBeats * PortBits / 8) != 0) begin : gen_bad_burst
    $error("rs_vector_top: BurstBeats = %0d is no number of rows that divides 4 KiB", BurstBeats);
  end

  // ---- registers --------------------------------------------------------------------------------
  logic                                            prime_we, pass_we, halt, cluster_rst_n;
  logic   [  PrimeWidth-1:0]                       prime_addr;
  logic   [       Width-1:0]                       prime_q, prime_mu;
  logic   [  ShiftWidth-1:0]                       prime_shift;
  logic   [   PassWidth-1:0]                       pass_addr;
  pass_t                                           pass;
  logic   [             4:0]                       row_bits;
  logic   [             3:0]                       passes;
  logic   [            31:0]                       watchdog;
  logic   [    Clusters-1:0][Lists-1:0][AddrWidth-1:0] list_address;
  logic   [    Clusters-1:0][Lists-1:0][     31:0] list_count;
  logic   [    Clusters-1:0]                       filled, done, failed, idle;
  fault_t [    Clusters-1:0]                       fault;
  logic   [    Clusters-1:0][31:0]                 fault_item;
  rs_vector_control #(
    .Cfg(Cfg)
  ) u_control (
    .clk_i,
    .rst_ni,
    .axil_i,
    .axil_o,
    .prime_we_o(prime_we),
    .prime_addr_o(prime_addr),
    .prime_q_o(prime_q),
    .prime_mu_o(prime_mu),
    .prime_shift_o(prime_shift),
    .pass_we_o(pass_we),
    .pass_addr_o(pass_addr),
    .pass_o(pass),
    .row_bits_o(row_bits),
    .passes_o(passes),
    .watchdog_o(watchdog),
    .list_address_o(list_address),
    .list_count_o(list_count),
    .start_o,
    .filled_i(filled),
    .run_o,
    .done_i(done),
    .failed_i(failed),
    .fault_i(fault),
    .fault_item_i(fault_item),
    .idle_i(idle),
    .halt_o(halt),
    .cluster_rst_no(cluster_rst_n),
    .done_o
  );

  // ---- clusters ---------------------------------------------------------------------------------
  // Counts of stores cross between clusters in a register.
  logic [   Clusters-1:0][31:0] stores_ended;
  logic [MaxClusters-1:0][31:0] stores_ended_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned c = 0; c < MaxClusters; c++) begin
      stores_ended_q[c] <= (!cluster_rst_n || start_o || c >= Clusters) ? '0 :
          stores_ended[c%Clusters];
    end
  end
  for (genvar c = 0; c < Clusters; c++) begin : gen_cluster
    logic [ HomeBits-1:0] ar_home, aw_home;
    logic [BeatWidth-1:0] ar_beat, aw_beat;
    logic [          7:0] ar_len, aw_len;
    logic [    Ports-1:0] ar_valid, ar_ready, r_valid, r_last, r_ready;
    logic [    Ports-1:0] aw_valid, aw_ready, w_valid, w_last, w_ready, b_valid, b_ready;
    logic [          1:0] r_resp [Ports];
    logic [          1:0] b_resp [Ports];
    logic [ PortBits-1:0] r_data [Ports];
    logic [ PortBits-1:0] w_data [Ports];
    logic [AddrWidth-1:0] list_addr;
    logic [          7:0] list_len;
    for (genvar p = 0; p < Ports; p++) begin : gen_port
      localparam int unsigned Port = Ports * c + p;
      rows_request_t  request;
      rows_response_t response;
      function automatic logic [AddrWidth-1:0] address(logic [HomeBits-1:0] home,
                                                       logic [BeatWidth-1:0] beat);
        return ((AddrWidth'(home) * AddrWidth'(Ports) + AddrWidth'(p)) << SpanBits) |
            AddrWidth'(AddrWidth'(beat) << ByteBits);
      endfunction
      assign request = '{
              aw: '{
                  id: '0,
                  addr: address(aw_home, aw_beat),
                  len: aw_len,
                  size: 3'(ByteBits),
                  burst: BurstIncr,
                  cache: CacheModifiable,
                  prot: ProtData
              },
              aw_valid: aw_valid[p],
              w: '{data: w_data[p], strb: '1, last: w_last[p]},
              w_valid: w_valid[p],
              b_ready: b_ready[p],
              ar: '{
                  id: '0,
                  addr: address(ar_home, ar_beat),
                  len: ar_len,
                  size: 3'(ByteBits),
                  burst: BurstIncr,
                  cache: CacheModifiable,
                  prot: ProtData
              },
              ar_valid: ar_valid[p],
              r_ready: r_ready[p]
          };
      assign aw_ready[p] = response.aw_ready;
      assign w_ready[p]  = response.w_ready;
      assign b_valid[p]  = response.b_valid;
      assign b_resp[p]   = response.b.resp;
      assign ar_ready[p] = response.ar_ready;
      assign r_valid[p]  = response.r_valid;
      assign r_last[p]   = response.r.last;
      assign r_resp[p]   = response.r.resp;
      assign r_data[p]   = response.r.data;
      if (Crossed) begin : gen_crossed
        rs_vector_crossing #(
          .axi_request_t(rows_request_t),
          .axi_response_t(rows_response_t)
        ) u_crossing (
          .clk_i,
          .rst_ni,
          .axi_i(request),
          .axi_o(response),
          .mem_clk_i,
          .mem_rst_ni,
          .mem_axi_o(rows_o[Port]),
          .mem_axi_i(rows_i[Port])
        );
      end else begin : gen_direct
        assign rows_o[Port] = request;
        assign response     = rows_i[Port];
      end
    end
    assign lists_o[c].ar = '{
            id: '0,
            addr: list_addr,
            len: list_len,
            size: 3'($clog2(ListBits / 8)),
            burst: BurstIncr,
            cache: CacheModifiable,
            prot: ProtData
        };
    rs_vector_cluster #(
      .Cfg(Cfg)
    ) u_cluster (
      .clk_i,
      .rst_ni(cluster_rst_n),
      .halt_i(halt),
      .prime_we_i(prime_we),
      .prime_addr_i(prime_addr),
      .prime_q_i(prime_q),
      .prime_mu_i(prime_mu),
      .prime_shift_i(prime_shift),
      .pass_we_i(pass_we),
      .pass_addr_i(pass_addr),
      .pass_i(pass),
      .row_bits_i(row_bits),
      .passes_i(passes),
      .watchdog_i(watchdog),
      .list_address_i(list_address[c]),
      .list_count_i(list_count[c]),
      .start_i(start_o),
      .filled_o(filled[c]),
      .run_i(run_o),
      .done_o(done[c]),
      .failed_o(failed[c]),
      .fault_o(fault[c]),
      .fault_item_o(fault_item[c]),
      .idle_o(idle[c]),
      .stores_ended_o(stores_ended[c]),
      .stores_ended_i(stores_ended_q),
      .load_begun_o(load_begun_o[c]),
      .issued_o(issued_o[c]),
      .store_begun_o(store_begun_o[c]),
      .ended_o(ended_o[c]),
      .ar_valid_o(ar_valid),
      .ar_home_o(ar_home),
      .ar_beat_o(ar_beat),
      .ar_len_o(ar_len),
      .ar_ready_i(ar_ready),
      .r_valid_i(r_valid),
      .r_last_i(r_last),
      .r_resp_i(r_resp),
      .r_data_i(r_data),
      .r_ready_o(r_ready),
      .aw_valid_o(aw_valid),
      .aw_home_o(aw_home),
      .aw_beat_o(aw_beat),
      .aw_len_o(aw_len),
      .aw_ready_i(aw_ready),
      .w_valid_o(w_valid),
      .w_last_o(w_last),
      .w_data_o(w_data),
      .w_ready_i(w_ready),
      .b_valid_i(b_valid),
      .b_resp_i(b_resp),
      .b_ready_o(b_ready),
      .list_ar_valid_o(lists_o[c].ar_valid),
      .list_ar_addr_o(list_addr),
      .list_ar_len_o(list_len),
      .list_ar_ready_i(lists_i[c].ar_ready),
      .list_r_valid_i(lists_i[c].r_valid),
      .list_r_last_i(lists_i[c].r.last),
      .list_r_resp_i(lists_i[c].r.resp),
      .list_r_data_i(lists_i[c].r.data),
      .list_r_ready_o(lists_o[c].r_ready)
    );
  end
endmodule
