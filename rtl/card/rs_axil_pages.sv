// An AXI4-Lite slave whose addresses are pages of 4 KiB; each page is a bus of its own.
//
// valid_o, access_o and end_i are those of rs_axil_access, for each page. One access is taken at a
// time, and a read and a write that wait take turns. A page that is not there is answered with
// SLVERR.
module rs_axil_pages
  import rs_shell_pkg::*;
#(
  parameter  int unsigned Pages = 2,
  parameter  int unsigned AddrWidth = 16,
  localparam int unsigned StrobeWidth = AxilDataWidth / 8
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  // verilog_lint: waive-start port-name-suffix
  input  logic [AddrWidth-1:0]     s_axil_awaddr,
  input  logic [2:0]               s_axil_awprot,
  input  logic                     s_axil_awvalid,
  output logic                     s_axil_awready,
  input  logic [AxilDataWidth-1:0] s_axil_wdata,
  input  logic [StrobeWidth-1:0]   s_axil_wstrb,
  input  logic                     s_axil_wvalid,
  output logic                     s_axil_wready,
  output logic [1:0]               s_axil_bresp,
  output logic                     s_axil_bvalid,
  input  logic                     s_axil_bready,
  input  logic [AddrWidth-1:0]     s_axil_araddr,
  input  logic [2:0]               s_axil_arprot,
  input  logic                     s_axil_arvalid,
  output logic                     s_axil_arready,
  output logic [AxilDataWidth-1:0] s_axil_rdata,
  output logic [1:0]               s_axil_rresp,
  output logic                     s_axil_rvalid,
  input  logic                     s_axil_rready,
  // verilog_lint: waive-stop port-name-suffix

  output logic [Pages-1:0]         valid_o,
  output axil_access_t             access_o,
  input  axil_end_t [Pages-1:0]    end_i
);
  localparam logic [1:0] RespSlverr = 2'b10;
  localparam int unsigned PageBits = AddrWidth - AxilAddrWidth;
  typedef enum logic [1:0] {
    StIdle,
    StAccess,
    StAnswer
  } state_e;
  state_e                   state_q;
  logic                     wrote_q;  // the last access was a write
  logic                     write, take, quiet, there;
  logic [AddrWidth-1:0]     addr;
  axil_access_t             access_q;
  logic [PageBits-1:0]      page_q;
  axil_end_t                ends;
  logic [1:0]               resp_q;
  logic [AxilDataWidth-1:0] data_q;
  assign write = s_axil_awvalid && s_axil_wvalid && !(s_axil_arvalid && wrote_q);
  assign take  = rst_ni && state_q == StIdle && quiet && (write || s_axil_arvalid);
  assign addr  = write ? s_axil_awaddr : s_axil_araddr;
  assign there = 32'(page_q) < Pages;
  always_comb begin
    quiet = 1'b1;
    ends  = '0;
    for (int unsigned p = 0; p < Pages; p++) begin
      if (end_i[p].done) quiet = 1'b0;
      if (page_q == PageBits'(p)) ends = end_i[p];
    end
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      wrote_q <= 1'b0;
      valid_o <= '0;
    end else begin
      case (state_q)
        StIdle: begin
          if (take) begin
            state_q <= StAccess;
            wrote_q <= write;
            valid_o <= Pages'(1) << addr[AddrWidth-1:AxilAddrWidth];
          end
        end
        StAccess: begin
          if (ends.done || !there) begin
            state_q <= StAnswer;
            valid_o <= '0;
          end
        end
        default: if (access_q.write ? s_axil_bready : s_axil_rready) state_q <= StIdle;
      endcase
    end
    if (take) begin
      page_q   <= addr[AddrWidth-1:AxilAddrWidth];
      access_q <= '{
          write: write,
          addr: addr[AxilAddrWidth-1:0],
          prot: write ? s_axil_awprot : s_axil_arprot,
          data: s_axil_wdata,
          strb: s_axil_wstrb
      };
    end
    if (state_q == StAccess) begin
      resp_q <= there ? ends.resp : RespSlverr;
      data_q <= there ? ends.data : '0;
    end
  end
  assign access_o       = access_q;
  assign s_axil_awready = take && write;
  assign s_axil_wready  = take && write;
  assign s_axil_arready = take && !write;
  assign s_axil_bresp   = resp_q;
  assign s_axil_rresp   = resp_q;
  assign s_axil_rdata   = data_q;
  assign s_axil_bvalid  = state_q == StAnswer && access_q.write;
  assign s_axil_rvalid  = state_q == StAnswer && !access_q.write;
endmodule
