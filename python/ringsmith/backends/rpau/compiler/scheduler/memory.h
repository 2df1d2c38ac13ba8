// Which work polynomials are taken, and which one comes next.
//
// Two polynomials that an instruction reads at once may not lie in one bank, which has one read
// port. Otherwise every polynomial may lie anywhere; `banks.h` says where it should.
#pragma once

#include <vector>

#include "scheduler/banks.h"
#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// Where the polynomials of a problem should lie, and which of them may not share a bank.
struct Placement {
  std::vector<int> preferred;              ///< work polynomial of each; kNone: any
  std::vector<std::vector<int>> together;  ///< for each those that are read at once with it
  const Affinity* affinity;                ///< what a shared bank costs; null: nothing
};

/// No preferences, for polynomials that have ports of their own.
[[nodiscard]] Placement anywhere(const Problem& problem);

/// Which work polynomials are taken, in which RPAU, and since when the others are free.
class Memory {
 public:
  /// The work memory of the problem's machine, empty. The problem must outlive it.
  Memory(const Problem& problem, Placement placement);

  /// A memory of as many work polynomials as are asked for, each with ports of its own.
  [[nodiscard]] static Memory unlimited(const Problem& problem);

  /// A work polynomial that is free in all RPAUs of the mask and takes a polynomial of the problem;
  /// kNone if none is.
  ///
  /// The preferred one comes first, then its bank, then the bank whose polynomials of now need its
  /// ports the least; then come those that were used before, the one first that has been free for
  /// longest.
  [[nodiscard]] int find(int local, Mask mask) const;

  /// Gives a work polynomial to a polynomial of the problem in the RPAUs of the mask.
  void take(int local, int slot, Mask mask);

  /// Frees a polynomial's work polynomial in one RPAU, from a cycle on.
  void release(int local, int rpau, u64 cycle);

  /// The work polynomial of each polynomial of the problem; kNone where it has had none yet.
  [[nodiscard]] const std::vector<int>& slots() const { return slots_; }

  /// The most work polynomials taken at once in one RPAU.
  [[nodiscard]] int peak() const { return peak_; }

 private:
  struct Slot {
    Mask taken = 0;
    bool used = false;
    int bank = kNone;  // of a limited memory
    std::array<u64, kMaxRpaus> freed{};
  };

  Memory(const Problem& problem, Placement placement, bool limited);

  /// Whether a polynomial that is read at once with another lies in a bank already.
  [[nodiscard]] bool meets(int local, int bank) const;

  /// Finds by bank the cycles in which a polynomial and those that lie there now need the same
  /// port; 0 without affinities.
  void find_conflicts(int local) const;

  Placement placement_;
  bool limited_;
  std::vector<Slot> memory_;
  std::vector<int> slots_;
  mutable std::vector<u64> conflicts_;  // what `find_conflicts` found last
  std::vector<Mask> held_;              // by polynomial: RPAUs that hold it now
  std::array<int, kMaxRpaus> count_{};  // taken, by RPAU
  int peak_ = 0;
};

}  // namespace ringsmith::scheduler
