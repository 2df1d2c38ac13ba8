#include "scheduler/dependences.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ringsmith::scheduler {
namespace {

/// The steps that touched a polynomial in one RPAU since it was last written, and the writer.
struct Touched {
  int writer = kNone;
  std::vector<int> readers;
};

/// Accesses of each step, a work polynomial in place of each polynomial. The step that is the first
/// to touch a polynomial writes it wherever it lies: there its work polynomial is taken.
std::vector<std::vector<Access>> placed(const Problem& problem, const std::vector<int>& order,
                                        const std::vector<int>& slots) {
  std::vector<std::vector<Access>> found(problem.steps.size());
  std::vector<bool> born(problem.polys.size());
  for (std::size_t i = 0; i < born.size(); ++i) {
    born[i] = problem.polys[i].resident != 0;
  }
  for (const int index : order) {
    for (const Access& access : problem.steps[index].accesses) {
      Access each{slots[access.poly], access.reads, access.writes};
      if (!born[access.poly]) {
        each.writes |= problem.polys[access.poly].placement;
        born[access.poly] = true;
      }
      found[index].push_back(each);
    }
  }
  return found;
}

}  // namespace

Dependences::Dependences(const Problem& problem) {
  std::vector<int> order(problem.steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<Access>> accesses;
  for (const Step& step : problem.steps) {
    accesses.push_back(step.accesses);
  }
  find(problem, order, accesses, problem.polys.size());
}

Dependences::Dependences(const Problem& problem, const std::vector<int>& order,
                         const std::vector<int>& slots) {
  find(problem, order, placed(problem, order, slots), problem.machine->work_polys());
}

void Dependences::find(const Problem& problem, const std::vector<int>& order,
                       const std::vector<std::vector<Access>>& accesses, std::size_t places) {
  successors.resize(order.size());
  predecessors.assign(order.size(), 0);
  path.assign(order.size(), 0);
  least.assign(order.size(), 0);
  std::vector<std::array<Touched, kMaxRpaus>> touched(places);
  std::vector<int> before;
  for (const int index : order) {
    before.clear();
    for (const Access& access : accesses[index]) {
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
  for (auto index = order.rbegin(); index != order.rend(); ++index) {
    u64 longest = 0;
    u64 shortest = 0;
    for (const int after : successors[*index]) {
      longest = std::max(longest, path[after]);
      shortest = std::max(shortest, least[after]);
    }
    const VirtualInstruction& step = *problem.steps[*index].source;
    const u64 own = problem.machine->latency(*step.instruction.operation);
    const u64 other = step.equivalent != nullptr ? problem.machine->latency(*step.equivalent) : own;
    path[*index] = longest + own;
    least[*index] = shortest + std::min(own, other);
  }
}

}  // namespace ringsmith::scheduler
