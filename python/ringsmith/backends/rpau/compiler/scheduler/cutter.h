// Splits a program that does not fit into program segments; between them the host holds the data.
//
// A program that fits is one segment. Otherwise each segment takes as many of the remaining
// instructions, in sequential order, as the work memory, the stores of keys and seeds and the
// program store allow. A polynomial that the next segment needs stays where it lies; any other that
// is needed later is spilled to the host, and filled in again before the segment that needs it.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// Polynomials of a program with RPAUs, in an order that callers may rely on.
using Masks = std::vector<std::pair<int, Mask>>;

/// Numbers of one store (of keys, of seeds), each with its entry.
using Entries = std::vector<std::pair<int, int>>;

/// A program on virtual polynomials, as instruction selection yields it.
struct Program {
  Machine machine;
  std::vector<VirtualInstruction> instructions;  ///< in a valid sequential order
  std::vector<Mask> placement;  ///< for each virtual polynomial, the RPAUs that hold it
  std::vector<Mask> inputs;     ///< for each, those where the host hands it in
  std::vector<Mask> outputs;    ///< for each, those where the host reads it at the end

  /// @throws SchedulerError if the machine is illegal, tables differ in length, or an instruction
  ///         names a polynomial that does not exist
  void check() const;
};

/// One segment of the device.
struct Run {
  int begin;                               ///< its first instruction
  Schedule schedule;                       ///< steps count instructions from `begin`
  std::vector<std::pair<int, int>> slots;  ///< virtual polynomial, work polynomial
  Entries keys;   ///< key polynomial of the program, its index in the key store
  Entries seeds;  ///< seed of the program, its index in the seed store
  Masks loads;    ///< what the host writes before the segment
  Masks stores;   ///< what the host reads after it; final once the next segment is known
};

/// What the shortest segment would need, where not even that fits.
struct Shortage {
  int key_polys;
  int seeds;
  int work_polys;
};

/// Walks through a program and schedules one segment after another.
class Cutter {
 public:
  /// @throws SchedulerError as `Program::check`
  explicit Cutter(Program program);

  /// Whether every instruction has found its segment.
  [[nodiscard]] bool done() const { return begun_ && position_ == count(); }

  /// Whether all that is left is one segment.
  [[nodiscard]] bool whole() const { return fitting(count(), kBest).has_value(); }

  /// Schedules the next segment, as long as it can be. Returns how many instructions it has;
  /// nothing if none fits.
  std::optional<int> next();

  /// What the shortest next segment needs.
  [[nodiscard]] Shortage shortage() const;

  /// The segments so far.
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  struct Touch {
    int instruction;
    Mask later;  ///< RPAUs that touch the polynomial from here on
  };

  /// What is asked of a segment, except that it fits.
  struct Terms {
    bool stay;   ///< what lies on the device already stays where it is
    bool apart;  ///< what later segments read at once does not share a bank
  };
  static constexpr Terms kBest{true, true};
  static constexpr Terms kMoved{false, true};
  static constexpr Terms kClose{false, false};

  [[nodiscard]] int count() const { return static_cast<int>(program_.instructions.size()); }
  void find_ends();
  void find_together();
  [[nodiscard]] std::vector<int> ends_left() const;
  [[nodiscard]] Mask touched_later(int poly, int end) const;
  [[nodiscard]] std::optional<std::pair<int, Problem>> longest(Terms terms) const;
  [[nodiscard]] std::optional<Problem> fitting(int end, Terms terms) const;
  [[nodiscard]] Problem problem(int end, Terms terms) const;
  [[nodiscard]] std::vector<std::pair<int, int>> apart_after(int end, const Problem& run,
                                                             const std::vector<int>& local) const;
  [[nodiscard]] Entries stored(isa::Kind kind, int end) const;
  [[nodiscard]] std::vector<int> wanted(isa::Kind kind, int end, int most) const;
  void spill(const Problem& problem);
  void advance(int end, const Problem& problem);

  Program program_;
  std::vector<std::vector<Touch>> touches_;  // by polynomial
  /// By polynomial: those of higher numbers that are read at once with it, and by which instruction
  /// last.
  std::vector<std::map<int, int>> together_;
  std::vector<int> ends_;  // where a segment may end, ascending
  int position_ = 0;
  bool begun_ = false;
  std::vector<Mask> before_;     // by polynomial: where it is handed in, or touched so far
  std::vector<Mask> on_host_;    // by polynomial: where the host has the contents of now
  std::vector<Mask> on_device_;  // by polynomial: where the last segment has left it
  std::vector<int> slots_;       // by polynomial: its work polynomial in the last segment
  Masks left_;                   // what the last segment has left, in its own order
  std::vector<Run> runs_;
};

}  // namespace ringsmith::scheduler
