// Accesses to an AXI4-Lite bus, one after another, each asked for by a handshake of levels.
//
// valid_i is high until end_o.done, and then low until that falls. access_i holds still while
// valid_i is high, and end_o while it is done: so both may come from another clock, and go there.
// If valid_i falls before the access ends, in a reset of the requester, the access is finished on
// the bus but not reported. rst_ni comes with the reset of the bus; the current access then
// restarts.
module rs_axil_access
  import rs_shell_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           valid_i,
  input  axil_access_t   access_i,
  output axil_end_t      end_o,
  output axil_request_t  axil_o,
  input  axil_response_t axil_i
);
  typedef enum logic [1:0] {
    StIdle,
    StAsk,
    StDone
  } state_e;
  state_e       state_q;
  logic         aw_q, w_q, ar_q;  // to be taken by the bus
  logic         left_q;           // valid_i has fallen
  logic         answered;
  axil_access_t access_q;
  axil_end_t    end_q;
  assign answered = axil_i.b_valid || axil_i.r_valid;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      aw_q    <= 1'b0;
      w_q     <= 1'b0;
      ar_q    <= 1'b0;
    end else begin
      if (axil_i.aw_ready) aw_q <= 1'b0;
      if (axil_i.w_ready) w_q <= 1'b0;
      if (axil_i.ar_ready) ar_q <= 1'b0;
      case (state_q)
        StIdle: begin
          if (valid_i) begin
            state_q <= StAsk;
            aw_q    <= access_i.write;
            w_q     <= access_i.write;
            ar_q    <= !access_i.write;
          end
        end
        StAsk: if (answered) state_q <= (valid_i && !left_q) ? StDone : StIdle;
        default: if (!valid_i) state_q <= StIdle;
      endcase
    end
    if (state_q == StIdle) access_q <= access_i;
    left_q <= state_q == StAsk && (left_q || !valid_i);
    if (answered) begin
      end_q.resp <= access_q.write ? axil_i.b_resp : axil_i.r_resp;
      end_q.data <= axil_i.r_data;
    end
    end_q.done <= rst_ni && state_q == StDone && valid_i;
  end
  assign end_o  = end_q;
  assign axil_o = '{
          aw_valid: aw_q,
          aw_addr: access_q.addr,
          aw_prot: access_q.prot,
          w_valid: w_q,
          w_data: access_q.data,
          w_strb: access_q.strb,
          b_ready: 1'b1,
          ar_valid: ar_q,
          ar_addr: access_q.addr,
          ar_prot: access_q.prot,
          r_ready: 1'b1
      };
endmodule
