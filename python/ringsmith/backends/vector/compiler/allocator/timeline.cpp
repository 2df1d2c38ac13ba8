#include "allocator/timeline.h"

#include <deque>

namespace ringsmith::vector {
namespace {

/// A limb's rows at a port of a bank, or a stream, in turn, in one half of the lanes.
struct Access {
  Source source;
  int half;
  i64 begin;      ///< cycles from the instruction's issue to the first row
  bool in_order;  ///< whether rows come as they are numbered
  bool inside;    ///< whether it is of a pass in the middle of an instruction
};

/// Writes what an instruction reads from streams and the scratchpad, and what it writes.
class Accesses {
 public:
  Accesses(const Machine& machine, const std::vector<int>& halves)
      : machine_(machine), halves_(halves) {}

  std::vector<Access> reads, writes;

  void of(const Operation& operation, const Entry* entries) {
    reads.clear();
    writes.clear();
    if (operation.kind == Kind::kTransform) {
      transform(operation, entries);
    } else if (operation.kind == Kind::kAutomorph) {
      for (const int half : halves_) {
        reads.push_back({entries[0].y, half, 0, false, false});
        writes.push_back(
            {{Read::kSlot, entries[0].target}, half, machine_.written[half], true, false});
      }
    } else {
      point(operation, entries);
    }
  }

 private:
  void transform(const Operation& operation, const Entry* entries) {
    const std::vector<i64>& turns =
        operation.extra != 0 ? machine_.inverse_turns : machine_.forward_turns;
    const i64 period = machine_.period(operation), passes = machine_.passes;
    for (i64 number = 0; number < operation.count; ++number) {
      const i64 first = number * machine_.rows;
      const Source target{Read::kSlot, entries[number].target};
      for (const int half : halves_) {
        reads.push_back({entries[number].y, half, first, turns[0] == 0, false});
        for (i64 pass = 0; pass < passes; ++pass) {
          const bool in_order = turns[pass] == 0;
          i64 begin = first + pass * period;
          if (pass != 0) reads.push_back({target, half, begin, in_order, true});
          begin += machine_.pass_delay;
          writes.push_back({target, half, begin, in_order, pass != passes - 1});
        }
      }
    }
  }

  void point(const Operation& operation, const Entry* entries) {
    for (const int half : halves_) {
      reads.push_back({operation.x, half, 0, true, false});
      for (i64 number = 0; number < operation.count; ++number) {
        const Entry& each = entries[number];
        read(each.y, half, machine_.factor[2 * number + half]);
        read(each.z, half, machine_.summand[2 * number + half]);
        if (each.target != kNoSlot) {
          const i64 begin = machine_.written[2 * number + half];
          writes.push_back({{Read::kSlot, each.target}, half, begin, true, false});
        }
      }
    }
  }

  void read(const Source& part, int half, i64 begin) {
    if (part.kind == Read::kSlot || part.kind == Read::kStream) {
      reads.push_back({part, half, begin, true, false});
    }
  }

  const Machine& machine_;
  const std::vector<int>& halves_;
};

/// What is known of a limb's place in one half: cycles.
struct PlaceTimes {
  i64 first = -1;  ///< when the first row can be read; -1: rows are not written in order
  i64 last = 0;    ///< when all rows can
  i64 passed = 0;  ///< when the first row can be overwritten
  i64 done = 0;    ///< when all rows can
};

/// Places and ports by number.
class Tables {
 public:
  explicit Tables(const Machine& machine)
      : machine_(machine),
        slots_(static_cast<std::size_t>(machine.banks * machine.slots * 2)),
        streams_(static_cast<std::size_t>(machine.streams * 2)),
        read_(static_cast<std::size_t>((machine.banks + machine.streams) * 2)),
        written_(read_.size()) {}

  PlaceTimes& place(const Access& access) {
    if (access.source.kind == Read::kStream) {
      return streams_.at(static_cast<std::size_t>(access.source.value * 2 + access.half));
    }
    const i64 bank = bank_of(access.source.value), index = index_of(access.source.value);
    return slots_.at(static_cast<std::size_t>((bank * machine_.slots + index) * 2 + access.half));
  }
  i64& read(const Access& access) { return read_.at(port(access)); }
  i64& written(const Access& access) { return written_.at(port(access)); }

