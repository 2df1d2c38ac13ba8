// When each instruction issues: the issue rule and the hazard rule of docs/architecture.md.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/program.h"

namespace ringsmith::sim {

/// The numbers that the issue rule needs, in clock cycles (`backends/rpau/cost.py`).
struct Timing {
  u64 fetch_cycles;  ///< from one issue, or the start, to the next instruction's readiness
  std::vector<u64> latencies;  ///< by opcode: how long the unit is busy
};

/// Issues instructions in order. Cycles count from the start command.
///
/// The same rule as `scheduler/timeline.h`, which the scheduler asks; the tests hold them together.
class Timeline {
 public:
  /// @throws ModelError if the timing has no latency for some opcode
  Timeline(const Design& design, Timing timing);

  /// Issues instruction number `index` and returns the cycle in which it starts.
  /// @throws ModelError if it breaks the hazard rule
  u64 issue(const Instruction& instruction, std::size_t index);

 private:
  /// The last instruction that held a polynomial, a port, or the interconnect, and the cycle after
  /// its last.
  struct Flight {
    u64 end = 0;
    std::size_t index = 0;
  };

  [[nodiscard]] u64 start_of(const Instruction& instruction) const;
  [[nodiscard]] u64& idle(isa::Unit unit, int rpau);
  [[nodiscard]] u64 idle(isa::Unit unit, int rpau) const;
  [[nodiscard]] int places() const;
  [[nodiscard]] Flight& flight(int rpau, const Held& held);

  Design design_;
  Timing timing_;
  u64 ready_;
  std::array<std::vector<u64>, isa::kUnits> idle_;  // by unit and RPAU: first idle cycle
  std::vector<Flight> flights_;  // places() an RPAU: its polynomials, then its ports
  Flight ring_;
};

}  // namespace ringsmith::sim
