// Key halves from a seed: what docs/reference/arithmetic.md ("Seeded keys") fixes, and latencies,
// counted as in rs_arith_pkg.
package rs_prng_pkg;

  localparam int unsigned Streams = 8;  // coefficient j reads stream j mod Streams
  localparam int unsigned MaxLanes = 16;
  localparam int unsigned SeedBits = 80;  // a Trivium key, and an IV
  localparam int unsigned LogBlock = 14;  // streams begin anew after 2^LogBlock coefficients
  localparam int unsigned IndexBits = 16;  // of a digit's, a limb's and a block's number in the IV
  localparam int unsigned NearZeros = 20;  // behind the leading one of a modulus near above 2^k

  // Trivium's registers, the oldest bit lowest: s_93 ... s_1, s_177 ... s_94, s_288 ... s_178.
  localparam int unsigned TriviumA = 93;
  localparam int unsigned TriviumB = 84;
  localparam int unsigned TriviumC = 111;
  localparam int unsigned WordBits = 64;  // of a stream, in as many rounds: one coefficient's
  localparam int unsigned WarmUpRounds = 4 * 288;

  // Words that a generator gives each cycle, and generators of a lane.
  function automatic int unsigned stream_words(int unsigned lanes);
    return (lanes > Streams) ? lanes / Streams : 1;
  endfunction
  function automatic int unsigned stream_turns(int unsigned lanes);
    return (lanes > Streams) ? 1 : Streams / lanes;
  endfunction

  // Cycles without residues when one start follows another: loading and warm-up of every stream.
  function automatic int unsigned expander_pause(int unsigned lanes);
    return (1 + WarmUpRounds / (WordBits * stream_words(lanes))) * stream_turns(lanes);
  endfunction

  // rs_key_expander: start to the first residues. Two cycles until the loading; the pause; the
  // register of the first words.
  function automatic int unsigned expander_latency(int unsigned lanes);
    return 2 + expander_pause(lanes) + 1;
  endfunction

endpackage