 private:
  [[nodiscard]] std::size_t port(const Access& access) const {
    const i64 number = access.source.kind == Read::kStream ? machine_.banks + access.source.value
                                                           : bank_of(access.source.value);
    return static_cast<std::size_t>(number * 2 + access.half);
  }

  const Machine& machine_;
  std::vector<PlaceTimes> slots_, streams_;
  std::vector<i64> read_, written_;  // by port: until when it is taken
};

/// The earliest issue of an instruction.
i64 earliest(i64 at, const Accesses& accesses, Tables& tables) {
  for (const Access& each : accesses.reads) {
    const PlaceTimes& place = tables.place(each);
    if (!each.inside) {
      const i64 there = each.in_order && place.first >= 0 ? place.first : place.last;
      at = std::max(at, there - each.begin);
    }
    at = std::max(at, tables.read(each) - each.begin);
  }
  for (const Access& each : accesses.writes) {
    const PlaceTimes& place = tables.place(each);
    at = std::max(at, (each.in_order ? place.passed : place.done) - each.begin);
    at = std::max(at, tables.written(each) - each.begin);
  }
  return at;
}

/// Notes what an instruction that is issued in a cycle takes.
void note(i64 at, i64 rows, const Accesses& accesses, Tables& tables) {
  for (const Access& each : accesses.reads) {
    PlaceTimes& place = tables.place(each);
    const i64 end = at + each.begin + rows;
    tables.read(each) = std::max(tables.read(each), end);
    place.done = std::max(place.done, end);
    place.passed = std::max(place.passed, each.in_order ? at + each.begin + 1 : end);
  }
  for (const Access& each : accesses.writes) {
    PlaceTimes& place = tables.place(each);
    const i64 end = at + each.begin + rows;
    tables.written(each) = std::max(tables.written(each), end);
    if (!each.inside) {
      place.last = end;
      place.first = each.in_order ? at + each.begin + 1 : -1;
    }
  }
}

/// A cluster's ports in one direction, as ``rs_vector_bursts`` uses them.
class Ports {
 public:
  Ports(Beats beats, i64 burst_beats) : beats_(beats), burst_(burst_beats) {}

  i64 free = 0;  ///< when what comes next may begin

  /// Moves beats for what begins in a cycle: those of the first and the last.
  std::pair<i64, i64> move(i64 begin, i64 count, i64 lead = 0) {
    i64 leaves = std::max(begin + 1, taken_);
    i64 taken = std::max(leaves + 1, served_);
    const i64 first = std::max(taken + 1, begin + lead);
    // Any other burst's address is taken with the last beat of the burst before it, and the burst
    // after it leaves for the ports then.
    const i64 bursts = (count + burst_ - 1) / burst_;
    if (bursts > 1) {
      leaves = taken;
      taken = beats_.nth(first, (bursts - 1) * burst_ - 1);
    }
    if (bursts > 2) leaves = beats_.nth(first, (bursts - 2) * burst_ - 1);
    taken_ = taken;
    served_ = beats_.nth(first, count - 1);
    free = leaves + 1;
    return {beats_.nth(first, 0), served_};
  }

 private:
  Beats beats_;
  i64 burst_, taken_ = -1, served_ = -1;  // cycles of the last burst's address, and the last beat
};

/// Free rows of a stream: now, and those that will be given back, in order.
class FreeRows {
 public:
  explicit FreeRows(i64 rows) : free_(rows) {}

  /// From when on this many rows are free; nothing: not known yet.
  [[nodiscard]] std::optional<i64> when(i64 rows) const {
    i64 free = free_, now = now_;
    for (const auto& [count, time] : coming_) {
      if (free >= rows) break;
      free += count;
      now = std::max(now, time);
    }
    return free >= rows ? std::optional(now) : std::nullopt;
  }
  /// Takes rows that ``when`` said were free.
  void take(i64 rows) {
    while (free_ < rows) {
      free_ += coming_.front().first;
      now_ = std::max(now_, coming_.front().second);
      coming_.pop_front();
    }
    free_ -= rows;
  }
  void give(i64 rows, i64 time) { coming_.emplace_back(rows, time); }

