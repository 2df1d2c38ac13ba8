// When each instruction issues: the issue rule and the hazard rule of
// docs/reference/rpau.md.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "model/program.h"

namespace ringsmith::sim {

/// The numbers that the issue rule needs, in clock cycles (`backends/rpau/design/latency.py`).
struct Timing {
  u64 fetch_cycles;  ///< from one issue, or the start, to the next instruction's readiness
  std::vector<u64> latencies;  ///< by opcode: how long the unit is busy
};

/// When the key polynomials of a run come that are written while it runs, in their order.
struct Arrivals {
  u64 latency = 0;          ///< from an arrival to the issue of what waits for it
  std::vector<u64> cycles;  ///< in which the last row of each stands at the host's port, ascending
  std::vector<std::pair<int, int>> places;  ///< RPAU and polynomial of its key store
};

/// Issues instructions in order. Cycles count from the start command.
///
/// The same rule as `scheduler/timeline.h`, which the scheduler asks; the tests hold them together.
class Timeline {
 public:
  /// @param arrivals of keys that come while the program runs; nullopt: they are there before
  /// @throws ModelError if the timing has no latency for some opcode
  Timeline(const Design& design, Timing timing, std::optional<Arrivals> arrivals = std::nullopt);

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
  /// The first cycle in which `count` polynomials have arrived. @throws ModelError if fewer come
  [[nodiscard]] u64 arrival(std::size_t count) const;
  /// Counts what an instruction waits for. @throws ModelError if it reads a key polynomial that no
  /// instruction before it waited for
  void check_arrived(const Instruction& instruction);
  [[nodiscard]] u64& idle(isa::Unit unit, int rpau);
  [[nodiscard]] u64 idle(isa::Unit unit, int rpau) const;
  [[nodiscard]] int places() const;
  [[nodiscard]] Flight& flight(int rpau, const Held& held);

  Design design_;
  Timing timing_;
  std::optional<Arrivals> arrivals_;
  std::size_t awaited_ = 0;
  u64 ready_;
  std::array<std::vector<u64>, isa::kUnits> idle_;  // by unit and RPAU: first idle cycle
  std::vector<Flight> flights_;  // places() an RPAU: its polynomials, then its ports
  Flight ring_;
};

}  // namespace ringsmith::sim
