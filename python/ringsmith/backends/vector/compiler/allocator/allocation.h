// Places for the values of tasks, and the instructions that work on them.
#pragma once

#include <vector>

#include "allocator/scratchpads.h"
#include "allocator/tasks.h"

namespace ringsmith::vector {

/// Programs of all clusters, and what they are made with.
struct Allocation {
  std::vector<Lists> programs;
  std::vector<bool> spilled;  ///< by value: whether it gave way to memory
};

/// Places limbs once, and writes the lists.
/// @param give_way  by value: whether it goes to memory as soon as it is made
/// @param halves    of a unit's lanes, as ``set_gaps`` takes them
/// @throws AllocatorError  where a scratchpad is too small
Allocation allocate(const Problem& problem, const std::vector<bool>& give_way, Choice choice,
                    const std::vector<int>& halves);

/// Values that are made, do not stay in the scratchpad, and are used again: by a walk over the
/// tasks with a scratchpad of as many limbs, without places in its banks.
std::vector<bool> giving_way(const Problem& problem);

}  // namespace ringsmith::vector
