// When each instruction issues: the issue rule and the hazard rule of
// docs/reference/rpau.md.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "scheduler/program.h"

namespace ringsmith::scheduler {

/// Issues instructions one after another and says in which cycle each starts.
///
/// Cycles count from the start command. An instruction that starts at t with latency l keeps its
/// unit, and the work polynomials and memory ports that it needs, from t to t + l - 1.
///
/// The model's timeline (`model/timeline.h`) states the same rule a second time and checks what it
/// is given; the tests compare the two, and both with the RTL.
class Timeline {
 public:
  /// The machine must outlive the timeline.
  /// @param arrivals the first cycle in which await may issue for one key polynomial, two, …
  explicit Timeline(const Machine& machine, std::vector<u64> arrivals = {});

  /// The cycle in which the instruction would issue next.
  [[nodiscard]] u64 start_of(const Instruction& instruction) const;

  /// Units, one bit each, that still work on a polynomial or port of the instruction when it would
  /// issue. Setting the wait bit of each takes every such conflict away.
  [[nodiscard]] unsigned conflicts(const Instruction& instruction) const;

  /// Whether the instruction would send to other RPAUs while another still does. No wait bit takes
  /// this away where the two have no RPAU in common: issue it later.
  [[nodiscard]] bool ring_conflict(const Instruction& instruction) const;

  /// How an instruction would issue next.
  struct Fit {
    u64 earliest;  ///< when it would issue without those of `waits` that it has not
    u64 start;
    unsigned waits;  ///< its own, and those that `conflicts` asks for
    bool ring;       ///< whether `ring_conflict` holds with them
  };

  /// `conflicts`, `start_of` and `ring_conflict` at once; `outline` is the instruction's.
  [[nodiscard]] Fit fit(const Instruction& instruction, const Outline& outline) const;

  /// The cycle from which a unit is idle in an RPAU.
  [[nodiscard]] u64 idle_from(isa::Unit unit, int rpau) const {
    return idle_[static_cast<std::size_t>(unit)][rpau];
  }

  /// The cycle from which nobody sends.
  [[nodiscard]] u64 ring_idle_from() const { return ring_idle_; }

  /// By unit, the RPAUs in which something that the instruction needs may still be worked on there
  /// if instructions before it issued later than said: those of `conflicts`, and all that nothing
  /// has waited for since. After waiting for all of them it is safe for any duration of `await`.
  [[nodiscard]] std::array<Mask, isa::kUnits> exposed(const Instruction& instruction) const;

  /// Likewise for what is sent to other RPAUs: the instruction that sent last, whose unit in one of
  /// its RPAUs is to be waited for; null where the instruction sends nothing or is safe.
  [[nodiscard]] const Instruction* exposed_sender(const Instruction& instruction) const;

  /// Issues the instruction and returns the cycle in which it starts.
  /// @throws SchedulerError if it breaks the hazard rule, or follows `halt`
  u64 issue(const Instruction& instruction);

  /// Cycles of the whole program, once `halt` has issued.
  [[nodiscard]] std::optional<u64> cycles() const { return cycles_; }

 private:
  /// The last instruction in each RPAU that kept a polynomial or a port.
  struct Flights {
    std::array<u64, kMaxRpaus> ends{};       ///< by RPAU: the cycle after its last
    std::array<isa::Unit, kMaxRpaus> units;  ///< by RPAU: the unit that it runs on
    std::array<u64, kMaxRpaus> orders{};     ///< by RPAU: its number among all that issued, from 1
  };

  /// Calls `visit(place, mask)` for all that the instruction keeps: polynomials and ports.
  template <typename Visit>
  void for_each_held(const Instruction& instruction, const Outline& outline, Visit visit) const;

  /// The first cycle in which units, one bit each, are idle in all RPAUs of a mask.
  [[nodiscard]] u64 idle_in(unsigned units, Mask mask) const;

  /// `conflicts` of an instruction that would issue in this cycle.
  [[nodiscard]] unsigned conflicts_at(u64 start, const Instruction& instruction,
                                      const Outline& outline) const;

  /// Whether instruction number `order`, on a unit in an RPAU, may still run for all that is waited
  /// for.
  [[nodiscard]] bool may_run(isa::Unit unit, int rpau, u64 order) const {
    return order >= waited_[static_cast<std::size_t>(unit)][rpau];
  }

  const Machine& machine_;
  std::vector<u64> arrivals_;
  u64 issued_ = 0;
  // By unit and RPAU: the number of the last instruction that issued when the unit was idle there.
  std::array<std::array<u64, kMaxRpaus>, isa::kUnits> waited_{};
  Instruction sender_{};  // the last one
  u64 sender_order_ = 0;  // its number; 0: none has sent
  u64 ready_;
  int ports_;                                                   // all but the work polynomials
  std::array<std::array<u64, kMaxRpaus>, isa::kUnits> idle_{};  // by unit and RPAU
  std::array<u64, isa::kUnits> idle_everywhere_{};              // by unit: the latest of them
  std::vector<Flights> flights_;  // the ports' first, then the work polynomials'
  std::vector<u64> free_from_;    // by flight: the first cycle in which it is free everywhere
  u64 ring_idle_ = 0;
  std::optional<u64> cycles_;
};

}  // namespace ringsmith::scheduler