 private:
  i64 free_, now_ = 0;
  std::deque<std::pair<i64, i64>> coming_;
};

/// How far a cluster's lists are worked off.
class Cluster {
 public:
  Cluster(const Lists& lists, const Machine& machine)
      : lists_(lists),
        machine_(machine),
        there_(static_cast<std::size_t>(machine.streams)),
        free_rows_(there_.size(), FreeRows(machine.stream_rows)),
        free_store_rows_(static_cast<std::size_t>(machine.results), FreeRows(machine.stream_rows)),
        reading_({machine.interval, machine.read_pause}, machine.burst_beats),
        writing_({machine.interval, machine.write_pause}, machine.burst_beats) {
    times.loads.reserve(lists.loads.size());
    times.computing.reserve(lists.computing.size());
    times.stores.reserve(lists.stores.size());
  }

  Times times;

  [[nodiscard]] bool ended() const {
    return times.loads.size() == lists_.loads.size() &&
           times.computing.size() == lists_.computing.size() &&
           times.stores.size() == lists_.stores.size();
  }

  /// Works off what can be; returns whether anything could.
  bool step(const std::vector<Cluster>& clusters) {
    bool moved = false;
    while (load(clusters) || compute() || store()) moved = true;
    return moved;
  }

 private:
  bool load(const std::vector<Cluster>& clusters) {
    if (times.loads.size() == lists_.loads.size()) return false;
    const Load& load = lists_.loads[times.loads.size()];
    i64 begin = reading_.free;
    if (load.after_cluster >= 0) {
      const auto& stores = clusters.at(static_cast<std::size_t>(load.after_cluster)).times.stores;
      if (static_cast<i64>(stores.size()) < load.after_count) return false;
      begin = std::max(begin, stores[static_cast<std::size_t>(load.after_count - 1)].end);
    }
    if (load.after_computing != 0) {
      if (static_cast<i64>(times.computing.size()) < load.after_computing) return false;
      begin =
          std::max(begin, times.computing[static_cast<std::size_t>(load.after_computing - 1)].end +
                              machine_.notice);
    }
    if (load.stream >= 0) {
      const auto free = free_rows_.at(static_cast<std::size_t>(load.stream)).when(load.rows);
      if (!free) return false;
      begin = std::max(begin, *free);
    }
    const auto [first, last] = reading_.move(begin, load.rows * machine_.row_beats);
    const i64 end = last + machine_.latency + machine_.row_notice;
    if (load.stream < 0) {
      tables_.push_back(end);
    } else {
      free_rows_[static_cast<std::size_t>(load.stream)].take(load.rows);
      there_[static_cast<std::size_t>(load.stream)].push_back(end);
    }
    times.loads.push_back({begin, end, first, last + 1, reading_.free});
    return true;
  }

  bool compute() {
    if (times.computing.size() == lists_.computing.size()) return false;
    const Operation& own = lists_.computing[times.computing.size()];
    i64 begin = (times.computing.empty() ? 0 : times.computing.back().begin) + own.gap;
    if (own.tables > static_cast<i64>(tables_.size())) return false;
    if (own.tables != 0) {
      begin = std::max(begin, tables_[static_cast<std::size_t>(own.tables - 1)]);
    }
    find_streams(own);
    std::vector<std::size_t>& taken = taken_;
    taken.assign(there_.size(), 0);
    for (const auto& [number, since] : read_) {
      const auto stream = static_cast<std::size_t>(number);
      if (there_[stream].size() <= taken[stream]) return false;
      begin = std::max(begin, there_[stream][taken[stream]++]);
    }
    for (const i64 number : handed_now_) {
      const auto free = free_store_rows_.at(static_cast<std::size_t>(number)).when(machine_.rows);
      if (!free) return false;
      begin = std::max(begin, *free);
    }
    for (const auto& [number, since] : read_) {
      there_[static_cast<std::size_t>(number)].pop_front();
      free_rows_[static_cast<std::size_t>(number)].give(machine_.rows,
                                                        begin + since + machine_.notice);
    }
    for (const i64 number : handed_now_) {
      free_store_rows_[static_cast<std::size_t>(number)].take(machine_.rows);
      const i64 written = machine_.written[static_cast<std::size_t>(2 * number + 1)];
      handed_.push_back(begin + written + machine_.rows + machine_.notice);
    }
    times.computing.push_back({begin, begin + machine_.occupied(own) + machine_.pass_delay});
    return true;
  }

