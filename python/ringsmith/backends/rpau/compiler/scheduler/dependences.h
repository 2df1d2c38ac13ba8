// Which step of a problem must follow which, and how long its longest path to the end is.
#pragma once

#include <vector>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// Steps that touch one polynomial in one RPAU keep their order, unless both only read it.
struct Dependences {
  explicit Dependences(const Problem& problem);

  /// The same of work polynomials, in the order in which a schedule issues the steps: where a
  /// polynomial takes the work polynomial of another, it waits for all that touch the other.
  ///
  /// @param slots  the work polynomial of each polynomial
  Dependences(const Problem& problem, const std::vector<int>& order, const std::vector<int>& slots);

  std::vector<std::vector<int>> successors;  ///< by step, each once
  std::vector<int> predecessors;             ///< by step: how many steps it must wait for
  std::vector<u64> path;                     ///< by step: cycles from its issue to the end
  std::vector<u64> least;                    ///< likewise, each step on the faster of its units

 private:
  void find(const Problem& problem, const std::vector<int>& order,
            const std::vector<std::vector<Access>>& accesses, std::size_t places);
};

}  // namespace ringsmith::scheduler
