// A small design of architecture vector, for the proofs of its AXI masters.
package rs_vector_proof_pkg;
  import rs_vector_pkg::*;

  function automatic vector_cfg_t small_cfg(int unsigned ports, int unsigned burst_beats,
                                            int unsigned outstanding);
    vector_cfg_t cfg;
    cfg             = DefaultCfg;
    cfg.LogLanes    = 2;
    cfg.BankRows    = 16;
    cfg.TableRows   = 16;
    cfg.StreamRows  = 16;
    cfg.Ports       = ports;
    cfg.PortBits    = 64;
    cfg.BurstBeats  = burst_beats;
    cfg.Outstanding = outstanding;
    return cfg;
  endfunction
endpackage