  /// Finds the streams of which an instruction takes a limb, each with the cycle, counted from its
  /// issue, from when on; and those that it hands one to.
  void find_streams(const Operation& own) {
    read_.clear();
    handed_now_.clear();
    const Entry* entries = lists_.entries.data() + own.first;
    if (own.kind == Kind::kPoint && own.x.kind == Read::kStream) read_.emplace_back(own.x.value, 0);
    for (i64 number = 0; number < own.count; ++number) {
      if (own.kind == Kind::kPoint && entries[number].store != 0) handed_now_.push_back(number);
      if (entries[number].y.kind != Read::kStream) continue;
      const i64 since = own.kind == Kind::kTransform
                            ? number * machine_.rows
                            : machine_.factor[static_cast<std::size_t>(2 * number + 1)];
      read_.emplace_back(entries[number].y.value, since);
    }
  }

  bool store() {
    if (handed_.empty()) return false;
    const Store& store = lists_.stores.at(times.stores.size());
    const i64 begin = std::max(writing_.free, handed_.front());
    handed_.pop_front();
    const auto [first, last] =
        writing_.move(begin, store.rows * machine_.row_beats, machine_.store_lead);
    const i64 end = last + machine_.latency + machine_.stored_notice;
    free_store_rows_[static_cast<std::size_t>(store.stream)].give(store.rows,
                                                                  last + machine_.freed_notice);
    times.stores.push_back({begin, end, first, last + 1, writing_.free});
    return true;
  }

  const Lists& lists_;
  const Machine& machine_;
  std::vector<i64> tables_;             // when loads to the twiddle memory ended
  std::vector<std::deque<i64>> there_;  // limbs that wait in a stream
  std::vector<FreeRows> free_rows_, free_store_rows_;
  Ports reading_, writing_;
  std::deque<i64> handed_;
  std::vector<std::pair<i64, i64>> read_;  // of the instruction that is looked at
  std::vector<i64> handed_now_;
  std::vector<std::size_t> taken_;
};

}  // namespace

void set_gaps(Lists& lists, const Machine& machine, const std::vector<int>& halves) {
  Accesses accesses(machine, halves);
  Tables tables(machine);
  i64 turned[2] = {0, 0};  // when a transform in a direction may begin
  i64 before = 0, free = 0;
  for (Operation& operation : lists.computing) {
    const bool transform = operation.kind == Kind::kTransform;
    i64 at = free;
    if (transform) at = std::max(at, turned[operation.extra]);
    accesses.of(operation, lists.entries.data() + operation.first);
    at = earliest(at, accesses, tables);
    note(at, machine.rows, accesses, tables);
    operation.gap = at - before;
    before = at;
    free = at + machine.occupied(operation);
    if (transform) turned[1 - operation.extra] = free - 1 + machine.turn;
  }
}

i64 Beats::nth(i64 begin, i64 count) const {
  const i64 work = interval - pause;
  const i64 moved = begin / interval * work + std::max<i64>(0, begin % interval - pause) + count;
  return moved / work * interval + pause + moved % work;
}

std::vector<Times> schedule(const std::vector<Lists>& clusters, const Machine& machine) {
  std::vector<Cluster> found;
  found.reserve(clusters.size());
  for (const Lists& lists : clusters) found.emplace_back(lists, machine);
  const auto ended = [](const Cluster& cluster) { return cluster.ended(); };
  while (!std::ranges::all_of(found, ended)) {
    bool moved = false;
    for (Cluster& cluster : found) moved = cluster.step(found) || moved;
    if (!moved) throw AllocatorError("the lists of the clusters wait for each other");
  }
  std::vector<Times> times;
  for (Cluster& cluster : found) times.push_back(std::move(cluster.times));
  return times;
}

i64 total(const std::vector<Times>& times) {
  i64 end = 0;
  for (const Times& each : times) {
    if (!each.loads.empty()) end = std::max(end, each.loads.back().end);
    if (!each.computing.empty()) end = std::max(end, each.computing.back().end);
    if (!each.stores.empty()) end = std::max(end, each.stores.back().end);
  }
  return end;
}

}  // namespace ringsmith::vector
