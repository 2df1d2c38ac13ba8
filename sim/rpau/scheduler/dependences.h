// Which step of a problem must follow which, and how long its longest path to the end is.
#pragma once

#include <vector>

#include "scheduler/problem.h"

namespace ringsmith::scheduler {

/// Steps that touch one polynomial in one RPAU keep their order, unless both only read it.
struct Dependences {
  explicit Dependences(const Problem& problem);

  std::vector<std::vector<int>> successors;  ///< by step, each once
  std::vector<int> predecessors;             ///< by step: how many steps it must wait for
  std::vector<u64> path;                     ///< by step: cycles from its issue to the end
};

}  // namespace ringsmith::scheduler
