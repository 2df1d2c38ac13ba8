// A simulation of rs_vector_top with the memory of a platform (rs_vector_memory).
//
// Rows, and beats of lists, are written to memory one by one; registers by AXI4-Lite. A row of
// memory is that of the cluster whose ports' memory has it, MemoryRows each: row_addr_i is
// MemoryRows times the cluster's number, and the row there. Its words are stored as in memory, 64
// bits at a time.
//
// Crossed: ports for rows go through rs_vector_crossing, both clocks of it being clk_i. Then
// programs take more cycles than their schedules have.
//
// error_i and silent_i make ports answer with errors, or not at all: those for rows, then those for
// lists.
//
// run_o: the next cycle is cycle 0 of the schedule. load_begun_o, issued_o and store_begun_o stand
// in the cycles in which a cluster's next load, instruction or store begins, and ended_o counts
// instructions; done_o stands in the first cycle in which all has ended.
module rs_vector_simulation
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
#(
  parameter  vector_cfg_t Cfg = DefaultCfg,
  parameter  int unsigned Latency = 62,
  parameter  int unsigned Interval = 975,
  parameter  int unsigned ReadPause = 65,
  parameter  int unsigned WritePause = 267,
  parameter  int unsigned ListLatency = 62,
  parameter  int unsigned ListInterval = 1950,
  parameter  int unsigned ListPause = 88,
  parameter  bit          Crossed = 1'b0,
  parameter  int unsigned MemoryRows = 16384,
  parameter  int unsigned ListBeats = 16384,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Clusters = Cfg.Clusters,
  localparam int unsigned Ports = Cfg.Ports,
  localparam int unsigned PortBits = Cfg.PortBits,
  localparam int unsigned SpanBits = Cfg.SpanBits,
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned RowWords = stored_bits(Width) * Lanes / 64,
  localparam int unsigned AllPorts = Clusters * Ports,
  localparam int unsigned RowAddrWidth = $clog2(MemoryRows * Clusters),
  localparam int unsigned ListAddrWidth = $clog2(ListBeats),
  localparam int unsigned ListWords = ListBits / 64
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // memory
  input  logic                             row_we_i,
  input  logic [  RowAddrWidth-1:0]        row_addr_i,
  input  logic [              63:0]        row_i         [RowWords],
  output logic [              63:0]        row_o         [RowWords],
  input  logic [      Clusters-1:0]        list_we_i,
  input  logic [ ListAddrWidth-1:0]        list_addr_i,
  input  logic [              63:0]        list_i        [ListWords],
  input  logic [AllPorts+Clusters-1:0]     error_i,
  input  logic [AllPorts+Clusters-1:0]     silent_i,
  // registers
  input  logic [              11:0]        axil_awaddr_i,
  input  logic                             axil_awvalid_i,
  output logic                             axil_awready_o,
  input  logic [              31:0]        axil_wdata_i,
  input  logic                             axil_wvalid_i,
  output logic                             axil_wready_o,
  output logic [               1:0]        axil_bresp_o,
  output logic                             axil_bvalid_o,
  input  logic [              11:0]        axil_araddr_i,
  input  logic                             axil_arvalid_i,
  output logic                             axil_arready_o,
  output logic [              31:0]        axil_rdata_o,
  output logic [               1:0]        axil_rresp_o,
  output logic                             axil_rvalid_o,
  // the run
  output logic                             run_o,
  output logic [      Clusters-1:0]        load_begun_o,
  output logic [      Clusters-1:0]        issued_o,
  output logic [      Clusters-1:0]        store_begun_o,
  output logic [              31:0]        ended_o       [Clusters],
  output logic                             done_o
);
  localparam int unsigned AddrWidth = Cfg.AddrWidth;
  localparam int unsigned RowCycles = row_cycles(Cfg);
  localparam int unsigned ByteBits = $clog2(PortBits / 8);
  localparam int unsigned BeatWidth = AddrWidth - ByteBits;
  localparam int unsigned ListBytes = $clog2(ListBits / 8);
  localparam int unsigned PortWords = PortBits / 64;

  logic [AllPorts-1:0]                ar_valid, ar_ready, r_valid, r_last, r_ready;
  logic [AllPorts-1:0]                aw_valid, aw_ready, w_valid, w_last, w_ready;
  logic [AllPorts-1:0]                b_valid, b_ready;
  logic [AllPorts-1:0][AddrWidth-1:0] ar_addr, aw_addr;
  logic [AllPorts-1:0][7:0]           ar_len, aw_len;
  logic [AllPorts-1:0][1:0]           r_resp, b_resp;
  logic [PortBits-1:0]                 r_data [AllPorts];
  logic [PortBits-1:0]                 w_data [AllPorts];
  logic [Clusters-1:0]                list_ar_valid, list_ar_ready;
  logic [Clusters-1:0]                list_r_valid, list_r_last, list_r_ready;
  logic [Clusters-1:0][AddrWidth-1:0] list_ar_addr;
  logic [Clusters-1:0][7:0]           list_ar_len;
  logic [Clusters-1:0][1:0]           list_r_resp;
  logic [Clusters-1:0][ListBits-1:0]  list_r_data;
  logic [Clusters-1:0][31:0]          ended;
  logic                               start;
  logic [2:0]                         ar_size, aw_size, list_ar_size;
  logic [1:0]                         ar_burst, aw_burst, list_ar_burst;
  logic [PortBits/8-1:0]               w_strb;
  logic                               unused_constants;
  assign unused_constants = ^{
    ar_size, aw_size, list_ar_size, ar_burst, aw_burst, list_ar_burst, w_strb
  };
  rs_vector_top #(
    .Cfg(Cfg)
  ) u_top (
    .clk_i,
    .rst_ni,
    .s_axil_awaddr(axil_awaddr_i),
    .s_axil_awprot('0),
    .s_axil_awvalid(axil_awvalid_i),
    .s_axil_awready(axil_awready_o),
    .s_axil_wdata(axil_wdata_i),
    .s_axil_wstrb('1),
    .s_axil_wvalid(axil_wvalid_i),
    .s_axil_wready(axil_wready_o),
    .s_axil_bresp(axil_bresp_o),
    .s_axil_bvalid(axil_bvalid_o),
    .s_axil_bready(1'b1),
    .s_axil_araddr(axil_araddr_i),
    .s_axil_arprot('0),
    .s_axil_arvalid(axil_arvalid_i),
    .s_axil_arready(axil_arready_o),
    .s_axil_rdata(axil_rdata_o),
    .s_axil_rresp(axil_rresp_o),
    .s_axil_rvalid(axil_rvalid_o),
    .s_axil_rready(1'b1),
    .m_axi_arvalid(ar_valid),
    .m_axi_araddr(ar_addr),
    .m_axi_arlen(ar_len),
    .m_axi_arsize(ar_size),
    .m_axi_arburst(ar_burst),
    .m_axi_arready(ar_ready),
    .m_axi_rvalid(r_valid),
    .m_axi_rlast(r_last),
    .m_axi_rresp(r_resp),
    .m_axi_rdata(r_data),
    .m_axi_rready(r_ready),
    .m_axi_awvalid(aw_valid),
    .m_axi_awaddr(aw_addr),
    .m_axi_awlen(aw_len),
    .m_axi_awsize(aw_size),
    .m_axi_awburst(aw_burst),
    .m_axi_awready(aw_ready),
    .m_axi_wvalid(w_valid),
    .m_axi_wlast(w_last),
    .m_axi_wstrb(w_strb),
    .m_axi_wdata(w_data),
    .m_axi_wready(w_ready),
    .m_axi_bvalid(b_valid),
    .m_axi_bresp(b_resp),
    .m_axi_bready(b_ready),
    .m_list_arvalid(list_ar_valid),
    .m_list_araddr(list_ar_addr),
    .m_list_arlen(list_ar_len),
    .m_list_arsize(list_ar_size),
    .m_list_arburst(list_ar_burst),
    .m_list_arready(list_ar_ready),
    .m_list_rvalid(list_r_valid),
    .m_list_rlast(list_r_last),
    .m_list_rresp(list_r_resp),
    .m_list_rdata(list_r_data),
    .m_list_rready(list_r_ready),
    .start_o(start),
    .run_o,
    .done_o,
    .load_begun_o,
    .issued_o,
    .store_begun_o,
    .ended_o(ended)
  );
  always_comb begin
    for (int unsigned c = 0; c < Clusters; c++) ended_o[c] = ended[c];
  end

  // ---- crossings, where they are simulated ----------------------------------------------------------
  logic [AllPorts-1:0]                mem_ar_valid, mem_ar_ready;
  logic [AllPorts-1:0]                mem_r_valid, mem_r_last, mem_r_ready;
  logic [AllPorts-1:0]                mem_aw_valid, mem_aw_ready;
  logic [AllPorts-1:0]                mem_w_valid, mem_w_last, mem_w_ready;
  logic [AllPorts-1:0]                mem_b_valid, mem_b_ready;
  logic [AllPorts-1:0][AddrWidth-1:0] mem_ar_addr, mem_aw_addr;
  logic [AllPorts-1:0][7:0]           mem_ar_len, mem_aw_len;
  logic [AllPorts-1:0][1:0]           mem_r_resp, mem_b_resp;
  logic [PortBits-1:0]                mem_r_data [AllPorts];
  logic [PortBits-1:0]                mem_w_data [AllPorts];
  if (Crossed) begin : gen_crossed
    for (genvar p = 0; p < AllPorts; p++) begin : gen_port
      rs_vector_crossing #(
        .PortBits(PortBits),
        .AddrWidth(AddrWidth)
      ) u_crossing (
        .clk_i,
        .rst_ni,
        .ar_valid_i(ar_valid[p]),
        .ar_addr_i(ar_addr[p]),
        .ar_len_i(ar_len[p]),
        .ar_ready_o(ar_ready[p]),
        .r_valid_o(r_valid[p]),
        .r_last_o(r_last[p]),
        .r_resp_o(r_resp[p]),
        .r_data_o(r_data[p]),
        .r_ready_i(r_ready[p]),
        .aw_valid_i(aw_valid[p]),
        .aw_addr_i(aw_addr[p]),
        .aw_len_i(aw_len[p]),
        .aw_ready_o(aw_ready[p]),
        .w_valid_i(w_valid[p]),
        .w_last_i(w_last[p]),
        .w_data_i(w_data[p]),
        .w_ready_o(w_ready[p]),
        .b_valid_o(b_valid[p]),
        .b_resp_o(b_resp[p]),
        .b_ready_i(b_ready[p]),
        .mem_clk_i(clk_i),
        .mem_rst_ni(rst_ni),
        .mem_ar_valid_o(mem_ar_valid[p]),
        .mem_ar_addr_o(mem_ar_addr[p]),
        .mem_ar_len_o(mem_ar_len[p]),
        .mem_ar_ready_i(mem_ar_ready[p]),
        .mem_r_valid_i(mem_r_valid[p]),
        .mem_r_last_i(mem_r_last[p]),
        .mem_r_resp_i(mem_r_resp[p]),
        .mem_r_data_i(mem_r_data[p]),
        .mem_r_ready_o(mem_r_ready[p]),
        .mem_aw_valid_o(mem_aw_valid[p]),
        .mem_aw_addr_o(mem_aw_addr[p]),
        .mem_aw_len_o(mem_aw_len[p]),
        .mem_aw_ready_i(mem_aw_ready[p]),
        .mem_w_valid_o(mem_w_valid[p]),
        .mem_w_last_o(mem_w_last[p]),
        .mem_w_data_o(mem_w_data[p]),
        .mem_w_ready_i(mem_w_ready[p]),
        .mem_b_valid_i(mem_b_valid[p]),
        .mem_b_resp_i(mem_b_resp[p]),
        .mem_b_ready_o(mem_b_ready[p])
      );
    end
  end else begin : gen_direct
    assign mem_ar_valid = ar_valid;
    assign mem_ar_addr  = ar_addr;
    assign mem_ar_len   = ar_len;
    assign ar_ready     = mem_ar_ready;
    assign r_valid      = mem_r_valid;
    assign r_last       = mem_r_last;
    assign r_resp       = mem_r_resp;
    assign r_data       = mem_r_data;
    assign mem_r_ready  = r_ready;
    assign mem_aw_valid = aw_valid;
    assign mem_aw_addr  = aw_addr;
    assign mem_aw_len   = aw_len;
    assign aw_ready     = mem_aw_ready;
    assign mem_w_valid  = w_valid;
    assign mem_w_last   = w_last;
    assign mem_w_data   = w_data;
    assign w_ready      = mem_w_ready;
    assign b_valid      = mem_b_valid;
    assign b_resp       = mem_b_resp;
    assign mem_b_ready  = b_ready;
  end

  // ---- memory of rows: slice p of all clusters' memories together, for every cluster's port p --------
  for (genvar p = 0; p < Ports; p++) begin : gen_slice
    logic [PortBits-1:0]               contents [MemoryRows*Clusters*RowCycles];
    logic [Clusters-1:0]              writes;
    logic [Clusters-1:0][31:0]        write_at;
    logic [PortBits-1:0]               host [RowCycles];
    for (genvar i = 0; i < RowCycles; i++) begin : gen_part
      for (genvar w = 0; w < PortWords; w++) begin : gen_word
        localparam int unsigned Word = (p * RowCycles + i) * PortWords + w;
        assign host[i][64*w+:64] = row_i[Word];
        assign row_o[Word]       = contents[32'(row_addr_i)*RowCycles+i][64*w+:64];
      end
    end
    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < RowCycles; i++) begin
        if (row_we_i) contents[32'(row_addr_i)*RowCycles+i] <= host[i];
      end
      for (int unsigned c = 0; c < Clusters; c++) begin
        if (writes[c]) contents[write_at[c]] <= mem_w_data[Ports*c+p];
      end
    end
    for (genvar c = 0; c < Clusters; c++) begin : gen_port
      localparam int unsigned Port = Ports * c + p;
      // The row's beat among those of all clusters' slices p.
      function automatic logic [31:0] place(logic [BeatWidth-1:0] beat);
        logic [31:0] number, own;
        number = 32'(beat >> (SpanBits - ByteBits));
        own    = 32'(beat & BeatWidth'((64'd1 << (SpanBits - ByteBits)) - 64'd1));
        return number / Ports * MemoryRows * RowCycles + own;
      endfunction
      logic [BeatWidth-1:0] read_beat, write_beat;
      rs_vector_memory #(
        .PortBits(PortBits),
        .AddrWidth(AddrWidth),
        .Latency(Latency),
        .Interval(Interval),
        .ReadPause(ReadPause),
        .WritePause(WritePause)
      ) u_memory (
        .clk_i,
        .rst_ni,
        .epoch_i(run_o),
        .error_i(error_i[Port]),
        .silent_i(silent_i[Port]),
        .ar_valid_i(mem_ar_valid[Port]),
        .ar_addr_i(mem_ar_addr[Port]),
        .ar_len_i(mem_ar_len[Port]),
        .ar_ready_o(mem_ar_ready[Port]),
        .r_valid_o(mem_r_valid[Port]),
        .r_last_o(mem_r_last[Port]),
        .r_resp_o(mem_r_resp[Port]),
        .r_ready_i(mem_r_ready[Port]),
        .read_beat_o(read_beat),
        .aw_valid_i(mem_aw_valid[Port]),
        .aw_addr_i(mem_aw_addr[Port]),
        .aw_len_i(mem_aw_len[Port]),
        .aw_ready_o(mem_aw_ready[Port]),
        .w_valid_i(mem_w_valid[Port]),
        .w_last_i(mem_w_last[Port]),
        .w_ready_o(mem_w_ready[Port]),
        .write_o(writes[c]),
        .write_beat_o(write_beat),
        .b_valid_o(mem_b_valid[Port]),
        .b_resp_o(mem_b_resp[Port]),
        .b_ready_i(mem_b_ready[Port])
      );
      assign mem_r_data[Port] = contents[place(read_beat)];
      assign write_at[c]  = place(write_beat);
      Own_A :
      assert property (@(posedge clk_i) !rst_ni || !mem_ar_valid[Port] ||
                       32'(mem_ar_addr[Port] >> SpanBits) % Ports == p)
      else $error("port %0d reads slice %0d", Port, 32'(mem_ar_addr[Port] >> SpanBits));
    end
  end

  // ---- memory of lists ----------------------------------------------------------------------------
  logic [ListBits-1:0] list_beat;
  for (genvar w = 0; w < ListWords; w++) begin : gen_list_word
    assign list_beat[64*w+:64] = list_i[w];
  end
  for (genvar c = 0; c < Clusters; c++) begin : gen_lists
    logic [ListBits-1:0] contents [ListBeats];
    logic [AddrWidth-ListBytes-1:0] beat, unused_write_beat;
    logic unused_beat, unused_aw_ready, unused_w_ready, unused_write, unused_b_valid;
    logic [1:0] unused_b_resp;
    always_ff @(posedge clk_i) if (list_we_i[c]) contents[list_addr_i] <= list_beat;
    rs_vector_memory #(
      .PortBits(ListBits),
      .AddrWidth(AddrWidth),
      .Latency(ListLatency),
      .Interval(ListInterval),
      .ReadPause(ListPause),
      .WritePause(ListPause)
    ) u_memory (
      .clk_i,
      .rst_ni,
      .epoch_i(start),
      .error_i(error_i[AllPorts+c]),
      .silent_i(silent_i[AllPorts+c]),
      .ar_valid_i(list_ar_valid[c]),
      .ar_addr_i(list_ar_addr[c]),
      .ar_len_i(list_ar_len[c]),
      .ar_ready_o(list_ar_ready[c]),
      .r_valid_o(list_r_valid[c]),
      .r_last_o(list_r_last[c]),
      .r_resp_o(list_r_resp[c]),
      .r_ready_i(list_r_ready[c]),
      .read_beat_o(beat),
      .aw_valid_i(1'b0),
      .aw_addr_i('0),
      .aw_len_i('0),
      .aw_ready_o(unused_aw_ready),
      .w_valid_i(1'b0),
      .w_last_i(1'b0),
      .w_ready_o(unused_w_ready),
      .write_o(unused_write),
      .write_beat_o(unused_write_beat),
      .b_valid_o(unused_b_valid),
      .b_resp_o(unused_b_resp),
      .b_ready_i(1'b1)
    );
    assign unused_beat    = ^beat;
    assign list_r_data[c] = contents[ListAddrWidth'(beat)];
  end
endmodule
