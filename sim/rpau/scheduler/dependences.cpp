#include "scheduler/dependences.h"

#include <algorithm>
#include <array>

namespace ringsmith::scheduler {
namespace {

/// The steps that touched a polynomial in one RPAU since it was last written, and the writer.
struct Touched {
  int writer = kNone;
  std::vector<int> readers;
};

}  // namespace

Dependences::Dependences(const Problem& problem)
    : successors(problem.steps.size()),
      predecessors(problem.steps.size(), 0),
      path(problem.steps.size(), 0) {
  std::vector<std::array<Touched, kMaxRpaus>> touched(problem.polys.size());
  const int count = static_cast<int>(problem.steps.size());
  std::vector<int> before;
  for (int index = 0; index < count; ++index) {
    before.clear();
    for (const Access& access : problem.steps[index].accesses) {
      for_each_rpau(access.touched(), [&](int rpau) {
        Touched& here = touched[access.poly][rpau];
        if (here.writer != kNone) {
          before.push_back(here.writer);
        }
        if ((access.writes >> rpau & 1) != 0) {
          before.insert(before.end(), here.readers.begin(), here.readers.end());
          here.readers.clear();
          here.writer = index;
        } else {
          here.readers.push_back(index);
        }
      });
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const int earlier : before) {
      successors[earlier].push_back(index);
    }
    predecessors[index] = static_cast<int>(before.size());
  }
  for (int index = count - 1; index >= 0; --index) {
    u64 longest = 0;
    for (const int after : successors[index]) {
      longest = std::max(longest, path[after]);
    }
    path[index] =
        longest + problem.machine->latency(*problem.steps[index].source->instruction.operation);
  }
}

}  // namespace ringsmith::scheduler
