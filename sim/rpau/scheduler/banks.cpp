#include "scheduler/banks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace ringsmith::scheduler {
namespace {

constexpr int kForEver = std::numeric_limits<int>::max();

constexpr u64 kSlack = 4000;    ///< cycles that a change may cost at first
constexpr int kRounds = 200;    ///< after which no change may cost any
constexpr u64 kTries = 40'000;  ///< changes that are tried, about, where that is less

/// When a port is needed.
struct Use {
  u64 start;
  u64 end;
  int poly;
};

/// Uses of one kind of port in one RPAU.
using Uses = std::vector<Use>;

/// By RPAU, twice: what is read, then what is written.
std::vector<Uses> uses_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Uses> uses(2 * static_cast<std::size_t>(problem.machine->rpaus));
  for (const Issued& each : schedule.issued) {
    const Instruction& instruction = each.instruction;
    const isa::Operation& operation = *instruction.operation;
    const u64 end = each.start + problem.machine->latency(operation);
    for (int i = 0; i < operation.operand_count; ++i) {
      const isa::Operand& operand = operation.operands[i];
      if (operand.kind != isa::Kind::kPoly) {
        continue;
      }
      const Mask here = accessed_in(operand, instruction.mask, instruction.source());
      const int poly = problem.steps[each.step].values[i];
      for_each_rpau(here, [&](int rpau) {
        if (operand.takes_read_port) {
          uses[2 * rpau].push_back({each.start, end, poly});
        }
        if (operand.writes) {
          uses[2 * rpau + 1].push_back({each.start, end, poly});
        }
      });
    }
  }
  return uses;
}

/// When a polynomial's memory is taken, counted in issued instructions.
struct Life {
  int birth = kForEver;
  std::array<int, kMaxRpaus> deaths{};  // by RPAU; 0: it is not there
};

std::vector<Life> lives_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Life> lives(problem.polys.size());
  for (std::size_t i = 0; i < problem.polys.size(); ++i) {
    const Poly& poly = problem.polys[i];
    lives[i].birth = poly.resident != 0 ? 0 : kForEver;
    for_each_rpau(poly.kept, [&](int rpau) { lives[i].deaths[rpau] = kForEver; });
  }
  int position = 0;
  for (const Issued& each : schedule.issued) {
    ++position;
    if (each.step == kNone || each.instruction.operation->operand_count == 0) {
      continue;
    }
    for (const Access& access : problem.steps[each.step].accesses) {
      Life& life = lives[access.poly];
      life.birth = std::min(life.birth, position);
      for_each_rpau(access.touched(),
                    [&](int rpau) { life.deaths[rpau] = std::max(life.deaths[rpau], position); });
    }
  }
  return lives;
}

/// Polynomials spread over banks, so that each bank can hold its own.
class Spread {
 public:
  Spread(const Problem& problem, const Affinity& affinity, std::vector<Life> lives, u64 seed);

  /// Gives each polynomial, in the order of their births, the bank with the fewest conflicts.
  void begin();

  /// Moves and exchanges polynomials by chance, and keeps the fewest conflicts that are found. A
  /// change may cost cycles, less and less as time goes on, so as to leave a local minimum.
  void improve();

  /// The work polynomial of each.
  [[nodiscard]] std::vector<int> slots() const;

 private:
  [[nodiscard]] bool movable(int poly) const { return problem_.polys[poly].pinned == kNone; }
  [[nodiscard]] u64 cost(int poly, int bank) const;
  void put(int poly, int bank);
  void remove(int poly);
  void put_all(const std::vector<int>& banks);
  [[nodiscard]] bool fits(int bank) const { return slots_of(bank).has_value(); }
  [[nodiscard]] std::optional<std::vector<int>> slots_of(int bank) const;
  void change(int poly, u64 slack);
  bool move(int poly, int bank, u64 slack);
  void exchange(int one, int other, u64 slack);
  [[nodiscard]] int random(std::size_t below);

  const Problem& problem_;
  const Affinity& affinity_;
  std::vector<Life> lives_;
  std::vector<int> order_;               // polynomials in the order of their births
  std::vector<int> rank_;                // of each polynomial in that order
  std::vector<int> bank_;                // of each polynomial; kNone: no bank had a place
  std::vector<std::vector<int>> slots_;  // by bank: its work polynomials
  std::vector<std::vector<int>> held_;   // by bank: its polynomials in the order of their births
  u64 conflicts_ = 0;
  u64 state_;
};

