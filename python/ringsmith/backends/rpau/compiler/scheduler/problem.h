// The operations of one program segment, and the schedule that is found for it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/program.h"

namespace ringsmith::scheduler {

/// A polynomial of a problem.
struct Poly {
  int id;          ///< the virtual polynomial
  Mask placement;  ///< RPAUs that hold it
  Mask resident;   ///< those where it is loaded before the segment starts
  Mask kept;       ///< those where it is read after the segment has ended
  int pinned;      ///< the work polynomial where it lies already; kNone: wherever there is one
};

/// An instruction of a problem, with the problem's own numbers of the polynomials it accesses.
struct Step {
  const VirtualInstruction* source;
  Values values;                 ///< work-polynomial operands count the problem's polynomials
  std::vector<Access> accesses;  ///< likewise
};

/// What is to be scheduled: instructions in a valid sequential order.
struct Problem {
  const Machine* machine;
  std::vector<Step> steps;
  std::vector<Poly> polys;  ///< in the order in which the instructions access them
  /// Pairs of kept polynomials that a later segment reads at once: in one bank they could not stay.
  std::vector<std::pair<int, int>> apart;
};

/// An instruction in time and space.
struct Issued {
  int step;  ///< the step of the problem that it is, or that it goes before; kNone for `halt`
  u64 start;
  Instruction instruction;
};

/// A program in issue order, `halt` last.
struct Schedule {
  std::vector<Issued> issued;
  std::vector<int> slots;  ///< work polynomial of each polynomial of the problem
  u64 cycles = 0;          ///< from the start command to completion
  int peak = 0;            ///< the most work polynomials in use at once in one RPAU
};

}  // namespace ringsmith::scheduler
