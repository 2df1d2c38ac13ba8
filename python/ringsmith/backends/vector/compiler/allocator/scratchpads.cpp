#include "allocator/scratchpads.h"

#include <algorithm>
#include <tuple>

namespace ringsmith::vector {
namespace {

/// Instructions after a table's last user before whose loads another table takes its rows.
constexpr i64 kTableAhead = 4;
/// Uses of a factor from which on something else gives way for it.
constexpr i64 kOften = 3;

Banks bit(i64 bank) { return Banks{1} << bank; }

/// Tasks in order, with others between them at equal distances.
std::vector<i64> spread(const std::vector<i64>& terms, const std::vector<i64>& others) {
  std::vector<std::pair<double, i64>> both;
  const auto all = static_cast<double>(terms.size() + 1);
  const auto between = static_cast<double>(others.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    both.emplace_back(static_cast<double>(i + 1) / all, terms[i]);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    both.emplace_back((static_cast<double>(i) + 0.5) / between, others[i]);
  }
  std::ranges::stable_sort(both, {}, &std::pair<double, i64>::first);
  std::vector<i64> found;
  for (const auto& each : both) found.push_back(each.second);
  return found;
}

}  // namespace

Banks unwanted_banks(const Problem& problem, i64 value, const Task* following, const Part* parts,
                     i64 uses) {
  const Machine& machine = problem.machine;
  const Banks all = bit(machine.banks) - 1, sums = bit(machine.results) - 1;
  if (following == nullptr) return 0;
  if (following->kind == TaskKind::kTransform && uses >= kOften) {
    // Digits are transformed in pairs, one after the other: the first from where no sum is.
    return problem.primes[value] % 2 != 0 ? all & ~sums : sums;
  }
  if (following->kind != TaskKind::kPoint || following->count == 1) return 0;
  for (i64 i = 0; i < following->count; ++i) {
    if (parts[i].z_kind == Operand::kValue && parts[i].z == value) return all & ~bit(i);
  }
  return sums;
}

bool kept_out(const Machine& machine, Banks unwanted, i64 uses) {
  return unwanted == bit(machine.results) - 1 && machine.banks > 3 && uses >= kOften;
}

// ---- uses --------------------------------------------------------------------------------------

Uses::Uses(const Problem& problem, i64 clusters)
    : values_(problem.values()),
      begins_(static_cast<std::size_t>(clusters * values_) + 1),
      users_(static_cast<std::size_t>(values_)) {
  std::vector<i64> last(begins_.size(), -1);  // the task that was counted
  const auto each_use = [&](const auto& call) {
    std::ranges::fill(last, -1);
    for (std::size_t number = 0; number < problem.tasks.size(); ++number) {
      const Task& task = problem.tasks[number];
      each_read(task, problem.parts_of(task), [&](i64 value) {
        const std::size_t at = index(task.cluster, value);
        if (last[at] == static_cast<i64>(number)) return;
        last[at] = static_cast<i64>(number);
        call(at, static_cast<i64>(number));
        users_[static_cast<std::size_t>(value)] |= bit(task.cluster);
      });
    }
  };
  std::vector<std::size_t> counts(begins_.size());
  each_use([&](std::size_t at, i64) { ++counts[at]; });
  std::size_t begin = 0;
  for (std::size_t at = 0; at < begins_.size(); ++at) {
    begins_[at] = begin;
    begin += counts[at];
  }
  ends_ = begins_;
  numbers_.resize(begin);
  each_use([&](std::size_t at, i64 number) { numbers_[ends_[at]++] = number; });
}

// ---- a cluster ---------------------------------------------------------------------------------

void ClusterState::put(i64 value, i64 code) {
  slot[value] = code;
  stamp[value] = stamps++;
  where[value] = static_cast<i64>(placed.size());
  placed.push_back(value);
}

void ClusterState::take(i64 value) {
  slot[value] = kNoSlot;
  const i64 last = placed.back(), at = where[value];
  placed[at] = last;
  where[last] = at;
  placed.pop_back();
}

// ---- all of them -------------------------------------------------------------------------------

Scratchpads::Scratchpads(const Problem& problem, const std::vector<bool>& give_way, Choice choice)
    : uses(problem, problem.machine.clusters),
      tasks(problem.tasks),
      parts(problem.parts),
      spilled(static_cast<std::size_t>(problem.values())),
      problem_(problem),
      give_way_(give_way),
      few_(choice.few),
      patience_(choice.limbs * problem.machine.read_cycles(problem.machine.rows)),
      memory_(static_cast<std::size_t>(problem.values())) {
  const Machine& machine = problem.machine;
  for (i64 bank = 0; bank < machine.banks; bank += 2) order_.push_back(bank);
  for (i64 bank = 1; bank < machine.banks; bank += 2) order_.push_back(bank);
  ClusterState empty;
  std::vector<i64> indices;
  for (i64 index = machine.slots; index-- > 0;) indices.push_back(index);
  empty.free.assign(static_cast<std::size_t>(machine.banks), indices);
  const auto values = static_cast<std::size_t>(problem.values());
  empty.slot.assign(values, kNoSlot);
  empty.stamp.assign(values, 0);
  empty.where.assign(values, 0);
  empty.table_users.assign(static_cast<std::size_t>(machine.tables), 0);
  clusters.assign(static_cast<std::size_t>(machine.clusters), empty);
  for (i64 value = 0; value < problem.values(); ++value) {
    if (problem.memory[value] >= 0 && uses.users(value) != 0) {
      memory_[value] = {Where::kLimb, problem.memory[value], -1, 0};
    }
  }
}

// ---- runs --------------------------------------------------------------------------------------

const std::vector<i64>* Scratchpads::run_at(i64 task) const {
  if (task >= count() || problem_.run_of[task] < 0) return nullptr;
  return &problem_.runs[problem_.run_of[task]];
}

void Scratchpads::order_run() {
  const std::vector<i64>* run = run_at(number);
  if (run == nullptr || run->front() != number) return;
  const Task first = tasks[number];
  const ClusterState& own = clusters[first.cluster];
  std::vector<std::vector<i64>> by_bank(static_cast<std::size_t>(machine().banks));
  std::vector<i64> from_memory;
  for (const i64 term : *run) {
    const i64 slot = own.slot[tasks[term].extra];
    (slot < 0 ? from_memory : by_bank[bank_of(slot)]).push_back(term);
  }
  Banks sums = 0;
  for (i64 i = 0; i < first.count; ++i) {
    const Part& part = parts_of(first)[i];
    if (part.z_kind == Operand::kValue && own.holds(part.z)) sums |= bit(bank_of(own.slot[part.z]));
  }
  std::vector<std::tuple<bool, i64, i64>> banks;
  for (i64 bank = 0; bank < machine().banks; ++bank) {
    const auto size = static_cast<i64>(by_bank[bank].size());
    if (size != 0) banks.emplace_back((sums & bit(bank)) != 0, -size, bank);
  }
  std::ranges::sort(banks);
  std::vector<i64> ordered;
  for (const auto& each : banks) {
    ordered.insert(ordered.end(), by_bank[std::get<2>(each)].begin(),
                   by_bank[std::get<2>(each)].end());
  }
  ordered = spread(ordered, from_memory);
  // Each place of the run gets the factors of a term of it.
  std::vector<i64> factors;
  std::vector<Part> given;
  for (const i64 term : ordered) {
    factors.push_back(tasks[term].extra);
    given.insert(given.end(), parts_of(tasks[term]), parts_of(tasks[term]) + first.count);
  }
  for (std::size_t i = 0; i < run->size(); ++i) {
    const i64 to = (*run)[i];
    tasks[to].extra = factors[i];
    for (i64 k = 0; k < first.count; ++k) {
      Part& part = parts[tasks[to].first + k];
      part.y_kind = given[i * first.count + k].y_kind;
      part.y = given[i * first.count + k].y;
    }
    if (ordered[i] == to) continue;
    const std::span<i64> own_uses = uses.of(first.cluster, factors[i]);
    *std::ranges::find(own_uses, ordered[i]) = to;
    std::ranges::sort(own_uses);
  }
}

Banks Scratchpads::bank_of_next_term(i64 cluster) const {
  const std::vector<i64>* run = run_at(number);
  if (run == nullptr || run->back() == number) return 0;
  const i64 following = *std::ranges::upper_bound(*run, number);
  const i64 slot = clusters[cluster].slot[tasks[following].extra];
  return slot < 0 ? 0 : bit(bank_of(slot));
}

Banks Scratchpads::run_bank(i64 cluster, const std::vector<i64>& run) const {
  const ClusterState& own = clusters[cluster];
  std::vector<i64> counts(static_cast<std::size_t>(machine().banks));
  for (const i64 term : run) {
    const i64 slot = own.slot[tasks[term].extra];
    if (slot >= 0) ++counts[bank_of(slot)];
  }
  i64 best = -1;
  for (const i64 bank : order_) {
    if (static_cast<i64>(own.free[bank].size()) <= kKeptFree / 2) continue;
    if (best < 0 || std::pair(counts[bank], own.free[bank].size()) >
                        std::pair(counts[best], own.free[best].size())) {
      best = bank;
    }
  }
  return best < 0 ? 0 : bit(best);
}

// ---- lists -------------------------------------------------------------------------------------

void Scratchpads::emit(const Task& task, Operation operation, std::span<const Entry> entries) {
  ClusterState& own = clusters[task.cluster];
  operation.first = static_cast<i64>(own.lists.entries.size());
  operation.count = static_cast<i64>(entries.size());
  operation.tables = own.table_loads;
  operation.origin = task.origin;
  own.lists.entries.insert(own.lists.entries.end(), entries.begin(), entries.end());
  const i64 ahead = -machine().read_cycles(machine().stream_rows);
  own.behind = std::max(ahead, own.behind - machine().occupied(operation));
  own.lists.computing.push_back(operation);
}

void Scratchpads::forget(const Task& task, std::span<const i64> values) {
  for (const i64 value : values) {
    if (!uses.drop(task.cluster, value, number)) release(task.cluster, value);
  }
}

void Scratchpads::release(i64 cluster, i64 value) {
  ClusterState& own = clusters[cluster];
  const i64 slot = own.slot[value];
  if (slot < 0) return;
  own.take(value);
  own.free[bank_of(slot)].push_back(index_of(slot));
}

Source Scratchpads::load_value(const Task& task, i64 stream, i64 value) {
  if (!in_memory(value)) throw AllocatorError("a value is loaded that is not in memory");
  return load(task, stream, memory_[value]);
}

Source Scratchpads::load(const Task& task, i64 stream, const Stored& stored) {
  ClusterState& own = clusters[task.cluster];
  Load load{stored.where, stored.limb, machine().rows, stream};
  load.after_cluster = stored.after_cluster;
  load.after_count = stored.after_count;
  own.loads.emplace_back(static_cast<i64>(own.lists.computing.size()), load);
  own.behind += machine().read_cycles(machine().rows);
  return {Read::kStream, stream};
}

void Scratchpads::copy(const Task& task, i64 value, Source source, i64 target) {
  const i64 prime = problem_.primes[value];
  Entry entry;
  entry.prime = prime;
  entry.y = {Read::kConstant, problem_.ones[prime]};
  entry.target = target;
  entry.store = target == kNoSlot;
  Operation operation;
  operation.x = source;
  emit(task, operation, {&entry, 1});
}

void Scratchpads::store(const Task& task, i64 value, Where where, i64 limb) {
  ClusterState& own = clusters[task.cluster];
  const Source source = own.holds(value) ? Source{Read::kSlot, own.slot[value]}
                                         : load_value(task, machine().x_stream, value);
  copy(task, value, source, kNoSlot);
  own.lists.stores.push_back({where, limb, machine().rows, 0});
}

void Scratchpads::spill(const Task& task, i64 value) {
  store(task, value, Where::kSpilled, value);
  note_stored(task, value);
}

void Scratchpads::note_stored(const Task& task, i64 value) {
  const auto stores = static_cast<i64>(clusters[task.cluster].lists.stores.size());
  memory_[value] = {Where::kSpilled, value, task.cluster, stores};
  spilled[value] = true;
}

i64 Scratchpads::stream(const Task& task) {
  ClusterState& own = clusters[task.cluster];
  own.turn = (own.turn + 1) % machine().factor_streams;
  return own.turn;
}

i64 Scratchpads::next_use(i64 cluster, i64 value, i64 after) const {
  for (const i64 use : uses.of(cluster, value)) {
    if (use > after) return use;
  }
  return count();
}

// ---- places ------------------------------------------------------------------------------------

i64 Scratchpads::free_slot(const Task& task, Banks avoid, Banks rather_not, Banks together) {
  ClusterState& own = clusters[task.cluster];
  for (int attempt = 0; attempt < 2; ++attempt) {
    i64 best = -1;
    std::tuple<bool, bool, std::size_t> most;
    for (const i64 bank : order_) {
      if ((avoid & bit(bank)) != 0 || own.free[bank].empty()) continue;
      const std::tuple key((rather_not & bit(bank)) == 0, (together & bit(bank)) == 0,
                           own.free[bank].size());
      if (best < 0 || key > most) {
        best = bank;
        most = key;
      }
    }
    if (best >= 0) {
      const i64 index = own.free[best].back();
      own.free[best].pop_back();
      return slot_code(best, index);
    }
    if (attempt == 0) make_space(task, all() & ~avoid);
  }
  throw AllocatorError("there is no place in the scratchpad for a limb");
}

void Scratchpads::make_space(const Task& task, Banks banks) {
  const ClusterState& own = clusters[task.cluster];
  i64 victim = kNoValue, latest = -1;
  for (const i64 value : own.placed) {
    if ((banks & bit(bank_of(own.slot[value]))) == 0) continue;
    if (std::ranges::find(pinned, value) != pinned.end()) continue;
    const i64 use = next_use(task.cluster, value, number - 1);
    if (use > latest || (use == latest && own.stamp[value] < own.stamp[victim])) {
      victim = value;
      latest = use;
    }
  }
  if (victim == kNoValue) throw AllocatorError("all limbs of some banks are used at once");
  if (!in_memory(victim) && latest < count()) spill(task, victim);
  release(task.cluster, victim);
}

i64 Scratchpads::place(const Task& task, i64 value, Banks avoid, i64 instead) {
  ClusterState& own = clusters[task.cluster];
  avoid |= bank_of_next_term(task.cluster);
  if (instead != kNoValue && own.holds(instead)) {
    const i64 slot = own.slot[instead];
    const bool last = next_use(task.cluster, instead, number) == count();
    if (last && (avoid & bit(bank_of(slot))) == 0) {
      own.take(instead);
      own.put(value, slot);
      pinned.push_back(value);
      return slot;
    }
  }
  avoid |= factor_banks(task, value, avoid);
  const Banks together = used_together(task, value);
  const i64 slot = free_slot(task, avoid, unwanted(task, value), together);
  own.put(value, slot);
  pinned.push_back(value);
  return slot;
}

Banks Scratchpads::unwanted(const Task& task, i64 value) const {
  const i64 next = next_use(task.cluster, value, number);
  if (const std::vector<i64>* run = run_at(next)) {
    const Banks own = run_bank(task.cluster, *run);
    return tasks[next].extra == value ? all() & ~own : own;
  }
  const Task* following = next == count() ? nullptr : &tasks[next];
  const Part* of = following == nullptr ? nullptr : parts_of(*following);
  const auto left = static_cast<i64>(uses.of(task.cluster, value).size());
  return unwanted_banks(problem_, value, following, of, left);
}

Banks Scratchpads::factor_banks(const Task& task, i64 value, Banks avoid) const {
  const Banks own = unwanted(task, value);
  const auto left = static_cast<i64>(uses.of(task.cluster, value).size());
  return kept_out(machine(), own, left) && (all() & ~avoid & ~own) != 0 ? own : 0;
}

Banks Scratchpads::used_together(const Task& task, i64 value) const {
  const i64 next = next_use(task.cluster, value, number);
  if (next == count() || tasks[next].kind != TaskKind::kPoint) return 0;
  const ClusterState& own = clusters[task.cluster];
  Banks found = 0;
  each_read(tasks[next], parts_of(tasks[next]), [&](i64 other) {
    if (other != value && own.holds(other)) found |= bit(bank_of(own.slot[other]));
  });
  return found;
}

i64 Scratchpads::resident(const Task& task, i64 value, Banks avoid,
                          std::optional<Banks> rather_not) {
  ClusterState& own = clusters[task.cluster];
  const i64 there = own.slot[value];
  if (there >= 0 && (avoid & bit(bank_of(there))) == 0) return there;
  avoid |= factor_banks(task, value, avoid);
  const i64 slot = free_slot(task, avoid, rather_not ? *rather_not : unwanted(task, value));
  const Source source =
      there >= 0 ? Source{Read::kSlot, there} : load_value(task, machine().x_stream, value);
  copy(task, value, source, slot);
  release(task.cluster, value);
  own.put(value, slot);
  return slot;
}

bool Scratchpads::by_stream(const Task& task, i64 value) const {
  const ClusterState& own = clusters[task.cluster];
  if (own.holds(value) || !in_memory(value)) return false;
  const i64 following = next_use(task.cluster, value, number);
  const auto left = static_cast<i64>(uses.of(task.cluster, value).size());
  if (following == count()) return true;
  if (left <= few_ && own.behind <= patience_) return true;
  i64 free = 0;
  for (const auto& bank : own.free) free += static_cast<i64>(bank.size());
  if (following <= number + kSoon || free > kKeptFree) return false;
  return left < kOften || !held_for_later(task.cluster, following);
}

bool Scratchpads::held_for_later(i64 cluster, i64 following) const {
  return std::ranges::any_of(clusters[cluster].placed, [&](i64 value) {
    return in_memory(value) && next_use(cluster, value, number - 1) > following;
  });
}

bool Scratchpads::goes_to_memory(const Task& task, i64 value) const {
  return give_way_[value] || uses.elsewhere(task.cluster, value);
}

// ---- the twiddle memory ------------------------------------------------------------------------

std::vector<i64> Scratchpads::tables(const Task& task, std::span<const i64> primes, i64 inverse) {
  std::vector<i64> rows;
  for (std::size_t i = 0; i < primes.size(); ++i) {
    const auto before = std::ranges::find(primes.first(i), primes[i]);
    if (before == primes.begin() + static_cast<std::ptrdiff_t>(i)) {
      rows.push_back(table_row(task, {primes[i], inverse}, primes));
    } else {
      rows.push_back(rows[static_cast<std::size_t>(before - primes.begin())]);
    }
  }
  return rows;
}

i64 Scratchpads::table_row(const Task& task, std::pair<i64, i64> key, std::span<const i64> primes) {
  ClusterState& own = clusters[task.cluster];
  const auto there =
      std::ranges::find(own.tables, key, [](const auto& each) { return each.first; });
  if (there != own.tables.end()) {
    std::rotate(there, there + 1, own.tables.end());  // used last
    return own.tables.back().second;
  }
  i64 row = static_cast<i64>(own.tables.size()) * machine().rows_of_table;
  if (static_cast<i64>(own.tables.size()) == machine().tables) {
    const auto wanted = [&](const auto& each) {
      return each.first.second == key.second &&
             std::ranges::find(primes, each.first.first) != primes.end();
    };
    const auto oldest = std::ranges::find_if_not(own.tables, wanted);
    if (oldest == own.tables.end()) throw AllocatorError("the twiddle memory is too small");
    row = oldest->second;
    own.tables.erase(oldest);
  }
  own.tables.emplace_back(key, row);
  ++own.table_loads;
  const i64 users = own.table_users[row / machine().rows_of_table];
  Load load{Where::kTable, 2 * key.first + key.second, machine().rows_of_table};
  load.row = row;
  load.after_computing = users;
  const auto length = static_cast<i64>(own.lists.computing.size());
  own.loads.emplace_back(std::min(users + kTableAhead, length), load);
  return row;
}

Banks Scratchpads::read_late(i64 cluster) const {
  const Lists& lists = clusters[cluster].lists;
  if (lists.computing.empty() || lists.computing.back().kind != Kind::kPoint) return 0;
  const Operation& last = lists.computing.back();
  Banks found = 0;
  for (i64 i = 0; i < last.count; ++i) {
    const Entry& entry = lists.entries[last.first + i];
    for (const Source& part : {entry.y, entry.z}) {
      if (part.kind == Read::kSlot) found |= bit(bank_of(part.value));
    }
  }
  return found;
}

}  // namespace ringsmith::vector
