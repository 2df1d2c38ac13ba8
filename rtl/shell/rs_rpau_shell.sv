// An accelerator of the RPAU architecture behind its register block and its data path, whose buses
// are records: rs_rpau_axil has them as ports, rs_rpau_uart a serial line instead.
//
// docs/reference/registers.md says what the registers do. A register access takes a few cycles, the
// first word of a row of its port rs_rpau_pkg::host_read_latency() more. The data path
// (rs_data_path) moves polynomials; while it does, the device is not ready. Keys may cross it while
// a program runs.
//
// Without DataPath there is none, and register data_path says so.
//
// With Dma a channel of the DMA (dma_*, rs_dma_device's ports) replaces the data path, and
// starts programs. While the channel moves words, and in the cycle of its start, the registers
// reach no memory and start nothing.
//
// rst_ni is the bus's reset, synchronous and active low; one cycle is enough, since it is prolonged
// for the accelerator. control.reset resets the accelerator in any state; the registers' bus
// continues, and a burst of the data path goes on to its end, with SLVERR.
module rs_rpau_shell
  import rs_rpau_isa_pkg::*;
  import rs_rpau_pkg::*;
  import rs_shell_pkg::*;
#(
  parameter  rpau_cfg_t   Cfg = DefaultCfg,
  parameter  bit          Dma = 1'b0,
  parameter  bit          DataPath = !Dma,  // there is one; not with Dma
  localparam int unsigned HostWords = host_words(2 * Cfg.Cores),
  localparam int unsigned ProgramAddrWidth = $clog2(Cfg.ProgramWords)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  axil_request_t        axil_i,
  output axil_response_t       axil_o,
  input  axi_request_t         axi_i,
  output axi_response_t        axi_o,
  input  dma_request_t         dma_i,
  input  logic [Cfg.Width-1:0] dma_wdata_i [HostWords],
  output dma_response_t        dma_o,
  output logic [Cfg.Width-1:0] dma_rdata_o [HostWords]
);
  // ---- registers --------------------------------------------------------------------------------
  rs_registers_pkg::rs_registers__in_t  hwif_in;
  rs_registers_pkg::rs_registers__out_t hwif_out;
  rs_registers u_registers (
    .clk(clk_i),
    .rst_n(rst_ni),
    .s_axil_awready(axil_o.aw_ready),
    .s_axil_awvalid(axil_i.aw_valid),
    .s_axil_awaddr(axil_i.aw_addr),
    .s_axil_awprot(axil_i.aw_prot),
    .s_axil_wready(axil_o.w_ready),
    .s_axil_wvalid(axil_i.w_valid),
    .s_axil_wdata(axil_i.w_data),
    .s_axil_wstrb(axil_i.w_strb),
    .s_axil_bready(axil_i.b_ready),
    .s_axil_bvalid(axil_o.b_valid),
    .s_axil_bresp(axil_o.b_resp),
    .s_axil_arready(axil_o.ar_ready),
    .s_axil_arvalid(axil_i.ar_valid),
    .s_axil_araddr(axil_i.ar_addr),
    .s_axil_arprot(axil_i.ar_prot),
    .s_axil_rready(axil_i.r_ready),
    .s_axil_rvalid(axil_o.r_valid),
    .s_axil_rdata(axil_o.r_data),
    .s_axil_rresp(axil_o.r_resp),
    .hwif_in,
    .hwif_out
  );

  logic [CapabilityBits-1:0] reported [CapabilityCount];
  assign hwif_in.capability_count.value.next = CapabilityBits'(CapabilityCount);
  assign hwif_in.data_path.value.next  = DataPath ? 32'(BeatBits) : '0;
  // generated from rtl/shell/rs_registers.rdl: capabilities
  assign hwif_in.capabilities.log_n.value.next = reported[CapabilityLogN];
  assign hwif_in.capabilities.word_bits.value.next = reported[CapabilityWidth];
  assign hwif_in.capabilities.rpaus.value.next = reported[CapabilityRpaus];
  assign hwif_in.capabilities.cores.value.next = reported[CapabilityCores];
  assign hwif_in.capabilities.dyadic_cores.value.next = reported[CapabilityDyadicCores];
  assign hwif_in.capabilities.work_polys.value.next = reported[CapabilityWorkPolys];
  assign hwif_in.capabilities.key_polys.value.next = reported[CapabilityKeyPolys];
  assign hwif_in.capabilities.constants.value.next = reported[CapabilityConstants];
  assign hwif_in.capabilities.program_words.value.next = reported[CapabilityProgramWords];
  assign hwif_in.capabilities.reduction.value.next = reported[CapabilityReduction];
  assign hwif_in.capabilities.modulus_banks.value.next = reported[CapabilityModulusBanks];
  assign hwif_in.capabilities.interconnect_.value.next = reported[CapabilityInterconnect];
  assign hwif_in.capabilities.twiddles.value.next = reported[CapabilityTwiddles];
  assign hwif_in.capabilities.work_uram_polys.value.next = reported[CapabilityWorkUramPolys];
  assign hwif_in.capabilities.key_ram.value.next = reported[CapabilityKeyRam];
  assign hwif_in.capabilities.family.value.next = reported[CapabilityFamily];
  assign hwif_in.capabilities.prng.value.next = reported[CapabilityPrng];
  assign hwif_in.capabilities.seeds.value.next = reported[CapabilitySeeds];
  assign hwif_in.capabilities.link.value.next = reported[CapabilityLink];
  assign hwif_in.capabilities.larger_rings.value.next = reported[CapabilityLargerRings];
  assign hwif_in.capabilities.smaller_rings.value.next = reported[CapabilitySmallerRings];
  assign hwif_in.capabilities.work_block_banks.value.next = reported[CapabilityWorkBlockBanks];
  assign hwif_in.capabilities.narrow_rpaus.value.next = reported[CapabilityNarrowRpaus];
  assign hwif_in.capabilities.narrow_bits.value.next = reported[CapabilityNarrowWidth];
  assign hwif_in.capabilities.hop_cycles.value.next = reported[CapabilityHopCycles];
  assign hwif_in.capabilities.converters.value.next = reported[CapabilityConverters];
  assign hwif_in.capabilities.conversions.value.next = reported[CapabilityConversions];
  assign hwif_in.capabilities.core_multipliers.value.next = reported[CapabilityCoreMultipliers];
  assign hwif_in.capabilities.key_stream.value.next = reported[CapabilityKeyStream];
  // end of generated

  // ---- reset and commands -----------------------------------------------------------------------
  localparam int unsigned ResetBits = $clog2(ResetCycles + 1);
  logic [ResetBits-1:0] reset_q;  // cycles that the accelerator stays in reset
  logic                 device_rst_nq, busy, bad_opcode, start, still, idle, ready;
  logic                 moving;  // the data path moves words
  logic                 host_busy;  // the device still has accesses of the host in progress
  logic                 waiting_q;  // a start waits for them
  logic                 dma_start;
  assign dma_start = Dma && dma_i.start;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || hwif_out.control.reset.value) reset_q <= ResetBits'(ResetCycles);
    else if (reset_q != '0) reset_q <= reset_q - 1'b1;
    device_rst_nq <= rst_ni && reset_q == '0;
  end
  assign still = device_rst_nq && reset_q == '0 && !busy && !waiting_q;
  assign idle  = still && !dma_start;
  assign ready = idle && !moving;
  function automatic logic [4:0] ring_or_n(logic [4:0] asked);
    return (asked == '0) ? 5'(Cfg.LogN) : asked;
  endfunction
  function automatic logic runs(logic [4:0] log_degree);
    return 32'(log_degree) >= Cfg.LogN - Cfg.SmallerRings &&
        32'(log_degree) <= Cfg.LogN + Cfg.LargerRings;
  endfunction
  logic [4:0] ring, ring_q;
  logic       runs_ring;
  assign ring      = ring_or_n(hwif_out.ring.log_degree.value);
  assign runs_ring = runs(ring);
  assign start     = hwif_out.control.start.value && !hwif_out.control.reset.value && ready &&
                     runs_ring;
  always_ff @(posedge clk_i) begin
    waiting_q <= device_rst_nq && reset_q == '0 && (start || (waiting_q && host_busy));
    if (start) ring_q <= ring;
  end

  // Keys may come from the program's start on. Keys that come before are not counted.
  logic [ArrivedWidth-1:0] arrived, awaited;
  logic                    streamed_q;
  assign hwif_in.key_arrivals.arrived.next = arrived;
  assign hwif_in.key_arrivals.awaited.next = awaited;
  always_ff @(posedge clk_i) begin
    if (start) streamed_q <= Cfg.KeyStream && hwif_out.keys.streamed.value;
  end

  assign hwif_in.status.busy.next       = (busy || waiting_q) && device_rst_nq;
  assign hwif_in.status.resetting.next  = !device_rst_nq || reset_q != '0;
  assign hwif_in.status.bad_opcode.next = bad_opcode && device_rst_nq;
  assign hwif_in.status.moving.next     = moving;

  logic [63:0] cycles, instructions;
  assign hwif_in.cycles.value.next       = cycles;
  assign hwif_in.instructions.value.next = instructions;

  // ---- refused accesses -------------------------------------------------------------------------
  refused_t refused, refused_program, refused_host, refused_start;
  assign refused_start = '{
          busy: hwif_out.control.start.value && (!ready || hwif_out.control.reset.value),
          place: hwif_out.control.start.value && !runs_ring,
          default: 1'b0
      };
  assign refused       = refused_program | refused_host | refused_start;

  assign hwif_in.refused.busy.hwset  = refused.busy;
  assign hwif_in.refused.place.hwset = refused.place;
  assign hwif_in.refused.order.hwset = refused.order;
  assign hwif_in.refused.value.hwset = refused.value;
  assign hwif_in.refused.busy.hwclr  = hwif_out.control.reset.value;
  assign hwif_in.refused.place.hwclr = hwif_out.control.reset.value;
  assign hwif_in.refused.order.hwclr = hwif_out.control.reset.value;
  assign hwif_in.refused.value.hwclr = hwif_out.control.reset.value;

  // ---- program store ----------------------------------------------------------------------------
  access_t                     program_access_q;
  logic                        program_we;
  logic [ProgramAddrWidth-1:0] program_addr;
  logic [63:0]                 program_data;
  always_ff @(posedge clk_i) begin
    program_access_q <= '{
        valid: rst_ni && |hwif_out.program_data.req,
        write: hwif_out.program_data.req_is_wr,
        upper: hwif_out.program_data.req[1],
        whole: &hwif_out.program_data.wr_biten,
        data: hwif_out.program_data.wr_data
    };
  end
  assign hwif_in.program_data.wr_ack = program_access_q.valid;
  rs_program_window #(
    .ProgramWords(Cfg.ProgramWords)
  ) u_program_window (
    .clk_i,
    .rst_ni,
    .ready_i(idle),
    .address_i(hwif_out.program_address.value.value),
    .advance_o(hwif_in.program_address.value.incr),
    .access_i(program_access_q),
    .refused_o(refused_program),
    .program_we_o(program_we),
    .program_addr_o(program_addr),
    .program_data_o(program_data)
  );

  // ---- memories ---------------------------------------------------------------------------------
  access_t                   host_access_q;
  logic                      host_write_q;  // the access that waits for its answer is a write
  logic                      host_ack, host_rvalid;
  logic [Cfg.Width-1:0]      host_rdata [HostWords];
  logic                      host_we, host_re;
  logic                      dma_no_place, window_idle;
  logic [SpaceWidth-1:0]     host_space;
  logic [RpauWidth-1:0]      host_rpau;
  logic [HostIndexWidth-1:0] host_index;
  logic [RowWidth-1:0]       host_row;
  logic [Cfg.Width-1:0]      host_wdata [HostWords];
  always_ff @(posedge clk_i) begin
    host_access_q <= '{
        valid: rst_ni && |hwif_out.host_data.req,
        write: hwif_out.host_data.req_is_wr,
        upper: hwif_out.host_data.req[1],
        whole: &hwif_out.host_data.wr_biten,
        data: hwif_out.host_data.wr_data
    };
    if (|hwif_out.host_data.req) host_write_q <= hwif_out.host_data.req_is_wr;
  end
  assign hwif_in.host_data.wr_ack = host_ack && host_write_q;
  assign hwif_in.host_data.rd_ack = host_ack && !host_write_q;
  rs_host_port #(
    .Cfg(Cfg),
    .Dma(Dma),
    .DataPath(DataPath)
  ) u_host_port (
    .clk_i,
    .rst_ni,
    .forget_i(hwif_out.control.reset.value),
    .idle_i(idle && !start),
    .streams_i(device_rst_nq && reset_q == '0 && (busy || waiting_q) && streamed_q),
    .starting_i(waiting_q),
    .moving_o(moving),
    .space_i(hwif_out.host_space.value.value),
    .unit_i(hwif_out.host_unit.value.value),
    .index_i(hwif_out.host_index.value.value),
    .word_i(hwif_out.host_word.value.value),
    .moved_i(hwif_out.host_space.value.swmod || hwif_out.host_unit.value.swmod ||
             hwif_out.host_index.value.swmod || hwif_out.host_word.value.swmod),
    .advance_o(hwif_in.host_word.value.incr),
    .access_i(host_access_q),
    .ack_o(host_ack),
    .data_o(hwif_in.host_data.rd_data),
    .refused_o(refused_host),
    .axi_i,
    .axi_o,
    .dma_i,
    .dma_wdata_i,
    .dma_no_place_o(dma_no_place),
    .window_idle_o(window_idle),
    .host_we_o(host_we),
    .host_re_o(host_re),
    .host_space_o(host_space),
    .host_rpau_o(host_rpau),
    .host_index_o(host_index),
    .host_row_o(host_row),
    .host_wdata_o(host_wdata),
    .host_rvalid_i(host_rvalid),
    .host_rdata_i(host_rdata),
    .host_busy_i(host_busy)
  );

  // ---- DMA --------------------------------------------------------------------------------------
  logic [4:0]  dma_ring;
  logic [15:0] opened_q;  // polynomials of keys that the channel may stream
  assign dma_ring = ring_or_n(dma_i.asked.ring);
  always_ff @(posedge clk_i) begin
    if (dma_start && Cfg.KeyStream) opened_q <= dma_i.asked.index;
    else if (start || !Cfg.KeyStream) opened_q <= '0;
  end
  assign dma_o = '{
          rst_n: device_rst_nq,
          refused: dma_i.asked.starts ? !runs(dma_ring) : dma_no_place,
          rvalid: host_rvalid,
          host_busy: host_busy,
          busy: !still || start || !window_idle,
          opened: busy ? opened_q : '0,
          cycles: cycles
      };
  assign dma_rdata_o = host_rdata;

  // ---- accelerator ------------------------------------------------------------------------------
  rs_rpau_top #(
    .Cfg(Cfg)
  ) u_device (
    .clk_i,
    .rst_ni(device_rst_nq),
    .host_we_i(host_we),
    .host_re_i(host_re),
    .host_space_i(host_space),
    .host_rpau_i(host_rpau),
    .host_index_i(host_index),
    .host_row_i(host_row),
    .host_wdata_i(host_wdata),
    .host_rvalid_o(host_rvalid),
    .host_rdata_o(host_rdata),
    .host_busy_o(host_busy),
    .program_we_i(program_we),
    .program_addr_i(program_addr),
    .program_data_i(program_data),
    .ring_i(dma_start ? dma_ring : ring_q),
    .start_i(dma_start || (waiting_q && !host_busy)),
    .streamed_i(dma_start ? Cfg.KeyStream && dma_i.asked.index != '0 : streamed_q),
    .arrived_o(arrived),
    .awaited_o(awaited),
    .busy_o(busy),
    .error_o(bad_opcode),
    .cycles_o(cycles),
    .instructions_o(instructions),
    .design_o(reported)
  );
endmodule
