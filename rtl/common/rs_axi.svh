// AXI4 as a request and a response: their types, and flat ports of a top module.
//
//   `RS_AXI_TYPES(name, IdBits, AddrBits, DataBits)     typedefs name_request_t, name_response_t
//   `RS_AXI_FLAT_MASTER(m_axi, request, response)       ports m_axi_awid ... of such a pair
//
// Modules take both types by `parameter type`, so that a bus has the widths of its design.
`ifndef RS_AXI_SVH
`define RS_AXI_SVH

`define RS_AXI_TYPES(Name, IdBits, AddrBits, DataBits) \
  typedef struct packed {                              \
    logic [IdBits-1:0]   id;                           \
    logic [AddrBits-1:0] addr;                         \
    logic [7:0]          len;                          \
    logic [2:0]          size;                         \
    logic [1:0]          burst;                        \
    logic [3:0]          cache;                        \
    logic [2:0]          prot;                         \
  } Name``_burst_t;                                    \
  typedef struct packed {                              \
    logic [DataBits-1:0]   data;                       \
    logic [DataBits/8-1:0] strb;                       \
    logic                  last;                       \
  } Name``_w_t;                                        \
  typedef struct packed {                              \
    logic [IdBits-1:0] id;                             \
    logic [1:0]        resp;                           \
  } Name``_b_t;                                        \
  typedef struct packed {                              \
    logic [IdBits-1:0]   id;                           \
    logic [DataBits-1:0] data;                         \
    logic [1:0]          resp;                         \
    logic                last;                         \
  } Name``_r_t;                                        \
  typedef struct packed {                              \
    Name``_burst_t aw;                                 \
    logic          aw_valid;                           \
    Name``_w_t     w;                                  \
    logic          w_valid;                            \
    logic          b_ready;                            \
    Name``_burst_t ar;                                 \
    logic          ar_valid;                           \
    logic          r_ready;                            \
  } Name``_request_t;                                  \
  typedef struct packed {                              \
    logic      aw_ready;                               \
    logic      w_ready;                                \
    Name``_b_t b;                                      \
    logic      b_valid;                                \
    logic      ar_ready;                               \
    Name``_r_t r;                                      \
    logic      r_valid;                                \
  } Name``_response_t;

`define RS_AXI_FLAT_MASTER(Port, Request, Response)    \
  assign Port``_awid    = Request.aw.id;               \
  assign Port``_awaddr  = Request.aw.addr;             \
  assign Port``_awlen   = Request.aw.len;              \
  assign Port``_awsize  = Request.aw.size;             \
  assign Port``_awburst = Request.aw.burst;            \
  assign Port``_awcache = Request.aw.cache;            \
  assign Port``_awprot  = Request.aw.prot;             \
  assign Port``_awvalid = Request.aw_valid;            \
  assign Port``_wdata   = Request.w.data;              \
  assign Port``_wstrb   = Request.w.strb;              \
  assign Port``_wlast   = Request.w.last;              \
  assign Port``_wvalid  = Request.w_valid;             \
  assign Port``_bready  = Request.b_ready;             \
  assign Port``_arid    = Request.ar.id;               \
  assign Port``_araddr  = Request.ar.addr;             \
  assign Port``_arlen   = Request.ar.len;              \
  assign Port``_arsize  = Request.ar.size;             \
  assign Port``_arburst = Request.ar.burst;            \
  assign Port``_arcache = Request.ar.cache;            \
  assign Port``_arprot  = Request.ar.prot;             \
  assign Port``_arvalid = Request.ar_valid;            \
  assign Port``_rready  = Request.r_ready;             \
  assign Response.aw_ready = Port``_awready;           \
  assign Response.w_ready  = Port``_wready;            \
  assign Response.b.id     = Port``_bid;               \
  assign Response.b.resp   = Port``_bresp;             \
  assign Response.b_valid  = Port``_bvalid;            \
  assign Response.ar_ready = Port``_arready;           \
  assign Response.r.id     = Port``_rid;               \
  assign Response.r.data   = Port``_rdata;             \
  assign Response.r.resp   = Port``_rresp;             \
  assign Response.r.last   = Port``_rlast;             \
  assign Response.r_valid  = Port``_rvalid;

`endif
