#include "scheduler/memory.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ringsmith::scheduler {
namespace {

/// For each polynomial the others that are read at once with it.
std::vector<std::vector<int>> read_together(const Problem& problem) {
  std::vector<std::vector<int>> together(problem.polys.size());
  for (const Step& step : problem.steps) {
    for (const Access& one : step.accesses) {
      for (const Access& other : step.accesses) {
        if (one.reads != 0 && other.reads != 0 && one.poly != other.poly) {
          together[one.poly].push_back(other.poly);
        }
      }
    }
  }
  return together;
}

/// For how much of its life each polynomial is read or written, one instruction at a time.
std::vector<double> busy_parts(const Problem& problem) {
  struct Life {
    u64 first = 0;
    u64 last = 0;
    u64 busy = 0;
  };
  std::vector<Life> lives(problem.polys.size());
  u64 cycle = 0;
  for (const Step& step : problem.steps) {
    const u64 cycles = problem.machine->latency(*step.source->instruction.operation);
    for (const Access& access : step.accesses) {
      Life& life = lives[access.poly];
      life.first = life.busy == 0 ? cycle : life.first;
      life.last = cycle + cycles;
      life.busy += cycles;
    }
    cycle += cycles;
  }
  std::vector<double> parts;
  for (const Life& life : lives) {
    parts.push_back(static_cast<double>(life.busy) / static_cast<double>(life.last - life.first));
  }
  return parts;
}

}  // namespace

std::optional<Banks> choose_banks(const Problem& problem, double busy) {
  const std::size_t count = problem.polys.size();
  Banks banks{std::vector<int>(count, kNone), std::vector<bool>(count, false)};
  const int existing = problem.machine->uram_banks();
  if (existing == 0) {
    return banks;
  }
  const std::vector<std::vector<int>> together = read_together(problem);
  const std::vector<double> parts = busy_parts(problem);
  for (std::size_t i = 0; i < count; ++i) {
    if (problem.polys[i].pinned != kNone) {
      banks.preferred[i] = problem.machine->uram_bank(problem.polys[i].pinned);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const int bank = banks.preferred[i];
    if (bank != kNone && std::any_of(together[i].begin(), together[i].end(),
                                     [&](int other) { return banks.preferred[other] == bank; })) {
      return std::nullopt;
    }
  }
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return parts[a] < parts[b]; });
  for (const int poly : order) {
    if (problem.polys[poly].pinned != kNone) {
      continue;
    }
    std::vector<bool> taken(existing, false);
    for (const int other : together[poly]) {
      if (banks.preferred[other] != kNone) {
        taken[banks.preferred[other]] = true;
      }
    }
    const auto free = std::find(taken.begin(), taken.end(), false);
    if (free != taken.end()) {
      banks.preferred[poly] = static_cast<int>(free - taken.begin());
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    banks.idle[i] = banks.preferred[i] != kNone && parts[i] <= busy;
  }
  return banks;
}

Memory::Memory(const Problem& problem, Banks banks) : Memory(problem, std::move(banks), true) {}

Memory::Memory(const Problem& problem, Banks banks, bool limited)
    : banks_(std::move(banks)),
      limited_(limited),
      memory_(limited ? problem.machine->work_polys : 0),
      slots_(problem.polys.size(), kNone) {
  for (std::size_t slot = 0; slot < memory_.size(); ++slot) {
    memory_[slot].bank = problem.machine->uram_bank(static_cast<int>(slot));
  }
}

Memory Memory::unlimited(const Problem& problem) {
  const std::size_t count = problem.polys.size();
  return {problem, {std::vector<int>(count, kNone), std::vector<bool>(count, false)}, false};
}

int Memory::find(int local, Mask mask) const {
  const int preferred = banks_.preferred[local];
  const bool idle = banks_.idle[local];
  int best = kNone;
  std::tuple<bool, bool, u64> best_rank;
  for (std::size_t index = 0; index < memory_.size(); ++index) {
    const Slot& slot = memory_[index];
    if ((slot.taken & mask) != 0 || (slot.bank != kNone && slot.bank != preferred)) {
      continue;
    }
    u64 since = 0;
    for_each_rpau(mask, [&](int rpau) { since = std::max(since, slot.freed[rpau]); });
    const std::tuple<bool, bool, u64> rank{(slot.bank == kNone) == idle, !slot.used, since};
    if (best == kNone || rank < best_rank) {
      best = static_cast<int>(index);
      best_rank = rank;
    }
  }
  return best == kNone && !limited_ ? static_cast<int>(memory_.size()) : best;
}

void Memory::take(int local, int slot, Mask mask) {
  if (static_cast<std::size_t>(slot) >= memory_.size()) {
    memory_.resize(slot + 1);
  }
  const Mask fresh = mask & ~memory_[slot].taken;
  memory_[slot].taken |= mask;
  memory_[slot].used = true;
  slots_[local] = slot;
  for_each_rpau(fresh, [&](int rpau) { peak_ = std::max(peak_, ++count_[rpau]); });
}

void Memory::release(int local, int rpau, u64 cycle) {
  Slot& slot = memory_[slots_[local]];
  const Mask bit = Mask{1} << rpau;
  count_[rpau] -= (slot.taken & bit) != 0 ? 1 : 0;
  slot.taken &= ~bit;
  slot.freed[rpau] = cycle;
}

}  // namespace ringsmith::scheduler