Spread::Spread(const Problem& problem, const Affinity& affinity, std::vector<Life> lives, u64 seed)
    : problem_(problem),
      affinity_(affinity),
      lives_(std::move(lives)),
      order_(problem.polys.size()),
      rank_(problem.polys.size()),
      bank_(problem.polys.size(), kNone),
      slots_(problem.machine->bank_count()),
      held_(problem.machine->bank_count()),
      state_(seed) {
  for (int slot = 0; slot < problem.machine->work_polys(); ++slot) {
    slots_[problem.machine->banks[slot]].push_back(slot);
  }
  std::iota(order_.begin(), order_.end(), 0);
  const auto key = [this](int poly) { return std::tuple(lives_[poly].birth, movable(poly)); };
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return key(a) < key(b); });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    rank_[order_[i]] = static_cast<int>(i);
  }
}

/// Knuth's linear congruential generator, whose upper bits are good enough.
int Spread::random(std::size_t below) {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return static_cast<int>((state_ >> 33) % below);
}

/// Conflicts of a polynomial with those of a bank.
u64 Spread::cost(int poly, int bank) const {
  if (bank == kNone) {
    return Affinity::kNever;
  }
  u64 sum = 0;
  for (const auto& [other, cycles] : affinity_.of(poly)) {
    sum += bank_[other] == bank ? cycles : 0;
  }
  return sum;
}

void Spread::put(int poly, int bank) {
  if (bank == kNone) {
    return;
  }
  std::vector<int>& held = held_[bank];
  held.insert(std::lower_bound(held.begin(), held.end(), poly,
                               [this](int a, int b) { return rank_[a] < rank_[b]; }),
              poly);
  bank_[poly] = bank;
}

void Spread::remove(int poly) {
  if (bank_[poly] != kNone) {
    std::erase(held_[bank_[poly]], poly);
  }
  bank_[poly] = kNone;
}

void Spread::put_all(const std::vector<int>& banks) {
  for (std::size_t poly = 0; poly < banks.size(); ++poly) {
    remove(static_cast<int>(poly));
    put(static_cast<int>(poly), banks[poly]);
  }
}

/// A work polynomial for each polynomial of a bank, in order; nothing if there are too few.
std::optional<std::vector<int>> Spread::slots_of(int bank) const {
  const std::vector<int>& slots = slots_[bank];
  std::vector<std::array<int, kMaxRpaus>> last(slots.size());  // instruction that uses it, so far
  for (auto& each : last) {
    each.fill(-1);
  }
  std::vector<int> found;
  for (const int poly : held_[bank]) {
    const auto& [id, placement, resident, kept, pinned] = problem_.polys[poly];
    const Mask mask = resident != 0 ? resident : placement;
    std::size_t slot = 0;
    for (; slot < slots.size(); ++slot) {
      bool free = pinned == kNone || pinned == slots[slot];
      for_each_rpau(mask, [&](int rpau) { free = free && last[slot][rpau] < lives_[poly].birth; });
      if (free) {
        break;
      }
    }
    if (slot == slots.size()) {
      return std::nullopt;
    }
    for_each_rpau(mask, [&](int rpau) { last[slot][rpau] = lives_[poly].deaths[rpau]; });
    found.push_back(slots[slot]);
  }
  return found;
}

void Spread::begin() {
  for (std::size_t i = 0; i < problem_.polys.size(); ++i) {
    if (problem_.polys[i].pinned != kNone) {
      put(static_cast<int>(i), problem_.machine->banks[problem_.polys[i].pinned]);
    }
  }
  const int banks = static_cast<int>(slots_.size());
  for (const int poly : order_) {
    if (!movable(poly)) {
      continue;
    }
    std::vector<std::tuple<u64, std::size_t, int>> choices;
    for (int bank = 0; bank < banks; ++bank) {
      choices.emplace_back(cost(poly, bank), held_[bank].size() / slots_[bank].size(), bank);
    }
    std::sort(choices.begin(), choices.end());
    u64 added = Affinity::kNever;
    for (const auto& [cycles, load, bank] : choices) {
      put(poly, bank);
      if (fits(bank)) {
        added = cycles;
        break;
      }
      remove(poly);
    }
    conflicts_ += added;
  }
}

