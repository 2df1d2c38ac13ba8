// When instructions are issued, and how long a program takes: ``compiler/timeline.py`` says by
// which rules.
#pragma once

#include <optional>
#include <vector>

#include "allocator/lists.h"

namespace ringsmith::vector {

/// Sets how long after the one before each instruction may be issued.
///
/// Operands are written then, and what results overwrite is read; or, where both go through rows in
/// the same order, each row is. No half of a bank, or of a stream, is read twice in a cycle, or
/// written twice. Between transforms of different directions the array turns.
///
/// @param halves  those of a unit's lanes that are looked at: the upper one, 0, and the lower, 1.
/// All
///                but the first instructions after a transform wait for the lower one.
void set_gaps(Lists& lists, const Machine& machine, const std::vector<int>& halves);

/// When a load or a store moves.
struct Transfer {
  i64 begin, end;
  i64 first;  ///< cycle of its first beat at the ports of memory
  i64 until;  ///< the cycle after its last one
  i64 free;   ///< when the next of its list may begin
};

struct Span {
  i64 begin, end;
};

/// Times of a cluster's lists, in their order.
struct Times {
  std::vector<Transfer> loads;
  std::vector<Span> computing;
  std::vector<Transfer> stores;
};

/// The cycles in which a port moves beats: all but the first ``pause`` of each interval.
struct Beats {
  i64 interval, pause;
  /// The cycle of beat ``count``, from 0, of those that move in turn from ``begin`` on.
  [[nodiscard]] i64 nth(i64 begin, i64 count) const;
};

/// When each cluster's instructions begin and end, behind a memory of the design's figures.
/// @throws AllocatorError  where lists wait for each other
std::vector<Times> schedule(const std::vector<Lists>& clusters, const Machine& machine);

/// Cycles from the start to the end of all that clusters do.
i64 total(const std::vector<Times>& times);

}  // namespace ringsmith::vector
