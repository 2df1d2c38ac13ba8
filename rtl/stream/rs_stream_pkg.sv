// The streaming multiplier: latencies and sizes of its blocks.
//
// Polynomials of N = 2^LogN words flow through it, Lanes = 2^LogLanes words a cycle: a frame is the
// Period = N / Lanes cycles of one polynomial. Index bits are counted from the highest: stage s of
// a transform has butterflies between words whose indices differ in bit LogN-1-s. Bits 0 to
// LogLanes-1 from the top are lanes at first, all others time; docs/reference/stream.md has the
// layout.
//
// Latencies are counted as in rs_arith_pkg. packages.toml names those that the model takes from
// here.
package rs_stream_pkg;
  import rs_arith_pkg::*;
  import rs_mem_pkg::*;

  // rst_ni stays low at least as long: longer than any pipeline that carries a frame's first cycle.
  localparam int unsigned ResetCycles = 64;

  // Frames that may be on their way from the transforms' input to the second product.
  localparam int unsigned ScaleDepth = 8;

  // rs_stream_mul.
  typedef enum int unsigned {
    MultiplierMontgomery = 0,
    MultiplierBarrett    = 1
  } multiplier_e;

  // A design. Modules that depend on more than a few of these numbers take the whole record;
  // backends/stream/design/rtl.py writes it from a design, which backends/stream/design/design.py
  // checks.
  typedef struct packed {
    int unsigned LogN;        // log2 of the words of a polynomial
    int unsigned LogLanes;    // log2 of the words in a cycle
    int unsigned Width;       // bits of a word
    multiplier_e Multiplier;  // of all products
    int unsigned Slots;       // sets of factors that the generator computes at a time
  } stream_cfg_t;

  localparam stream_cfg_t DefaultCfg = '{
      LogN: 12,
      LogLanes: 1,
      Width: 30,
      Multiplier: MultiplierMontgomery,
      Slots: 2
  };

  // What travels with the operands: q, and its reciprocal where the multiplier takes one.
  function automatic int unsigned modulus_width(stream_cfg_t cfg);
    return (cfg.Multiplier == MultiplierBarrett) ? 2 * cfg.Width : cfg.Width;
  endfunction

  // The answer to a descriptor.
  localparam int unsigned AnswerWidth = 8;
  typedef enum logic [AnswerWidth-1:0] {
    AnswerTaken   = 8'd0,
    AnswerModulus = 8'd1,  // q is not 1 modulo 2N
    AnswerSize    = 8'd2,  // q is 1, or has not the bits that the multiplier takes
    AnswerRange   = 8'd3,  // another word is not below q, or the reciprocal is too wide
    AnswerLength  = 8'd4   // too few words or too many
  } answer_e;

  function automatic int unsigned mul_cycles(stream_cfg_t cfg);
    if (cfg.Multiplier == MultiplierBarrett) return mod_mul_barrett_latency();
    return mod_mul_montgomery_latency(cfg.Width, scale_step_bits(cfg.LogN));
  endfunction

  function automatic int unsigned butterfly_cycles(stream_cfg_t cfg);
    return mul_cycles(cfg) + mod_addsub_latency();
  endfunction

  // log2 of the distance in cycles of what stage s exchanges between two lanes; s >= log_lanes.
  function automatic int unsigned log_distance(int unsigned log_n, int unsigned stage);
    return log_n - 1 - stage;
  endfunction

  // Distance and a register; 0 where both words of a butterfly are in lanes anyway.
  function automatic int unsigned exchange_cycles(stream_cfg_t cfg, int unsigned stage);
    return (stage < cfg.LogLanes) ? 0 : (1 << log_distance(cfg.LogN, stage)) + 1;
  endfunction

  // In front of a forward butterfly: the exchange, or the twiddle memory. Behind an inverse one:
  // the exchange, if there is one.
  function automatic int unsigned arrange_cycles(stream_cfg_t cfg, int unsigned stage, bit inverse);
    if (stage < cfg.LogLanes && !inverse) return RamLatency;
    return exchange_cycles(cfg, stage);
  endfunction

  // From a frame's first cycle at the forward transform to its first cycle at stage s; s = LogN is
  // the transform's latency.
  function automatic int unsigned forward_offset(stream_cfg_t cfg, int unsigned stage);
    int unsigned sum;
    sum = 0;
    for (int unsigned s = 0; s < stage; s++) begin
      sum += arrange_cycles(cfg, s, 1'b0) + butterfly_cycles(cfg);
    end
    return sum;
  endfunction

  // The same for the inverse transform, after that number of its stages: the first is stage LogN-1.
  function automatic int unsigned inverse_offset(stream_cfg_t cfg, int unsigned stages_before);
    int unsigned sum;
    sum = 0;
    for (int unsigned i = 0; i < stages_before; i++) begin
      sum += butterfly_cycles(cfg) + arrange_cycles(cfg, cfg.LogN - 1 - i, 1'b1);
    end
    return sum;
  endfunction

  // A register, the product of the two transforms, and its product with the scale.
  function automatic int unsigned product_cycles(stream_cfg_t cfg);
    return 1 + 2 * mul_cycles(cfg);
  endfunction

  // From a frame's first cycle at rs_stream_core to the first cycle of its product.
  function automatic int unsigned core_cycles(stream_cfg_t cfg);
    return forward_offset(cfg, cfg.LogN) + product_cycles(cfg) + inverse_offset(cfg, cfg.LogN);
  endfunction

  // rs_stream_axis: from the launch of a frame to its first cycle at rs_stream_core: memory and a
  // register.
  function automatic int unsigned input_cycles();
    return RamLatency + 1;
  endfunction

  // Words that may wait for the receiver of the products: from a read until its word of memory is
  // free again takes four cycles.
  localparam int unsigned OutputWords = 8;

  // Frames for which the output has buffers. A frame has its buffer from its launch until its last
  // word was read. With this number, no frame waits while the receiver never pauses.
  function automatic int unsigned output_frames(stream_cfg_t cfg);
    int unsigned period;
    period = 1 << (cfg.LogN - cfg.LogLanes);
    return (input_cycles() + core_cycles(cfg) + 2 * period +
        OutputWords + period - 1) / period;
  endfunction

  // From a frame's first cycle at rs_stream_core to the first read of its factors at a stage.
  function automatic int unsigned factor_cycles(stream_cfg_t cfg, int unsigned stage, bit inverse);
    if (inverse) begin
      return forward_offset(cfg, cfg.LogN) + product_cycles(cfg) +
          inverse_offset(cfg, cfg.LogN - 1 - stage);
    end
    return forward_offset(cfg, stage) + arrange_cycles(cfg, stage, 1'b0) - RamLatency;
  endfunction

  // Banks of a stage's factors. The generator begins frame f + slots when frame f starts to flow
  // or later, and at least a period lies between frames: with this number of banks it begins to
  // write one when the last reader has left it.
  function automatic int unsigned banks(stream_cfg_t cfg, int unsigned stage, bit inverse);
    int unsigned log_period;
    log_period = cfg.LogN - cfg.LogLanes;
    return cfg.Slots + 1 + ((factor_cycles(cfg, stage, inverse) +
        (1 << log_period) - 1) >> log_period);
  endfunction

  // From the grant of a group of factors to the first grant that can use it: ring, operands,
  // product, and the update.
  function automatic int unsigned generator_loop(stream_cfg_t cfg);
    return mul_cycles(cfg) + 4;
  endfunction

  // log2 of the groups that the generator's main part looks back.
  function automatic int unsigned log_ring(stream_cfg_t cfg);
    return $clog2(generator_loop(cfg));
  endfunction

  // The order of `bits` bits turned around.
  function automatic int unsigned reversed(int unsigned value, int unsigned bits);
    int unsigned result;
    result = 0;
    for (int unsigned i = 0; i < bits; i++) result |= ((value >> i) & 1) << (bits - 1 - i);
    return result;
  endfunction

  // First lane of butterfly `unit` in stage s, and how far away the second is.
  function automatic int unsigned lane_distance(int unsigned log_lanes, int unsigned stage);
    return (stage < log_lanes) ? 1 << (log_lanes - 1 - stage) : 1;
  endfunction
  function automatic int unsigned first_lane(int unsigned log_lanes, int unsigned stage,
                                             int unsigned unit);
    int unsigned distance;
    distance = lane_distance(log_lanes, stage);
    return (unit / distance) * 2 * distance + unit % distance;
  endfunction

endpackage
