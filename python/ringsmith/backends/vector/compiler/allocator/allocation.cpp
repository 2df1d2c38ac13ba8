#include "allocator/allocation.h"

#include <algorithm>
#include <map>

#include "allocator/timeline.h"

namespace ringsmith::vector {
namespace {

/// Tasks within which a use makes it worth while to keep a result that goes to memory, too.
constexpr i64 kLater = 200;

Banks bank_bit(i64 slot) { return Banks{1} << bank_of(slot); }

class Allocator {
 public:
  Allocator(const Problem& problem, const std::vector<bool>& give_way, Choice choice)
      : pads_(problem, give_way, choice),
        machine_(problem.machine),
        primes_(problem.primes),
        direct_(static_cast<std::size_t>(problem.values()), -1) {
    hand_out_at_once(problem);
  }

  Allocation run(const std::vector<int>& halves) {
    const auto count = static_cast<i64>(pads_.tasks.size());
    for (pads_.number = 0; pads_.number < count; ++pads_.number) {
      pads_.order_run();
      const Task task = pads_.tasks[pads_.number];
      const std::vector<Part> parts(pads_.parts_of(task), pads_.parts_of(task) + task.count);
      std::vector<i64> reads;
      each_read(task, parts.data(), [&](i64 value) { reads.push_back(value); });
      pads_.pinned = reads;
      work(task, parts);
      pads_.forget(task, reads);
      share(task, parts);
    }
    Allocation found;
    found.spilled = pads_.spilled;
    for (ClusterState& own : pads_.clusters) {
      std::ranges::stable_sort(own.loads, {}, &std::pair<i64, Load>::first);
      for (const auto& each : own.loads) own.lists.loads.push_back(each.second);
      set_gaps(own.lists, machine_, halves);
      found.programs.push_back(std::move(own.lists));
    }
    return found;
  }

 private:
  /// Finds the results of point tasks that nothing but an output wants.
  void hand_out_at_once(const Problem& problem) {
    std::vector<const Task*> made(direct_.size(), nullptr);
    for (const Task& task : problem.tasks) {
      each_write(task, problem.parts_of(task), [&](i64 value) { made[value] = &task; });
    }
    for (const Task& task : problem.tasks) {
      if (task.kind != TaskKind::kOutput) continue;
      const i64 source = problem.parts_of(task)->y;
      const Task* maker = made[source];
      const bool alone = pads_.uses.users(source) == std::uint64_t{1} << task.cluster &&
                         pads_.uses.of(task.cluster, source).size() == 1;
      if (maker == nullptr || maker->kind != TaskKind::kPoint || !alone) continue;
      if (maker->cluster != task.cluster) continue;
      direct_[source] = task.extra;
      pads_.uses.clear(task.cluster, source);
    }
  }

  void work(const Task& task, const std::vector<Part>& parts) {
    switch (task.kind) {
      case TaskKind::kPoint:
        point(task, parts);
        break;
      case TaskKind::kTransform:
        transform(task, parts);
        break;
      case TaskKind::kAutomorph: {
        const i64 source = pads_.resident(task, parts[0].y, 0);
        Entry entry;
        entry.prime = parts[0].prime;
        entry.y = {Read::kSlot, source};
        entry.target = pads_.place(task, parts[0].target, bank_bit(source), kNoValue);
        Operation operation;
        operation.kind = Kind::kAutomorph;
        operation.extra = task.extra;
        pads_.emit(task, operation, {&entry, 1});
        break;
      }
      case TaskKind::kOutput:
        if (direct_[parts[0].y] < 0) pads_.store(task, parts[0].y, Where::kLimb, task.extra);
    }
  }

  /// Writes values that another cluster needs to memory; frees values without users.
  void share(const Task& task, const std::vector<Part>& parts) {
    each_write(task, parts.data(), [&](i64 value) {
      if (pads_.goes_to_memory(task, value) && !pads_.in_memory(value)) pads_.spill(task, value);
      if (direct_[value] < 0 && pads_.uses.of(task.cluster, value).empty()) {
        pads_.release(task.cluster, value);
      }
    });
  }

  // ---- point tasks
  // -------------------------------------------------------------------------------

  /// Where what lies in banks is, by value.
  using Places = std::map<i64, i64>;

