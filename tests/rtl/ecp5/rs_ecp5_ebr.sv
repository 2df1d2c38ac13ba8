// Behaviour of ECP5's embedded block RAM: 2,048 bytes of nine bits behind two ports.
//
// After Lattice's memory usage guide for ECP5 (TN1264, FPGA-TN-02204) and, where that is silent,
// what Yosys's library of this family says. DP16KD and PDPW16KD are this with their own names of
// ports.
//
// Width 36, 18, 9: four, two or one byte. Address bits 4:0 of a word of 36 bits, 3:0 of one of
// 18 and 2:0 of one of 9 are not part of its place; of the first two they enable the bytes that
// are written. Width 4, 2, 1: parts of a byte without its ninth bit. A port of 36 bits takes and
// gives its upper 18 bits by the pins of port B, its lower 18 by those of port A: A then only
// writes and B only reads. A narrower B reads by its own pins.
//
// A port acts at its clock's edge if ce and its chip selects say so. What it shows after a write
// depends on its mode: NORMAL, what it showed before; WRITETHROUGH, the place with what is
// written; READBEFOREWRITE, the place before. With OUTREG that goes through a register more,
// enabled by oce. Reset makes latch and register 0 and, if synchronous, stops a write; it needs
// no enable.
//
// Undefined in the device and so wrong on purpose here, each bit inverted: a place that a port
// reads while the other one writes it. Two writes of one place at once are not modelled.
module rs_ecp5_ebr #(
  parameter int unsigned WidthA = 18,
  parameter int unsigned WidthB = 18,
  parameter bit          OutRegA = 1'b0,
  parameter bit          OutRegB = 1'b0,
  parameter bit          AsyncReset = 1'b0,
  parameter bit [2:0]    SelectA = 3'b000,
  parameter bit [2:0]    SelectB = 3'b000,
  parameter int unsigned ModeA = 0,         // 0: NORMAL, 1: WRITETHROUGH, 2: READBEFOREWRITE
  parameter int unsigned ModeB = 0,
  parameter bit [20479:0] Init = 20480'h0   // 1,024 words of 18 bits, each with two bits above it
) (
  input  logic        clk_a_i,
  input  logic        ce_a_i,
  input  logic        oce_a_i,
  input  logic        we_a_i,
  input  logic        rst_a_i,
  input  logic [ 2:0] cs_a_i,
  input  logic [13:0] ad_a_i,
  input  logic [17:0] di_a_i,
  output logic [17:0] do_a_o,
  input  logic        clk_b_i,
  input  logic        ce_b_i,
  input  logic        oce_b_i,
  input  logic        we_b_i,
  input  logic        rst_b_i,
  input  logic [ 2:0] cs_b_i,
  input  logic [13:0] ad_b_i,
  input  logic [17:0] di_b_i,
  output logic [17:0] do_b_o
);
  localparam int unsigned Bytes = 2048;
  localparam int unsigned Most = 4;  // bytes of a word

  if (!(WidthA inside {1, 2, 4, 9, 18, 36}) || !(WidthB inside {1, 2, 4, 9, 18, 36}) ||
      (WidthB == 36 && WidthA != 36)) begin : gen_bad_width
    $error("rs_ecp5_ebr: ports of %0d and %0d bits are not modelled", WidthA, WidthB);
  end

  /* verilator lint_off MULTIDRIVEN */
  logic [8:0] mem [Bytes];
  /* verilator lint_on MULTIDRIVEN */
  initial begin
    for (int unsigned w = 0; w < Bytes / 2; w++) begin
      mem[2*w]   = Init[20*w+:9];
      mem[2*w+1] = Init[20*w+9+:9];
    end
  end

  // The first byte of a place, and which of its bits are written.
  function automatic logic [10:0] first_byte(int unsigned width, logic [13:0] ad);
    return (width == 36) ? {ad[13:5], 2'b0} : (width == 18) ? {ad[13:4], 1'b0} : ad[13:3];
  endfunction
  function automatic logic [9*Most-1:0] mask_of(int unsigned width, logic [13:0] ad);
    logic [9*Most-1:0] mask;
    mask = '0;
    case (width)
      36: for (int unsigned b = 0; b < 4; b++) if (ad[b]) mask[9*b+:9] = '1;
      18: for (int unsigned b = 0; b < 2; b++) if (ad[b]) mask[9*b+:9] = '1;
      9: mask[8:0] = '1;
      4: mask[4*ad[2]+:4] = '1;
      2: mask[2*ad[2:1]+:2] = '1;
      default: mask[6'(ad[2:0])] = 1'b1;
    endcase
    return mask;
  endfunction
  // Places a word among the others of its byte, and takes it out.
  function automatic logic [9*Most-1:0] placed(int unsigned width, logic [13:0] ad,
                                               logic [35:0] data);
    case (width)
      4: return 36'(data[3:0]) << 4 * ad[2];
      2: return 36'(data[1:0]) << 2 * ad[2:1];
      1: return 36'(data[0]) << ad[2:0];
      default: return data;
    endcase
  endfunction
  function automatic logic [35:0] taken(int unsigned width, logic [13:0] ad,
                                        logic [9*Most-1:0] bits);
    case (width)
      36: return bits;
      18: return 36'(bits[17:0]);
      9: return 36'(bits[8:0]);
      4: return 36'(bits[4*ad[2]+:4]);
      2: return 36'(bits[2*ad[2:1]+:2]);
      default: return 36'(bits[6'(ad[2:0])]);
    endcase
  endfunction
  // Bytes of a place of this width.
  function automatic int unsigned bytes_of(int unsigned width);
    return (width > 9) ? width / 9 : 1;
  endfunction

  logic acts_a, acts_b, writes_a, writes_b;
  assign acts_a   = ce_a_i && cs_a_i == SelectA;
  assign acts_b   = ce_b_i && cs_b_i == SelectB;
  assign writes_a = acts_a && we_a_i && !(rst_a_i && !AsyncReset);
  assign writes_b = acts_b && we_b_i && !(rst_b_i && !AsyncReset) && WidthB != 36;

  logic [10:0] first_a, first_b;
  logic [35:0] mask_a, mask_b, new_a, new_b, old_a, old_b, clash_a, clash_b, read_a, read_b;
  assign first_a = first_byte(WidthA, ad_a_i);
  assign first_b = first_byte(WidthB, ad_b_i);
  assign mask_a  = mask_of(WidthA, ad_a_i);
  assign mask_b  = mask_of(WidthB, ad_b_i);
  assign new_a   = placed(WidthA, ad_a_i, (WidthA == 36) ? {di_b_i, di_a_i} : 36'(di_a_i));
  assign new_b   = placed(WidthB, ad_b_i, 36'(di_b_i));

  // What each port finds, and which bits of that the other one writes.
  function automatic logic [35:0] clash(logic [10:0] own, logic [10:0] other, logic [35:0] mask);
    logic [10:0] distance;
    distance = own - other;
    if (distance < 11'(Most)) return mask >> 9 * distance[1:0];
    distance = other - own;
    return (distance < 11'(Most)) ? mask << 9 * distance[1:0] : '0;
  endfunction
  always_comb begin
    old_a = '0;
    old_b = '0;
    for (int unsigned b = 0; b < Most; b++) begin
      if (b < bytes_of(WidthA)) old_a[9*b+:9] = mem[first_a+11'(b)];
      if (b < bytes_of(WidthB)) old_b[9*b+:9] = mem[first_b+11'(b)];
    end
    clash_a = writes_b ? clash(first_a, first_b, mask_b) : '0;
    clash_b = writes_a ? clash(first_b, first_a, mask_a) : '0;
  end
  assign read_a = taken(WidthA, ad_a_i, old_a ^ clash_a);
  assign read_b = taken(WidthB, ad_b_i, old_b ^ clash_b);

  logic [35:0] through_a, through_b;
  assign through_a = taken(WidthA, ad_a_i, (old_a & ~mask_a) | (new_a & mask_a));
  assign through_b = taken(WidthB, ad_b_i, (old_b & ~mask_b) | (new_b & mask_b));

  always @(posedge clk_a_i) begin
    if (WidthA < 9) begin  // the other port may write other bits of the byte
      for (int unsigned i = 0; i < 8; i++) begin
        if (writes_a && mask_a[i]) mem[first_a][i] <= new_a[i];
      end
    end else begin
      for (int unsigned b = 0; b < bytes_of(WidthA); b++) begin
        if (writes_a && mask_a[9*b]) mem[first_a+11'(b)] <= new_a[9*b+:9];
      end
    end
  end
  always @(posedge clk_b_i) begin
    if (WidthB < 9) begin  // the other port may write other bits of the byte
      for (int unsigned i = 0; i < 8; i++) begin
        if (writes_b && mask_b[i]) mem[first_b][i] <= new_b[i];
      end
    end else begin
      for (int unsigned b = 0; b < bytes_of(WidthB); b++) begin
        if (writes_b && mask_b[9*b]) mem[first_b+11'(b)] <= new_b[9*b+:9];
      end
    end
  end

  logic [35:0] latch_a_q = '0, latch_b_q = '0, out_a_q = '0, out_b_q = '0;
  logic [35:0] next_a, next_b;
  always_comb begin
    next_a = latch_a_q;
    if (acts_a && !we_a_i) next_a = read_a;
    else if (acts_a && ModeA == 1) next_a = through_a;
    else if (acts_a && ModeA == 2) next_a = read_a;
    next_b = latch_b_q;
    if (acts_b && (!we_b_i || WidthB == 36)) next_b = read_b;
    else if (acts_b && ModeB == 1) next_b = through_b;
    else if (acts_b && ModeB == 2) next_b = read_b;
  end
  if (AsyncReset) begin : gen_async
    always @(posedge clk_a_i or posedge rst_a_i) begin
      if (rst_a_i) {latch_a_q, out_a_q} <= '0;
      else begin
        latch_a_q <= next_a;
        if (oce_a_i) out_a_q <= latch_a_q;
      end
    end
    always @(posedge clk_b_i or posedge rst_b_i) begin
      if (rst_b_i) {latch_b_q, out_b_q} <= '0;
      else begin
        latch_b_q <= next_b;
        if (oce_b_i) out_b_q <= latch_b_q;
      end
    end
  end else begin : gen_sync
    always @(posedge clk_a_i) begin
      latch_a_q <= rst_a_i ? '0 : next_a;
      if (rst_a_i) out_a_q <= '0;
      else if (oce_a_i) out_a_q <= latch_a_q;
    end
    always @(posedge clk_b_i) begin
      latch_b_q <= rst_b_i ? '0 : next_b;
      if (rst_b_i) out_b_q <= '0;
      else if (oce_b_i) out_b_q <= latch_b_q;
    end
  end

  logic [35:0] shown_a, shown_b;
  assign shown_a = OutRegA ? out_a_q : latch_a_q;
  assign shown_b = OutRegB ? out_b_q : latch_b_q;
  assign do_a_o  = (WidthB == 36) ? shown_b[17:0] : shown_a[17:0];
  assign do_b_o  = (WidthB == 36) ? shown_b[35:18] : shown_b[17:0];
endmodule
