#include "scheduler/memory.h"

#include <algorithm>
#include <tuple>

namespace ringsmith::scheduler {

Placement anywhere(const Problem& problem) {
  const std::size_t count = problem.polys.size();
  return {std::vector<int>(count, kNone), std::vector<std::vector<int>>(count), nullptr};
}

Memory::Memory(const Problem& problem, Placement placement)
    : Memory(problem, std::move(placement), true) {}

Memory::Memory(const Problem& problem, Placement placement, bool limited)
    : placement_(std::move(placement)),
      limited_(limited),
      memory_(limited ? problem.machine->work_polys() : 0),
      slots_(problem.polys.size(), kNone),
      held_(problem.polys.size(), 0) {
  for (std::size_t slot = 0; slot < memory_.size(); ++slot) {
    memory_[slot].bank = problem.machine->banks[slot];
  }
}

Memory Memory::unlimited(const Problem& problem) { return {problem, anywhere(problem), false}; }

bool Memory::meets(int local, int bank) const {
  const std::vector<int>& together = placement_.together[local];
  return std::any_of(together.begin(), together.end(), [&](int other) {
    return slots_[other] != kNone && memory_[slots_[other]].bank == bank;
  });
}

void Memory::find_conflicts(int local) const {
  conflicts_.assign(memory_.size(), 0);
  if (placement_.affinity == nullptr) {
    return;
  }
  for (const auto& [other, cycles] : placement_.affinity->of(local)) {
    if (held_[other] != 0) {
      conflicts_[memory_[slots_[other]].bank] += cycles;
    }
  }
}

int Memory::find(int local, Mask mask) const {
  const int preferred = placement_.preferred[local];
  if (preferred != kNone && (memory_[preferred].taken & mask) == 0 &&
      !meets(local, memory_[preferred].bank)) {
    return preferred;
  }
  if (limited_) {
    find_conflicts(local);
  }
  const int bank = preferred == kNone ? kNone : memory_[preferred].bank;
  int best = kNone;
  std::tuple<bool, u64, bool, u64> best_rank;
  for (std::size_t index = 0; index < memory_.size(); ++index) {
    const Slot& slot = memory_[index];
    if ((slot.taken & mask) != 0 || meets(local, slot.bank)) {
      continue;
    }
    u64 since = 0;
    for_each_rpau(mask, [&](int rpau) { since = std::max(since, slot.freed[rpau]); });
    const u64 conflict = limited_ ? conflicts_[slot.bank] : 0;
    const std::tuple<bool, u64, bool, u64> rank{slot.bank != bank, conflict, !slot.used, since};
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
  held_[local] |= mask;
  for_each_rpau(fresh, [&](int rpau) { peak_ = std::max(peak_, ++count_[rpau]); });
}

void Memory::release(int local, int rpau, u64 cycle) {
  Slot& slot = memory_[slots_[local]];
  const Mask bit = Mask{1} << rpau;
  count_[rpau] -= (slot.taken & bit) != 0 ? 1 : 0;
  slot.taken &= ~bit;
  held_[local] &= ~bit;
  slot.freed[rpau] = cycle;
}

}  // namespace ringsmith::scheduler
