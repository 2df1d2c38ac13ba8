// Key halves from a seed: what docs/arithmetic.md ("Seeded keys") fixes, and latencies, counted as
// in rs_arith_pkg.
package rs_prng_pkg;
  import rs_arith_pkg::*;

  localparam int unsigned Streams = 16;  // coefficient j reads stream j mod Streams
  localparam int unsigned SeedBits = 80;  // a Trivium key, and an IV
  localparam int unsigned LogBlock = 14;  // streams begin anew after 2^LogBlock coefficients
  localparam int unsigned IndexBits = 16;  // of a digit's, a limb's and a block's number in the IV
  localparam int unsigned ScaleBits = 68;  // a residue is u * 2^-ScaleBits

  // Trivium's registers, the oldest bit lowest: s_93 ... s_1, s_177 ... s_94, s_288 ... s_178.
  localparam int unsigned TriviumA = 93;
  localparam int unsigned TriviumB = 84;
  localparam int unsigned TriviumC = 111;
  localparam int unsigned StepRounds = 128;  // rounds a cycle: one coefficient's bits
  localparam int unsigned WarmUpSteps = 4 * 288 / StepRounds;

  // Digits to residue: the steps, and the last modular addition.
  function automatic int unsigned scale_latency(int unsigned step_bits);
    return scale_steps(ScaleBits, step_bits) * scale_step_latency() + mod_addsub_latency();
  endfunction

  // A loading and WarmUpSteps steps of every stream: without residues, where a start follows the
  // last ones of another.
  function automatic int unsigned expander_pause(int unsigned lanes);
    return (1 + WarmUpSteps) * (Streams / lanes);
  endfunction

  // rs_key_expander: start to the first residues. One cycle for the seed's registers; the pause;
  // the cycle of the first words; their scaling.
  function automatic int unsigned expander_latency(int unsigned step_bits, int unsigned lanes);
    return 1 + expander_pause(lanes) + 1 + scale_latency(step_bits);
  endfunction

endpackage
