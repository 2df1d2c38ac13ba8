#include "scheduler/banks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>

namespace ringsmith::scheduler {
namespace {

constexpr int kForEver = std::numeric_limits<int>::max();

constexpr i64 kSlack = 8000;          ///< cycles that a change may cost at first
constexpr int kRounds = 80;           ///< after which no change may cost any
constexpr std::size_t kLongest = 64;  ///< polynomials that one change moves, at most
constexpr std::size_t kSeldom = 8;    ///< one in this number is moved although it has no conflict
constexpr int kShakes = 3;            ///< rounds that make another beginning
constexpr int kTries = 500;           ///< rounds that separate polynomials read at once
constexpr u64 kSeeds = 8;             ///< searches until it is said that it cannot be

/// What a change may cost that does not lay in one bank what is read at once.
constexpr auto kAny = static_cast<i64>(Affinity::kNever / 2);

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
      const Mask here = accessed_in(operand, instruction);
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
  Mask mask = 0;  ///< RPAUs where it is
  int birth = kForEver;
  std::array<int, kMaxRpaus> deaths{};  ///< by RPAU
};

std::vector<Life> lives_of(const Problem& problem, const Schedule& schedule) {
  std::vector<Life> lives(problem.polys.size());
  for (std::size_t i = 0; i < problem.polys.size(); ++i) {
    const Poly& poly = problem.polys[i];
    lives[i].mask = poly.resident != 0 ? poly.resident : poly.placement;
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
  for (Life& life : lives) {
    for_each_rpau(life.mask,
                  [&](int rpau) { life.deaths[rpau] = std::max(life.deaths[rpau], life.birth); });
  }
  return lives;
}

/// Polynomials spread over work polynomials, so that no two share one at the same time.
///
/// A change moves a polynomial to another work polynomial. Those that lie there meanwhile take its
/// own, which moves others again, until nothing overlaps: a Kempe chain.
class Spread {
 public:
  Spread(const Problem& problem, const Schedule& schedule, const Affinity& affinity, u64 seed);

  /// Makes changes regardless of cost, as another starting point.
  void shake();

  /// Separates polynomials that are read at once, regardless of cost; false if that fails.
  bool make_readable();

  [[nodiscard]] const std::vector<int>& slots() const { return slots_; }

  /// Makes changes by chance, and keeps the fewest conflicts that are found. A change may cost
  /// cycles, less and less as time goes on, so as to leave a local minimum.
  Spreading improved();

 private:
  [[nodiscard]] int bank(int poly) const { return problem_.machine->banks[slots_[poly]]; }
  [[nodiscard]] bool movable(int poly) const {
    return slots_[poly] != kNone && problem_.polys[poly].pinned == kNone;
  }
  [[nodiscard]] u64 conflicts_of(int poly) const;
  [[nodiscard]] std::vector<int> in_conflict(u64 least) const;
  [[nodiscard]] u64 total(const std::vector<int>& polys) const;
  void change_all(const std::vector<int>& polys, std::size_t others, i64 slack);
  std::vector<int>& held(int slot, int rpau) { return held_[slot * kMaxRpaus + rpau]; }
  void change(int poly, i64 slack);
  [[nodiscard]] bool find_chain(int poly, int slot);
  bool add_to_chain(int poly);
  [[nodiscard]] i64 cost_of_chain(int from, int to) const;
  void exchange(int from, int to);
  void put(int poly, int slot);
  void remove(int poly);
  [[nodiscard]] std::size_t random(std::size_t below);

  const Problem& problem_;
  const Affinity& affinity_;
  std::vector<Life> lives_;
  std::vector<int> slots_;               // of each polynomial
  std::vector<std::vector<int>> banks_;  // work polynomials of each bank
  std::vector<std::vector<int>> held_;   // by work polynomial and RPAU, in the order of births
  std::vector<int> chain_;               // polynomials that a change moves
  std::vector<u64> changes_;             // by polynomial: the last change that would move it
  u64 change_ = 0;
  u64 state_;
};

Spread::Spread(const Problem& problem, const Schedule& schedule, const Affinity& affinity, u64 seed)
    : problem_(problem),
      affinity_(affinity),
      lives_(lives_of(problem, schedule)),
      slots_(problem.polys.size(), kNone),
      banks_(problem.machine->bank_count()),
      held_(static_cast<std::size_t>(problem.machine->work_polys()) * kMaxRpaus),
      changes_(problem.polys.size(), 0),
      state_(seed) {
  for (int slot = 0; slot < problem.machine->work_polys(); ++slot) {
    banks_[problem.machine->banks[slot]].push_back(slot);
  }
  for (std::size_t poly = 0; poly < slots_.size(); ++poly) {
    if (schedule.slots[poly] != kNone) {
      put(static_cast<int>(poly), schedule.slots[poly]);
    }
  }
}

/// Knuth's linear congruential generator, whose upper bits are good enough.
std::size_t Spread::random(std::size_t below) {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return (state_ >> 33) % below;
}

/// Conflicts of a polynomial with the others of its bank.
u64 Spread::conflicts_of(int poly) const {
  u64 sum = 0;
  for (const auto& [other, cycles] : affinity_.of(poly)) {
    sum += slots_[other] != kNone && bank(other) == bank(poly) ? cycles : 0;
  }
  return sum;
}

/// Polynomials that may be moved and have at least this number of conflicts.
std::vector<int> Spread::in_conflict(u64 least) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const int poly = static_cast<int>(i);
    if (movable(poly) && conflicts_of(poly) >= least) {
      found.push_back(poly);
    }
  }
  return found;
}

