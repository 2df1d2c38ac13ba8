// Which work polynomials the polynomials of a problem should take, where banks share their ports.
//
// A bank has one read and one write port. Two polynomials that an instruction reads at once may not
// lie in one bank; two whose ports are needed at the same time by different units should not, for
// then one of the units waits. A schedule in which every polynomial has ports of its own says when
// each needs them. Banks are chosen so that these times overlap as little as possible; if they do
// not overlap at all, the same schedule is possible in the banks.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// What polynomials of a problem have to do with each other.
class Affinity {
 public:
  /// @param problem   must outlive the object
  /// @param schedule  of the problem, by which time is counted
  Affinity(const Problem& problem, const Schedule& schedule);

  /// Of polynomials that may not lie in one bank.
  static constexpr u64 kNever = u64{1} << 40;

  /// The polynomials that have to do with one, each with the cycles, summed over all RPAUs, in
  /// which both need the same port; or with `kNever`.
  [[nodiscard]] const std::vector<std::pair<int, u64>>& of(int poly) const {
    return conflicts_[poly];
  }

 private:
  std::vector<std::vector<std::pair<int, u64>>> conflicts_;
};

/// Polynomials spread over banks.
struct Spreading {
  std::vector<int> slots;  ///< work polynomial of each; kNone where the schedule has none
  u64 conflicts;           ///< cycles in which two polynomials of a bank need the same port
};

/// Spreads the polynomials of a schedule over the banks of the problem's machine, so that the work
/// memory still holds all of them in the order in which the schedule issues its steps.
///
/// @param schedule  of the problem, its polynomials perhaps in banks that cannot hold them
/// @param seed      chooses among the spreadings that are as good
[[nodiscard]] Spreading spread(const Problem& problem, const Schedule& schedule,
                               const Affinity& affinity, u64 seed);

/// A work polynomial for each polynomial of a schedule, so that none that are read at once share a
/// bank; nothing where none is found.
[[nodiscard]] std::optional<std::vector<int>> readable(const Problem& problem,
                                                       const Schedule& schedule,
                                                       const Affinity& affinity);

/// For each polynomial those that some instruction, of this program segment or a later one, reads
/// at once with it.
[[nodiscard]] std::vector<std::vector<int>> read_together(const Problem& problem);

/// The machine with a bank for each work polynomial.
[[nodiscard]] Machine with_own_ports(const Machine& machine);

}  // namespace ringsmith::scheduler
