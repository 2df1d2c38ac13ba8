// A simulation of rs_vector_top with the memory of a platform (rs_vector_memory).
//
// Rows, and beats of lists, are written to memory one by one; registers by AXI4-Lite. A row of
// memory is that of the cluster whose ports' memory has it, MemoryRows each: row_addr_i is
// MemoryRows times the cluster's number, and the row there. Its words are stored as in memory, 64
// bits at a time.
//
// Crossed: ports for rows cross to memory's clock, which is clk_i, too. Then programs take more
// cycles than their schedules have.
//
// error_i and silent_i make ports answer with errors, or not at all: those for rows, then those for
// lists.
//
// run_o: the next cycle is cycle 0 of the schedule. load_begun_o, issued_o and store_begun_o stand
// in the cycles in which a cluster's next load, instruction or store begins, and ended_o counts
// instructions; done_o stands in the first cycle in which all has ended.
`include "rs_axi.svh"

module rs_vector_simulation
  import rs_vector_isa_pkg::*;
  import rs_vector_pkg::*;
  import rs_shell_pkg::*;
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

  `RS_AXI_TYPES(axi, 1, AddrWidth, PortBits)
  `RS_AXI_READ_TYPES(list, 1, AddrWidth, ListBits)
  axil_request_t              axil_request;
  axil_response_t             axil_response;
  axi_request_t               request       [AllPorts];
  axi_response_t              response      [AllPorts];
  list_request_t              list_request  [Clusters];
  list_response_t             list_response [Clusters];
  logic [Clusters-1:0] [31:0] ended;
  logic                       start;
  assign axil_request = '{
          aw_valid: axil_awvalid_i,
          aw_addr: axil_awaddr_i,
          aw_prot: '0,
          w_valid: axil_wvalid_i,
          w_data: axil_wdata_i,
          w_strb: '1,
          b_ready: 1'b1,
          ar_valid: axil_arvalid_i,
          ar_addr: axil_araddr_i,
          ar_prot: '0,
          r_ready: 1'b1
      };
  assign axil_awready_o = axil_response.aw_ready;
  assign axil_wready_o  = axil_response.w_ready;
  assign axil_bresp_o   = axil_response.b_resp;
  assign axil_bvalid_o  = axil_response.b_valid;
  assign axil_arready_o = axil_response.ar_ready;
  assign axil_rdata_o   = axil_response.r_data;
  assign axil_rresp_o   = axil_response.r_resp;
  assign axil_rvalid_o  = axil_response.r_valid;
  rs_vector_top #(
    .Cfg(Cfg),
    .Crossed(Crossed),
    .rows_request_t(axi_request_t),
    .rows_response_t(axi_response_t),
    .lists_request_t(list_request_t),
    .lists_response_t(list_response_t)
  ) u_top (
    .clk_i,
    .rst_ni,
    .mem_clk_i(clk_i),
    .mem_rst_ni(rst_ni),
    .axil_i(axil_request),
    .axil_o(axil_response),
    .rows_o(request),
    .rows_i(response),
    .lists_o(list_request),
    .lists_i(list_response),
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
        if (writes[c]) contents[write_at[c]] <= request[Ports*c+p].w.data;
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
        .ar_valid_i(request[Port].ar_valid),
        .ar_addr_i(request[Port].ar.addr),
        .ar_len_i(request[Port].ar.len),
        .ar_ready_o(response[Port].ar_ready),
        .r_valid_o(response[Port].r_valid),
        .r_last_o(response[Port].r.last),
        .r_resp_o(response[Port].r.resp),
        .r_ready_i(request[Port].r_ready),
        .read_beat_o(read_beat),
        .aw_valid_i(request[Port].aw_valid),
        .aw_addr_i(request[Port].aw.addr),
        .aw_len_i(request[Port].aw.len),
        .aw_ready_o(response[Port].aw_ready),
        .w_valid_i(request[Port].w_valid),
        .w_last_i(request[Port].w.last),
        .w_ready_o(response[Port].w_ready),
        .write_o(writes[c]),
        .write_beat_o(write_beat),
        .b_valid_o(response[Port].b_valid),
        .b_resp_o(response[Port].b.resp),
        .b_ready_i(request[Port].b_ready)
      );
      assign response[Port].r.id   = '0;
      assign response[Port].b.id   = '0;
      assign response[Port].r.data = contents[place(read_beat)];
      assign write_at[c]  = place(write_beat);
      Own_A :
      assert property (@(posedge clk_i) !rst_ni || !request[Port].ar_valid ||
                       32'(request[Port].ar.addr >> SpanBits) % Ports == p)
      else $error("port %0d reads slice %0d", Port, 32'(request[Port].ar.addr >> SpanBits));
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
      .ar_valid_i(list_request[c].ar_valid),
      .ar_addr_i(list_request[c].ar.addr),
      .ar_len_i(list_request[c].ar.len),
      .ar_ready_o(list_response[c].ar_ready),
      .r_valid_o(list_response[c].r_valid),
      .r_last_o(list_response[c].r.last),
      .r_resp_o(list_response[c].r.resp),
      .r_ready_i(list_request[c].r_ready),
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
    assign list_response[c].r.id   = '0;
    assign list_response[c].r.data = contents[ListAddrWidth'(beat)];
  end
endmodule