  void point(const Task& task, const std::vector<Part>& parts) {
    Operation operation;
    Places banks;
    std::vector<Entry> entries(parts.size());
    find_operands(task, parts, operation, entries, banks);
    std::vector<Store> stores;
    Banks taken = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& each = parts[i];
      Entry& entry = entries[i];
      entry.prime = each.prime;
      entry.subtract = each.subtract;
      if (each.z_kind != Operand::kNone) entry.z = part(each.z_kind, each.z, task.extra, banks);
      const bool direct = direct_[each.target] >= 0;
      entry.store = direct || pads_.goes_to_memory(task, each.target);
      const bool soon =
          pads_.next_use(task.cluster, each.target, pads_.number) <= pads_.number + kLater;
      if (entry.store == 0 || (!direct && soon)) {
        const i64 instead = each.z_kind == Operand::kValue ? each.z : kNoValue;
        entry.target = pads_.place(task, each.target, taken, instead);
        taken |= bank_bit(entry.target);
      }
    }
    // Places may have evicted limbs, whose stores come before those of this instruction.
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (entries[i].store == 0) continue;
      const i64 target = parts[i].target, limb = direct_[target];
      pads_.clusters[task.cluster].lists.stores.push_back(
          {limb >= 0 ? Where::kLimb : Where::kSpilled, limb >= 0 ? limb : target, machine_.rows,
           static_cast<i64>(i)});
      if (limb < 0) pads_.note_stored(task, target);
    }
    pads_.emit(task, operation, entries);
  }

  /// Where a y or z that comes by no stream is read.
  static Source part(Operand kind, i64 value, i64 x, const Places& banks) {
    if (kind == Operand::kConstant) return {Read::kConstant, value};
    if (value == x) return {Read::kSame, 0};
    return {Read::kSlot, banks.at(value)};
  }

