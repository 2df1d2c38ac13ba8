// AXI4 and AXI4-Lite as a request and a response: their types, and flat ports of a top module.
//
//   `RS_AXI_TYPES(name, IdBits, AddrBits, DataBits)     typedefs name_request_t, name_response_t
//   `RS_AXI_READ_TYPES(name, IdBits, AddrBits, DataBits)   the same of a bus that only reads
//   `RS_AXIL_TYPES(name, AddrBits)                      the same of AXI4-Lite, 32-bit data
//   `RS_AXI_FLAT_MASTER(m_axi, request, response)       ports m_axi_awid ... of such a pair
//   `RS_AXI_FLAT_WRITES(m_axi, [i], request, response)  ports m_axi_awaddr[i] ..., without ids
//   `RS_AXI_FLAT_READS(m_axi, [i], request, response)   ports m_axi_araddr[i] ..., without ids
//   `RS_AXIL_FLAT_SLAVE(s_axil, request, response)      ports s_axil_awaddr ...
//
// Modules take both types by `parameter type`, so that a bus has the widths of its design.
`ifndef RS_AXI_SVH
`define RS_AXI_SVH

`define RS_AXI_READ_CHANNELS(Name, IdBits, AddrBits, DataBits) \
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
    logic [IdBits-1:0]   id;                           \
    logic [DataBits-1:0] data;                         \
    logic [1:0]          resp;                         \
    logic                last;                         \
  } Name``_r_t;

`define RS_AXI_READ_TYPES(Name, IdBits, AddrBits, DataBits) \
  `RS_AXI_READ_CHANNELS(Name, IdBits, AddrBits, DataBits) \
  typedef struct packed {                              \
    Name``_burst_t ar;                                 \
    logic          ar_valid;                           \
    logic          r_ready;                            \
  } Name``_request_t;                                  \
  typedef struct packed {                              \
    logic      ar_ready;                               \
    Name``_r_t r;                                      \
    logic      r_valid;                                \
  } Name``_response_t;

`define RS_AXI_TYPES(Name, IdBits, AddrBits, DataBits) \
  `RS_AXI_READ_CHANNELS(Name, IdBits, AddrBits, DataBits) \
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

`define RS_AXIL_TYPES(Name, AddrBits)                  \
  typedef struct packed {                              \
    logic                aw_valid;                     \
    logic [AddrBits-1:0] aw_addr;                      \
    logic [2:0]          aw_prot;                      \
    logic                w_valid;                      \
    logic [31:0]         w_data;                       \
    logic [3:0]          w_strb;                       \
    logic                b_ready;                      \
    logic                ar_valid;                     \
    logic [AddrBits-1:0] ar_addr;                      \
    logic [2:0]          ar_prot;                      \
    logic                r_ready;                      \
  } Name``_request_t;                                  \
  typedef struct packed {                              \
    logic        aw_ready;                             \
    logic        w_ready;                              \
    logic        b_valid;                              \
    logic [1:0]  b_resp;                               \
    logic        ar_ready;                             \
    logic        r_valid;                              \
    logic [31:0] r_data;                               \
    logic [1:0]  r_resp;                               \
  } Name``_response_t;

`define RS_AXI_FLAT_WRITES(Port, Index, Request, Response) \
  assign Port``_awaddr Index  = Request.aw.addr;       \
  assign Port``_awlen Index   = Request.aw.len;        \
  assign Port``_awsize Index  = Request.aw.size;       \
  assign Port``_awburst Index = Request.aw.burst;      \
  assign Port``_awcache Index = Request.aw.cache;      \
  assign Port``_awprot Index  = Request.aw.prot;       \
  assign Port``_awvalid Index = Request.aw_valid;      \
  assign Port``_wdata Index   = Request.w.data;        \
  assign Port``_wstrb Index   = Request.w.strb;        \
  assign Port``_wlast Index   = Request.w.last;        \
  assign Port``_wvalid Index  = Request.w_valid;       \
  assign Port``_bready Index  = Request.b_ready;       \
  assign Response.aw_ready    = Port``_awready Index;  \
  assign Response.w_ready     = Port``_wready Index;   \
  assign Response.b.resp      = Port``_bresp Index;    \
  assign Response.b_valid     = Port``_bvalid Index;

`define RS_AXI_FLAT_READS(Port, Index, Request, Response) \
  assign Port``_araddr Index  = Request.ar.addr;       \
  assign Port``_arlen Index   = Request.ar.len;        \
  assign Port``_arsize Index  = Request.ar.size;       \
  assign Port``_arburst Index = Request.ar.burst;      \
  assign Port``_arcache Index = Request.ar.cache;      \
  assign Port``_arprot Index  = Request.ar.prot;       \
  assign Port``_arvalid Index = Request.ar_valid;      \
  assign Port``_rready Index  = Request.r_ready;       \
  assign Response.ar_ready    = Port``_arready Index;  \
  assign Response.r.data      = Port``_rdata Index;    \
  assign Response.r.resp      = Port``_rresp Index;    \
  assign Response.r.last      = Port``_rlast Index;    \
  assign Response.r_valid     = Port``_rvalid Index;

`define RS_AXI_FLAT_MASTER(Port, Request, Response)    \
  `RS_AXI_FLAT_WRITES(Port, , Request, Response)       \
  `RS_AXI_FLAT_READS(Port, , Request, Response)        \
  assign Port``_awid   = Request.aw.id;                \
  assign Port``_arid   = Request.ar.id;                \
  assign Response.b.id = Port``_bid;                   \
  assign Response.r.id = Port``_rid;

`define RS_AXIL_FLAT_SLAVE(Port, Request, Response)    \
  assign Request.aw_valid = Port``_awvalid;            \
  assign Request.aw_addr  = Port``_awaddr;             \
  assign Request.aw_prot  = Port``_awprot;             \
  assign Request.w_valid  = Port``_wvalid;             \
  assign Request.w_data   = Port``_wdata;              \
  assign Request.w_strb   = Port``_wstrb;              \
  assign Request.b_ready  = Port``_bready;             \
  assign Request.ar_valid = Port``_arvalid;            \
  assign Request.ar_addr  = Port``_araddr;             \
  assign Request.ar_prot  = Port``_arprot;             \
  assign Request.r_ready  = Port``_rready;             \
  assign Port``_awready   = Response.aw_ready;         \
  assign Port``_wready    = Response.w_ready;          \
  assign Port``_bresp     = Response.b_resp;           \
  assign Port``_bvalid    = Response.b_valid;          \
  assign Port``_arready   = Response.ar_ready;         \
  assign Port``_rdata     = Response.r_data;           \
  assign Port``_rresp     = Response.r_resp;           \
  assign Port``_rvalid    = Response.r_valid;

`endif
