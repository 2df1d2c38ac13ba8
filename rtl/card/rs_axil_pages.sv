// An AXI4-Lite slave whose addresses are pages of 4 KiB; each page is a bus of its own.
//
// valid_o, access_o and end_i are those of rs_axil_access, for each page. One access is taken at a
// time, and a read and a write that wait take turns. A page that is not there is answered with
// SLVERR. READY comes from registers alone, in the cycle after an access is seen.
module rs_axil_pages
  import rs_shell_pkg::*;
#(
  parameter int unsigned Pages = 2
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  card_axil_request_t    axil_i,
  output card_axil_response_t   axil_o,
  output logic [Pages-1:0]      valid_o,
  output axil_access_t          access_o,
  input  axil_end_t [Pages-1:0] end_i
);
  localparam logic [1:0] RespSlverr = 2'b10;
  localparam int unsigned PageBits = CardAddrWidth - AxilAddrWidth;
  typedef enum logic [1:0] {
    StIdle,
    StTake,
    StAccess,
    StAnswer
  } state_e;
  state_e                   state_q;
  logic                     write_q;  // of the access; of the last one in StIdle
  logic                     write, take, quiet, there;
  logic [CardAddrWidth-1:0] addr;
  axil_access_t             access_q;
  logic [PageBits-1:0]      page_q;
  axil_end_t                ends;
  logic [1:0]               resp_q;
  logic [AxilDataWidth-1:0] data_q;
  assign write = axil_i.aw_valid && axil_i.w_valid && !(axil_i.ar_valid && write_q);
  assign take  = rst_ni && state_q == StTake;
  assign addr  = write_q ? axil_i.aw_addr : axil_i.ar_addr;
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
      write_q <= 1'b0;
      valid_o <= '0;
    end else begin
      case (state_q)
        StIdle: begin
          if (quiet && (write || axil_i.ar_valid)) begin
            state_q <= StTake;
            write_q <= write;
          end
        end
        StTake: begin
          state_q <= StAccess;
          valid_o <= Pages'(1) << addr[CardAddrWidth-1:AxilAddrWidth];
        end
        StAccess: begin
          if (ends.done || !there) begin
            state_q <= StAnswer;
            valid_o <= '0;
          end
        end
        default: if (write_q ? axil_i.b_ready : axil_i.r_ready) state_q <= StIdle;
      endcase
    end
    if (take) begin
      page_q   <= addr[CardAddrWidth-1:AxilAddrWidth];
      access_q <= '{
          write: write_q,
          addr: addr[AxilAddrWidth-1:0],
          prot: write_q ? axil_i.aw_prot : axil_i.ar_prot,
          data: axil_i.w_data,
          strb: axil_i.w_strb
      };
    end
    if (state_q == StAccess) begin
      resp_q <= there ? ends.resp : RespSlverr;
      data_q <= there ? ends.data : '0;
    end
  end
  assign access_o = access_q;
  assign axil_o   = '{
          aw_ready: take && write_q,
          w_ready: take && write_q,
          b_valid: state_q == StAnswer && write_q,
          b_resp: resp_q,
          ar_ready: take && !write_q,
          r_valid: state_q == StAnswer && !write_q,
          r_data: data_q,
          r_resp: resp_q
      };
endmodule