void Spread::improve() {
  std::vector<int> best = bank_;
  u64 fewest = conflicts_;
  const u64 rounds = std::clamp<u64>(kTries / std::max<std::size_t>(bank_.size(), 1), 1, kRounds);
  for (u64 round = 0; round < rounds && fewest != 0; ++round) {
    const u64 slack = kSlack * (rounds - 1 - round) / rounds;
    for (std::size_t i = 0; i < bank_.size(); ++i) {
      change(random(bank_.size()), slack);
      if (conflicts_ < fewest) {
        fewest = conflicts_;
        best = bank_;
      }
    }
  }
  put_all(best);
}

/// Gives a polynomial another bank, in exchange for one of that bank's where it has no place.
void Spread::change(int poly, u64 slack) {
  constexpr int kSeldom = 8;  // one in so many without a conflict is moved, too
  if (!movable(poly) || (cost(poly, bank_[poly]) == 0 && random(kSeldom) != 0)) {
    return;
  }
  const int bank = random(slots_.size());
  if (bank == bank_[poly] || move(poly, bank, slack) || held_[bank].empty()) {
    return;
  }
  const int other = held_[bank][random(held_[bank].size())];
  if (movable(other)) {
    exchange(poly, other, slack);
  }
}

bool Spread::move(int poly, int bank, u64 slack) {
  const int before = bank_[poly];
  const u64 now = cost(poly, before);
  const u64 then = cost(poly, bank);
  if (then > now + slack) {
    return false;
  }
  remove(poly);
  put(poly, bank);
  if (!fits(bank) || (before != kNone && !fits(before))) {  // fewer may be placed less well
    remove(poly);
    put(poly, before);
    return false;
  }
  conflicts_ = conflicts_ - now + then;
  return true;
}

void Spread::exchange(int one, int other, u64 slack) {
  const int first = bank_[one];
  const int second = bank_[other];
  if (first == kNone) {
    return;
  }
  const u64 now = cost(one, first) + cost(other, second);
  remove(one);
  remove(other);
  const u64 then = cost(one, second) + cost(other, first);
  put(one, second);
  put(other, first);
  if (then <= now + slack && fits(first) && fits(second)) {
    conflicts_ = conflicts_ - now + then;
    return;
  }
  remove(one);
  remove(other);
  put(one, first);
  put(other, second);
}

std::vector<int> Spread::slots() const {
  std::vector<int> found(bank_.size(), kNone);
  for (std::size_t bank = 0; bank < slots_.size(); ++bank) {
    const std::vector<int> slots = slots_of(static_cast<int>(bank)).value();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      found[held_[bank][i]] = slots[i];
    }
  }
  return found;
}

}  // namespace

Affinity::Affinity(const Problem& problem, const Schedule& schedule)
    : conflicts_(problem.polys.size()) {
  std::map<std::pair<int, int>, u64> found;
  for (Uses& uses : uses_of(problem, schedule)) {
    std::stable_sort(uses.begin(), uses.end(),
                     [](const Use& a, const Use& b) { return a.start < b.start; });
    std::vector<Use> open;
    for (const Use& use : uses) {
      std::erase_if(open, [&](const Use& each) { return each.end <= use.start; });
      for (const Use& each : open) {
        if (each.poly != use.poly && each.start != use.start) {
          const u64 cycles = std::min(each.end, use.end) - use.start;
          found[std::minmax(each.poly, use.poly)] += cycles;
        }
      }
      open.push_back(use);
    }
  }
  const std::vector<std::vector<int>> together = read_together(problem);
  for (std::size_t poly = 0; poly < together.size(); ++poly) {
    for (const int other : together[poly]) {
      found[std::minmax(static_cast<int>(poly), other)] = kNever;
    }
  }
  for (const auto& [pair, cycles] : found) {
    conflicts_[pair.first].emplace_back(pair.second, cycles);
    conflicts_[pair.second].emplace_back(pair.first, cycles);
  }
}

std::vector<int> preferred_slots(const Problem& problem, const Schedule& schedule,
                                 const Affinity& affinity, u64 seed) {
  Spread spread(problem, affinity, lives_of(problem, schedule), seed);
  spread.begin();
  spread.improve();
  return spread.slots();
}

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

Machine with_own_ports(const Machine& machine) {
  Machine own = machine;
  std::iota(own.banks.begin(), own.banks.end(), 0);
  return own;
}

}  // namespace ringsmith::scheduler