  /// Finds where x, each result's y, and what lies in banks come from.
  void find_operands(const Task& task, const std::vector<Part>& parts, Operation& operation,
                     std::vector<Entry>& entries, Places& banks) {
    const i64 x = task.extra;
    std::vector<i64> summands;
    for (const Part& each : parts) {
      if (each.z_kind == Operand::kValue && each.z != x && !contains(summands, each.z)) {
        summands.push_back(each.z);
      }
    }
    const std::vector<bool> streamed =
        streamed_factors(task, parts, machine_.bank_operands - static_cast<i64>(summands.size()));
    const bool x_streamed = pads_.by_stream(task, x);
    std::vector<i64> placed;
    const auto add = [&](i64 value) {
      if (!contains(placed, value)) placed.push_back(value);
    };
    if (!x_streamed) add(x);
    for (const Part& each : parts) {
      if (each.z_kind == Operand::kValue && each.z != x) add(each.z);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].y_kind == Operand::kValue && parts[i].y != x && !streamed[i]) add(parts[i].y);
    }
    const Banks no_sums =
        ((Banks{1} << machine_.banks) - 1) & ~((Banks{1} << machine_.results) - 1);
    Banks avoid = 0;
    for (const i64 value : placed) {
      const std::optional<Banks> rather_not =
          contains(summands, value) ? std::optional(no_sums) : std::nullopt;
      banks[value] = pads_.resident(task, value, avoid, rather_not);
      avoid |= bank_bit(banks[value]);
    }
    const auto several = std::ranges::count(streamed, true) > 1;
    i64 number = several ? 0 : pads_.stream(task);
    operation.x =
        x_streamed ? pads_.load_value(task, machine_.x_stream, x) : Source{Read::kSlot, banks[x]};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& each = parts[i];
      if (!streamed[i]) {
        entries[i].y = part(each.y_kind, each.y, x, banks);
      } else if (each.y_kind == Operand::kLimb) {
        entries[i].y = pads_.load(task, number++, {Where::kLimb, each.y});
      } else {
        entries[i].y = pads_.load_value(task, number++, each.y);
      }
    }
  }

  /// By result: whether its y comes by a stream.
  /// @param left  factors that banks have ports for
  std::vector<bool> streamed_factors(const Task& task, const std::vector<Part>& parts, i64 left) {
    const ClusterState& own = pads_.clusters[task.cluster];
    std::vector<bool> found(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& each = parts[i];
      if (each.y_kind == Operand::kLimb) {
        found[i] = true;
      } else if (each.y_kind == Operand::kValue && each.y != task.extra) {
        const bool wanted = own.holds(each.y) ? left <= 0 : pads_.by_stream(task, each.y);
        found[i] = pads_.in_memory(each.y) && (wanted || left <= 0);
        if (!found[i]) --left;
      }
    }
    return found;
  }

  static bool contains(const std::vector<i64>& values, i64 value) {
    return std::ranges::find(values, value) != values.end();
  }

  // ---- transforms
  // --------------------------------------------------------------------------------

  /// A transform; in several instructions where one has not entries, or tables, enough.
  void transform(const Task& task, const std::vector<Part>& parts) {
    std::vector<Part> turns;
    std::vector<i64> primes;  // different ones
    for (const Part& turn : parts) {
      const bool other = !contains(primes, turn.prime);
      if (static_cast<i64>(primes.size()) + other > machine_.tables ||
          static_cast<i64>(turns.size()) == machine_.max_entries) {
        transform_of(task, turns);
        turns.clear();
        primes.clear();
      }
      turns.push_back(turn);
      if (!contains(primes, turn.prime)) primes.push_back(turn.prime);
    }
    transform_of(task, turns);
  }

  void transform_of(const Task& task, const std::vector<Part>& turns) {
    ClusterState& own = pads_.clusters[task.cluster];
    std::vector<i64> primes;
    for (const Part& turn : turns) primes.push_back(turn.prime);
    const std::vector<i64> tables = pads_.tables(task, primes, task.extra);
    const i64 most = machine_.stream_rows / machine_.rows;
    i64 streams = 0;
    std::vector<bool> streamed;
    for (const Part& turn : turns) {
      streamed.push_back(streams < most && pads_.by_stream(task, turn.y));
      streams += streamed.back();
    }
    Places sources;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (!streamed[i]) sources[turns[i].y] = pads_.resident(task, turns[i].y, 0);
    }
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const auto same = std::ranges::count(turns, turns[i].y, &Part::y);
      Entry entry;
      entry.prime = turns[i].prime;
      entry.table = tables[i];
      entry.subtract = turns[i].subtract;
      entry.target = pads_.place(task, turns[i].target, 0, same > 1 ? kNoValue : turns[i].y);
      entry.z = {Read::kNone, turns[i].y};
      entries.push_back(entry);
    }
    const Banks late = pads_.read_late(task.cluster);
    std::ranges::stable_sort(entries, {}, [&](const Entry& entry) {
      const auto at = sources.find(entry.z.value);
      return at != sources.end() && (bank_bit(at->second) & late) != 0;
    });
    for (Entry& entry : entries) {
      const auto at = sources.find(entry.z.value);
      entry.y = at != sources.end() ? Source{Read::kSlot, at->second}
                                    : pads_.load_value(task, machine_.x_stream, entry.z.value);
      entry.z = {};
    }
    Operation operation;
    operation.kind = Kind::kTransform;
    operation.extra = task.extra;
    pads_.emit(task, operation, entries);
    for (const i64 table : tables) {
      own.table_users[table / machine_.rows_of_table] =
          static_cast<i64>(own.lists.computing.size());
    }
  }

  Scratchpads pads_;
  const Machine& machine_;
  const std::vector<i64>& primes_;
  std::vector<i64> direct_;  // by value: the output's limb that it is; -1: none
};

// ---- what gives way
// ------------------------------------------------------------------------------

/// What a cluster holds, by when it is used again: in banks of sums, 1, and in the others, 0.
class Held {
 public:
  explicit Held(const Problem& problem)
      : problem_(problem),
        sums_((Banks{1} << problem.machine.results) - 1),
        next_(static_cast<std::size_t>(problem.values()), -1),
        in_sums_(next_.size()) {
    const Machine& machine = problem.machine;
    free_[1] = machine.slots * machine.results;
    free_[0] = machine.slots * (machine.banks - machine.results);
  }

  [[nodiscard]] i64 free_slots() const { return free_[0] + free_[1]; }
  [[nodiscard]] bool contains(i64 value) const { return next_[value] >= 0; }

  /// Holds a value that is used next by a task; returns what gives way, or kNoValue.
  i64 keep(i64 value, i64 following, i64 uses) {
    const Machine& machine = problem_.machine;
    const Task& task = problem_.tasks[following];
    const Banks unwanted = unwanted_banks(problem_, value, &task, problem_.parts_of(task), uses);
    bool where = (unwanted & ~sums_) != 0;
    if (unwanted == 0) where = free_[1] > free_[0];
    i64 victim = kNoValue;
    if (free_[where] == 0) {
      const bool out = kept_out(machine, unwanted, uses);
      if (!out && free_[!where] != 0) {
        where = !where;
      } else {
        std::tie(victim, where) = give_way(out, where);
      }
    }
    --free_[where];
    hold(value, following, where);
    return victim;
  }