void Spread::put(int poly, int slot) {
  const Life& life = lives_[poly];
  for_each_rpau(life.mask, [&](int rpau) {
    std::vector<int>& here = held(slot, rpau);
    here.insert(
        std::lower_bound(here.begin(), here.end(), life.birth,
                         [this](int each, int birth) { return lives_[each].birth < birth; }),
        poly);
  });
  slots_[poly] = slot;
}

void Spread::remove(int poly) {
  for_each_rpau(lives_[poly].mask, [&](int rpau) {
    std::vector<int>& here = held(slots_[poly], rpau);
    here.erase(std::find(here.begin(), here.end(), poly));
  });
  slots_[poly] = kNone;
}

bool Spread::add_to_chain(int poly) {
  if (changes_[poly] == change_) {
    return true;
  }
  changes_[poly] = change_;
  chain_.push_back(poly);
  return movable(poly) && chain_.size() <= kLongest;
}

/// Finds the polynomials that must move with one; false if one of them may not, or there are many.
bool Spread::find_chain(int poly, int slot) {
  const int from = slots_[poly];
  ++change_;
  chain_.clear();
  bool possible = add_to_chain(poly);
  for (std::size_t i = 0; i < chain_.size() && possible; ++i) {
    const int moved = chain_[i];
    const Life& life = lives_[moved];
    for_each_rpau(life.mask, [&](int rpau) {
      const std::vector<int>& here = held(slots_[moved] == from ? slot : from, rpau);
      auto each = std::lower_bound(here.begin(), here.end(), life.birth, [&](int other, int birth) {
        return lives_[other].deaths[rpau] < birth;
      });
      for (; possible && each != here.end() && lives_[*each].birth <= life.deaths[rpau]; ++each) {
        possible = add_to_chain(*each);
      }
    });
  }
  return possible;
}

/// Conflicts that come, less those that go, if the chain's polynomials exchange two banks.
i64 Spread::cost_of_chain(int from, int to) const {
  i64 cost = 0;
  for (const int poly : chain_) {
    const int now = bank(poly);
    const int then = now == from ? to : from;
    for (const auto& [other, cycles] : affinity_.of(poly)) {
      if (slots_[other] == kNone) {
        continue;
      }
      const bool moves = changes_[other] == change_;
      if (moves) {
        continue;  // the pair shares a bank before and after, or neither
      }
      cost += bank(other) == then ? static_cast<i64>(cycles) : 0;
      cost -= bank(other) == now ? static_cast<i64>(cycles) : 0;
    }
  }
  return cost;
}

void Spread::exchange(int from, int to) {
  std::vector<int> then;
  for (const int poly : chain_) {
    then.push_back(slots_[poly] == from ? to : from);
    remove(poly);
  }
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    put(chain_[i], then[i]);
  }
}

void Spread::change(int poly, i64 slack) {
  const std::vector<int>& there = banks_[random(banks_.size())];
  const int slot = there[random(there.size())];
  const int from = slots_[poly];
  if (bank(poly) == problem_.machine->banks[slot] || !find_chain(poly, slot)) {
    return;
  }
  if (cost_of_chain(bank(poly), problem_.machine->banks[slot]) <= slack) {
    exchange(from, slot);
  }
}

u64 Spread::total(const std::vector<int>& polys) const {
  return std::accumulate(polys.begin(), polys.end(), u64{0},
                         [this](u64 sum, int poly) { return sum + conflicts_of(poly); });
}

/// Changes each of some polynomials, and then a few others.
void Spread::change_all(const std::vector<int>& polys, std::size_t others, i64 slack) {
  for (const int poly : polys) {
    change(poly, slack);
  }
  for (std::size_t i = 0; i < others; ++i) {
    if (const int poly = static_cast<int>(random(slots_.size())); movable(poly)) {
      change(poly, slack);
    }
  }
}

void Spread::shake() {
  for (int round = 0; round < kShakes; ++round) {
    change_all({}, slots_.size(), kAny);
  }
}

bool Spread::make_readable() {
  std::vector<int> left = in_conflict(Affinity::kNever);
  for (int round = 0; round < kTries && !left.empty(); ++round) {
    change_all(left, left.size(), kAny);
    left = in_conflict(Affinity::kNever);
  }
  return left.empty();
}

Spreading Spread::improved() {
  std::vector<int> left = in_conflict(1);
  Spreading best{slots_, total(left)};
  for (int round = 0; round < kRounds && best.conflicts != 0; ++round) {
    const i64 slack = kSlack * (kRounds - 1 - round) / kRounds;
    change_all(left, slots_.size() / kSeldom, slack);
    left = in_conflict(1);
    if (const u64 now = total(left); now < best.conflicts) {
      best = {slots_, now};
    }
  }
  return best;
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

std::optional<std::vector<int>> readable(const Problem& problem, const Schedule& schedule,
                                         const Affinity& affinity) {
  for (u64 seed = 0; seed < kSeeds; ++seed) {
    Spread found(problem, schedule, affinity, seed);
    if (found.make_readable()) {
      return found.slots();
    }
  }
  return std::nullopt;
}

Spreading spread(const Problem& problem, const Schedule& schedule, const Affinity& affinity,
                 u64 seed) {
  Spread found(problem, schedule, affinity, seed);
  if (seed % 2 != 0) {  // every other one begins elsewhere than the schedule
    found.shake();
  }
  found.make_readable();
  return found.improved();
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
  for (const auto& [one, other] : problem.apart) {
    together[one].push_back(other);
    together[other].push_back(one);
  }
  return together;
}

Machine with_own_ports(const Machine& machine) {
  Machine own = machine;
  std::iota(own.banks.begin(), own.banks.end(), 0);
  return own;
}

}  // namespace ringsmith::scheduler
