// The RPAU accelerator, instruction by instruction: exact contents and exact cycles.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/converter.h"
#include "model/program.h"
#include "model/rpau.h"
#include "model/timeline.h"

namespace ringsmith::sim {

/// What one run took.
struct RunReport {
  u64 cycles;        ///< from the start command to completion
  u64 instructions;  ///< instructions issued, `halt` included
};

/// A whole device: its RPAUs, program store and controller.
///
/// Since no latency depends on data, contents and cycles need no clock: each instruction takes
/// effect at once, in program order, which the hazard rule makes equal to what the hardware does,
/// and its cycle follows from the issue rule. What the hardware would answer with nonsense (a
/// hazard, a read of what was never written, a word that is no residue) is refused.
class RpauModel {
 public:
  /// @param timing_only keep no contents: only cycles and hazards are computed
  RpauModel(const Design& design, Timing timing, bool timing_only);

  [[nodiscard]] bool timing_only() const { return timing_only_; }

  /// The memories of one RPAU. @throws ModelError in timing-only mode or if there is no such RPAU
  [[nodiscard]] Rpau& rpau(int index);
  /// What converts residues of all RPAUs.
  [[nodiscard]] Converter& converter() { return converter_; }

  /// Chooses the ring of the programs that follow, with its latencies. All contents but programs,
  /// moduli and seeds are forgotten. @throws ModelError if the device does not run the ring
  void set_ring(int log_degree, Timing timing);

  /// Loads a program. @throws ModelError as decode() does, with the instruction's index
  void load_program(std::span<const u64> words);

  /// Runs the program to its `halt`. Contents stay as they are when it is refused midway.
  /// @param arrivals of the keys that come while it runs, whose words are written already
  /// @param poll called ten times a second or so with the cycle reached; it may end the run by
  /// throwing
  /// @throws ModelError if an instruction is refused, if `halt` has not issued after `max_cycles`,
  ///         or if the program ends without it
  RunReport run(u64 max_cycles, const std::optional<Arrivals>& arrivals,
                const std::function<void(u64)>& poll);

  /// Cycle in which each instruction of the last run issued, in program order.
  [[nodiscard]] const std::vector<u64>& starts() const { return starts_; }

 private:
  void execute(const Instruction& instruction);
  /// Calls step(RPAU) and names the RPAU in what it refuses.
  template <typename Step>
  void within(int index, const Step& step);
  static void execute_in(const Instruction& instruction, Rpau& rpau);
  void broadcast(const Instruction& instruction);
  void send(const Instruction& instruction);
  void convert(const Instruction& instruction);
  /// By RPAU, the words of an operand; empty where it does not access it, or they are not wanted.
  [[nodiscard]] std::vector<std::vector<u64>> read(const Instruction& instruction,
                                                   const isa::Field& field,
                                                   const std::function<bool(int)>& is_wanted);

  Design design_;
  Timing timing_;
  bool timing_only_;
  std::vector<Rpau> rpaus_;
  Converter converter_;
  std::vector<Instruction> program_;
  std::vector<u64> starts_;
};

}  // namespace ringsmith::sim