  void hold_again(i64 value, i64 following) { hold(value, following, in_sums_[value]); }

  void drop(i64 value) {
    ++free_[in_sums_[value]];
    next_[value] = -1;
  }

 private:
  using Entry = std::pair<i64, i64>;  // minus the next use, and the value: the least gives way

  void hold(i64 value, i64 following, bool where) {
    next_[value] = following;
    in_sums_[value] = where;
    heaps_[where].emplace_back(-following, value);
    std::ranges::push_heap(heaps_[where], std::greater{});
  }

  Entry pop(bool where) {
    std::ranges::pop_heap(heaps_[where], std::greater{});
    const Entry least = heaps_[where].back();
    heaps_[where].pop_back();
    return least;
  }

  /// Lets what is used last give way; returns it, and where it was.
  std::pair<i64, bool> give_way(bool only, bool where) {
    for (const bool each : {false, true}) {
      if (only && each != where) continue;
      const auto stale = [&] {
        const auto [use, value] = heaps_[each].front();
        return next_[value] != -use || in_sums_[value] != each;
      };
      while (stale()) pop(each);
    }
    // Of two that are alike, that of the banks of sums.
    if (!only) where = !(heaps_[0].front() < heaps_[1].front());
    const i64 victim = pop(where).second;
    next_[victim] = -1;
    ++free_[where];
    return {victim, where};
  }

  const Problem& problem_;
  Banks sums_;
  i64 free_[2];
  std::vector<i64> next_;      // by value; -1: it is not held
  std::vector<bool> in_sums_;  // by value
  std::vector<Entry> heaps_[2];
};

/// Operands whose places results take, where they are used no more.
bool leaves_place(const Task& task, const Part* parts, i64 value) {
  const auto is_operand = [&](const Part& part) {
    return task.kind == TaskKind::kTransform ? part.y == value
                                             : part.z_kind == Operand::kValue && part.z == value;
  };
  return task.kind != TaskKind::kAutomorph && task.kind != TaskKind::kOutput &&
         std::any_of(parts, parts + task.count, is_operand);
}

}  // namespace

Allocation allocate(const Problem& problem, const std::vector<bool>& give_way, Choice choice,
                    const std::vector<int>& halves) {
  return Allocator(problem, give_way, choice).run(halves);
}

std::vector<bool> giving_way(const Problem& problem) {
  const i64 count = problem.machine.clusters;
  std::vector<Held> clusters(static_cast<std::size_t>(count), Held(problem));
  Uses uses(problem, count);
  std::vector<bool> gone(static_cast<std::size_t>(problem.values()));
  const auto note = [&](i64 value) {
    if (value != kNoValue) gone[value] = true;
  };
  for (std::size_t index = 0; index < problem.tasks.size(); ++index) {
    const auto number = static_cast<i64>(index);
    const Task& task = problem.tasks[index];
    const Part* parts = problem.parts_of(task);
    Held& own = clusters[task.cluster];
    std::vector<i64> reads;
    each_read(task, parts, [&](i64 value) {
      if (std::ranges::find(reads, value) == reads.end()) reads.push_back(value);
    });
    for (const i64 value : reads) {
      if (own.contains(value) || !(problem.memory[value] >= 0 || gone[value])) continue;
      const auto left = uses.of(task.cluster, value);
      if (left.size() > 1 && (left[1] <= number + kSoon || own.free_slots() > kKeptFree)) {
        note(own.keep(value, number, static_cast<i64>(left.size())));
      }
    }
    const auto used = [&](i64 value) {
      const bool again = uses.drop(task.cluster, value, number);
      if (!own.contains(value)) return;
      if (again) {
        own.hold_again(value, uses.of(task.cluster, value).front());
      } else {
        own.drop(value);
      }
    };
    for (const i64 value : reads) {
      if (leaves_place(task, parts, value)) used(value);
    }
    each_write(task, parts, [&](i64 value) {
      const auto left = uses.of(task.cluster, value);
      if (!left.empty()) note(own.keep(value, left.front(), static_cast<i64>(left.size())));
    });
    for (const i64 value : reads) {
      if (!leaves_place(task, parts, value)) used(value);
    }
  }
  for (i64 value = 0; value < problem.values(); ++value) {
    if (problem.memory[value] >= 0) gone[value] = false;
  }
  return gone;
}

}  // namespace ringsmith::vector
