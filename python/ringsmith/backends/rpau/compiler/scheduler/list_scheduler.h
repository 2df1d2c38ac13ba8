// List scheduling and on-chip allocation: instructions get a cycle and a work polynomial.
//
// All latencies are independent of data and the issue rule is exact
// (docs/reference/rpau.md), so the scheduler knows the cycle in which the controller will
// issue each instruction, and sets a wait bit only where the order of issue alone would be too
// early. Instructions are taken in the order of their start, the longest remaining path first among
// those that could start about as early; a few variants of that choice are tried, and the shortest
// program wins.
#pragma once

#include <optional>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// The shortest schedule found of a problem that `first_fit` can solve: the first of those of as
/// few cycles, among those that fit the program store.
[[nodiscard]] Schedule shortest_schedule(const Problem& problem);

/// The schedule in sequential order, which needs the least memory; nothing if it does not fit the
/// work memory or the program store.
[[nodiscard]] std::optional<Schedule> first_fit(const Problem& problem);

/// Work polynomials that the sequential order needs, for a problem where none is pinned.
[[nodiscard]] int needed_polys(const Problem& problem);

}  // namespace ringsmith::scheduler
