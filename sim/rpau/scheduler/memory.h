// Which work polynomials are taken, and which of them may share a memory's ports.
//
// Work polynomials in block RAM have a memory each. Those in UltraRAM share banks of one read and
// one write port: two polynomials that an instruction reads at once may not lie in one bank, and
// what is transformed there keeps its bank's ports from the other units for the whole transform.
// Every virtual polynomial therefore may have a preferred bank, the only one that it may lie in.
// Those whose ports are idle for most of their life lie there, the others in block RAM while there
// is some free.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// Where the polynomials of a problem lie, by their index in it.
struct Banks {
  std::vector<int> preferred;  ///< the UltraRAM bank that it may lie in; kNone: block RAM only
  std::vector<bool> idle;      ///< whether it lies there rather than in block RAM
};

/// Chooses the banks of a problem's polynomials: those whose ports are busy for the smallest part
/// of their life choose first.
///
/// @param busy  those are idle whose ports are busy for at most this part of their life
/// @return nothing where two polynomials that are read at once lie in one bank already
[[nodiscard]] std::optional<Banks> choose_banks(const Problem& problem, double busy);

/// Which work polynomials are taken, in which RPAU, and since when the others are free.
class Memory {
 public:
  /// The work memory of the problem's machine, empty. The problem must outlive it.
  Memory(const Problem& problem, Banks banks);

  /// A memory of as many work polynomials as are asked for, each with ports of its own.
  [[nodiscard]] static Memory unlimited(const Problem& problem);

  /// A work polynomial that is free in all RPAUs of the mask and takes a polynomial of the problem;
  /// kNone if none is.
  ///
  /// What is idle comes into its bank first, all else to block RAM; then come those that were used
  /// before, the one first that has been free for longest.
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
    int bank = kNone;
    std::array<u64, kMaxRpaus> freed{};
  };

  Memory(const Problem& problem, Banks banks, bool limited);

  Banks banks_;
  bool limited_;
  std::vector<Slot> memory_;
  std::vector<int> slots_;
  std::array<int, kMaxRpaus> count_{};  // taken, by RPAU
  int peak_ = 0;
};

}  // namespace ringsmith::scheduler
