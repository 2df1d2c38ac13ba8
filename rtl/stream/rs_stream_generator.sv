// Powers of psi for every stage of the transforms, made while the data flow: N a frame, from the
// first Lanes of them, with one modular multiplier a lane.
//
// A frame's powers are its groups t = 0 ... Period-1, group t being psi^(Lanes*t + 1 + l) in lane
// l. Group t is group t - c times psi^(Lanes*c), the last word of group c - 1:
//
//   start   t in [c, 2c), c = 1, 2, 4 ... : waits for group c - 1, a round of the pipeline each
//   main    c = Ring, a power of two that is longer than the pipeline: a group a cycle
//
// The pauses of a frame's start are filled with the main part of the one before it: Slots frames
// are in progress, a start goes first, then the oldest. So Period cycles a frame are enough for
// Period groups, group 0 included, which is the descriptor's powers times the descriptor's unit:
// what brings them into the multiplier's form. Only the last Ring groups are kept; each
// group goes out with its number, wherever it is in the order, and twiddle memories take what they
// need.
//
// A slot is free again when its frame begins to flow (launch_i). modulus_o and scale_o belong to
// the frame that is next, ready_o says that all its groups have gone out.
`include "rs_assert.svh"

module rs_stream_generator
  import rs_stream_pkg::*;
#(
  parameter  stream_cfg_t Cfg = DefaultCfg,
  localparam int unsigned LogN = Cfg.LogN,
  localparam int unsigned LogLanes = Cfg.LogLanes,
  localparam int unsigned Width = Cfg.Width,
  localparam int unsigned Multiplier = Cfg.Multiplier,
  localparam int unsigned Slots = Cfg.Slots,
  localparam int unsigned ModulusWidth = modulus_width(Cfg),
  localparam int unsigned Lanes = 2 ** LogLanes,
  localparam int unsigned LogPeriod = LogN - LogLanes,
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    descriptor_valid_i,
  output logic                    descriptor_ready_o,
  input  logic [Width-1:0]        q_i,
  input  logic [Width-1:0]        unit_i,            // rs_stream_core
  input  logic [Width-1:0]        scale_i,
  input  logic [Width-1:0]        powers_i [Lanes],  // psi^(1 + l)

  output logic                    ready_o,
  input  logic                    launch_i,
  output logic [ModulusWidth-1:0] modulus_o,
  output logic [Width-1:0]        scale_o,

  output logic                    start_o,           // a frame's groups begin, in start_slot_o
  output logic [SlotWidth-1:0]    start_slot_o,
  output logic                    valid_o,
  output logic [SlotWidth-1:0]    slot_o,
  output logic [LogPeriod-1:0]    group_o,
  output logic [Width-1:0]        words_o [Lanes]
);
  localparam int unsigned MulCycles = mul_cycles(Cfg);
  localparam int unsigned LogRing = log_ring(Cfg);
  localparam int unsigned CountWidth = LogPeriod + 2;
  localparam logic [SlotWidth-1:0] LastSlot = SlotWidth'(Slots - 1);
  localparam logic [CountWidth-1:0] Period = CountWidth'(1) << LogPeriod;
  localparam logic [CountWidth-1:0] Ring = CountWidth'(1) << LogRing;

  if (LogRing >= LogPeriod || LogPeriod < 6 || Slots < 2) begin : gen_bad_shape
    $error("rs_stream_generator: a period of 2^%0d is below 2^6 or 2^%0d, or Slots = %0d below 2",
           LogPeriod, LogRing + 1, Slots);
  end

  typedef struct packed {
    logic                 valid;
    logic [SlotWidth-1:0] slot;
    logic [LogPeriod-1:0] group;
    logic                 ones;  // group + 1 is a power of two
    logic [LogRing-1:0]   from;  // position in the ring of the group that is multiplied
  } step_t;

  // Whether value + 1 is a power of two.
  function automatic logic is_ones(logic [LogPeriod-1:0] value);
    return (value & (value + 1'b1)) == '0;
  endfunction

  // ---- the descriptor's modulus, and what brings its powers into the multiplier's form ----------
  logic [ModulusWidth-1:0] modulus;
  logic [Width-1:0]        unit;
  if (Multiplier == MultiplierBarrett) begin : gen_reciprocal
    assign modulus = {unit_i, q_i};
    assign unit    = Width'(1);
  end else begin : gen_unit
    assign modulus = q_i;
    assign unit    = unit_i;
  end

  // ---- slots ------------------------------------------------------------------------------------
  logic [Slots-1:0]        busy_q, done_q;
  logic [CountWidth-1:0]   next_q [Slots];   // first group that was not granted
  logic [CountWidth-1:0]   limit_q [Slots];  // first group that may not be granted yet
  logic [LogRing-1:0]      from_q [Slots];
  logic [Width-1:0]        factor_q [Slots];
  logic [ModulusWidth-1:0] modulus_q [Slots];
  logic [Width-1:0]        unit_q [Slots];
  logic [Width-1:0]        scale_q [Slots];
  logic [Width-1:0]        powers_q [Slots][Lanes];
  logic [SlotWidth-1:0]    write_q, head_q;  // slot of the next descriptor, and of the next frame

  logic accept;
  assign descriptor_ready_o = !busy_q[write_q];
  assign accept             = descriptor_valid_i && descriptor_ready_o;
  assign ready_o            = done_q[head_q];
  assign modulus_o          = modulus_q[head_q];
  assign scale_o            = scale_q[head_q];

  // ---- grant: starts first, then the oldest -----------------------------------------------------
  // What a slot asks for, and its next state after a grant, do not wait for which one is granted.
  step_t             grant;
  logic [Slots-1:0]  asks, starts, granted;
  logic [LogRing-1:0] next_from [Slots];
  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    logic [LogPeriod-1:0] group;
    assign group        = next_q[s][LogPeriod-1:0];
    assign asks[s]      = busy_q[s] && next_q[s] < limit_q[s];
    assign starts[s]    = asks[s] && next_q[s][CountWidth-1:LogRing] == '0;
    assign next_from[s] = (starts[s] && is_ones(group)) ? '0 : from_q[s] + 1'b1;
  end
  always_comb begin
    granted = '0;
    for (int unsigned part = 0; part < 2; part++) begin
      for (int unsigned age = 0; age < Slots; age++) begin
        logic [SlotWidth-1:0] slot;
        slot = SlotWidth'((32'(head_q) + age) % Slots);
        if (granted == '0) granted[slot] = (part == 0) ? starts[slot] : asks[slot];
      end
    end
    grant       = '0;
    grant.valid = asks != '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (granted[s]) begin
        grant.slot  = SlotWidth'(s);
        grant.group = next_q[s][LogPeriod-1:0];
        grant.from  = from_q[s];
      end
    end
  end

  // ---- the multipliers' pipeline ----------------------------------------------------------------
  step_t read_q, operand_q, product_q, delayed, result_q;
  logic [Width-1:0]        ring_word [Lanes];
  logic [Width-1:0]        a_q [Lanes];
  logic [Width-1:0]        factor_operand_q;
  logic [ModulusWidth-1:0] modulus_operand_q;
  logic [Width-1:0]        product [Lanes];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q    <= '0;
      operand_q <= '0;
      product_q <= '0;
      result_q  <= '0;
    end else begin
      read_q    <= grant;
      operand_q <= read_q;
      product_q <= operand_q;
      product_q.ones <= is_ones(operand_q.group);
      result_q  <= delayed;
    end
    modulus_operand_q <= modulus_q[operand_q.slot];
    factor_operand_q  <= factor_q[operand_q.slot];
    if (operand_q.group == '0) factor_operand_q <= unit_q[operand_q.slot];
    for (int unsigned l = 0; l < Lanes; l++) begin
      a_q[l] <= (operand_q.group == '0) ? powers_q[operand_q.slot][l] : ring_word[l];
    end
  end
  rs_delay #(
    .Width($bits(step_t)),
    .Depth(MulCycles - 1)
  ) u_step (
    .clk_i,
    .d_i(product_q),
    .d_o(delayed)
  );

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rs_ram_1r1w #(
      .Width(Cfg.Width),
      .Depth(Slots << LogRing),
      .ReadLatency(1),
      .RamStyle("distributed")
    ) u_ring (
      .clk_i,
      .we_i(result_q.valid && rst_ni),
      .waddr_i({result_q.slot, result_q.group[LogRing-1:0]}),
      .wdata_i(product[l]),
      .re_i(read_q.valid && rst_ni),
      .raddr_i({read_q.slot, read_q.from}),
      .rdata_o(ring_word[l])
    );
    rs_stream_mul #(
      .Cfg(Cfg)
    ) u_mul (
      .clk_i,
      .a_i(a_q[l]),
      .b_i(factor_operand_q),
      .modulus_i(modulus_operand_q),
      .p_o(product[l])
    );
  end

  // ---- what a result allows ---------------------------------------------------------------------
  // Up to Ring groups: as many again, where their number is a power of two. Behind them Ring more,
  // to the frame's end.
  logic                  beyond_q;  // Ring groups or more are behind the result's
  logic [CountWidth-1:0] later_q;
  always_ff @(posedge clk_i) begin
    beyond_q <= delayed.group[LogPeriod-1:LogRing] != '0;
    later_q  <= CountWidth'(delayed.group) + Ring + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= '0;
      done_q  <= '0;
      write_q <= '0;
      head_q  <= '0;
    end else begin
      for (int unsigned s = 0; s < Slots; s++) begin
        if (granted[s]) begin
          next_q[s] <= next_q[s] + 1'b1;
          from_q[s] <= next_from[s];
        end
      end
      if (result_q.valid) begin
        if (beyond_q) begin
          limit_q[result_q.slot] <= (later_q < Period) ? later_q : Period;
        end else if (result_q.ones) begin
          limit_q[result_q.slot]  <= (CountWidth'(result_q.group) << 1) + CountWidth'(2);
          factor_q[result_q.slot] <= product[Lanes-1];
        end
        if (&result_q.group) done_q[result_q.slot] <= 1'b1;
      end
      if (launch_i) begin
        busy_q[head_q] <= 1'b0;
        done_q[head_q] <= 1'b0;
        head_q <= (head_q == LastSlot) ? '0 : head_q + 1'b1;
      end
      if (accept) begin
        busy_q[write_q]    <= 1'b1;
        next_q[write_q]    <= '0;
        limit_q[write_q]   <= CountWidth'(1);
        from_q[write_q]    <= '0;
        modulus_q[write_q] <= modulus;
        unit_q[write_q]    <= unit;
        scale_q[write_q]   <= scale_i;
        for (int unsigned l = 0; l < Lanes; l++) powers_q[write_q][l] <= powers_i[l];
        write_q <= (write_q == LastSlot) ? '0 : write_q + 1'b1;
      end
    end
  end

  // ---- out --------------------------------------------------------------------------------------
  logic                 start_q, valid_q;
  logic [SlotWidth-1:0] start_slot_q, slot_q;
  logic [LogPeriod-1:0] group_q;
  logic [Width-1:0]     words_q [Lanes];
  always_ff @(posedge clk_i) begin
    start_q      <= accept && rst_ni;
    start_slot_q <= write_q;
    valid_q      <= result_q.valid && rst_ni;
    slot_q       <= result_q.slot;
    group_q      <= result_q.group;
    for (int unsigned l = 0; l < Lanes; l++) words_q[l] <= product[l];
  end
  assign start_o      = start_q;
  assign start_slot_o = start_slot_q;
  assign valid_o      = valid_q;
  assign slot_o       = slot_q;
  assign group_o      = group_q;
  assign words_o      = words_q;

  `RS_ASSERT(LaunchReady_A, !launch_i || ready_o,
             "a frame was launched before its factors were made")
endmodule
