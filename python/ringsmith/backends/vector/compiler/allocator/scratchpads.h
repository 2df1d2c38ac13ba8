// What lies where while instructions are made: scratchpads, memory, and what clusters still use.
//
// Where a bank is full, what is used again last gives way (Belady), to memory if it is not there.
// What lies in memory and is used once comes by a stream, without a place.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allocator/tasks.h"

namespace ringsmith::vector {

/// Banks, one bit each.
using Banks = std::uint64_t;

/// Tasks within which a second use makes it worth while to keep a limb that comes from memory.
inline constexpr i64 kSoon = 12;
/// Free places that are left for what is made.
inline constexpr i64 kKeptFree = 4;

/// Banks in which a value would be in the way.
///
/// A sum that is added to lies in the bank of its result's number, so that factors, which are used
/// together with the sums of an instruction, lie in others.
///
/// @param following  the task that uses it next; nullptr: none
/// @param parts      its parts
/// @param uses       how often it is still used
Banks unwanted_banks(const Problem& problem, i64 value, const Task* following, const Part* parts,
                     i64 uses);

/// Whether a value lies in no unwanted bank, even if another one has to give way for it.
bool kept_out(const Machine& machine, Banks unwanted, i64 uses);

/// Numbers of the tasks that use a value in a cluster, ascending; those before are dropped.
class Uses {
 public:
  Uses(const Problem& problem, i64 clusters);

  [[nodiscard]] std::span<i64> of(i64 cluster, i64 value) {
    const std::size_t at = index(cluster, value);
    return {numbers_.data() + begins_[at], numbers_.data() + ends_[at]};
  }
  [[nodiscard]] std::span<const i64> of(i64 cluster, i64 value) const {
    const std::size_t at = index(cluster, value);
    return {numbers_.data() + begins_[at], numbers_.data() + ends_[at]};
  }
  /// Drops the uses up to a task; returns whether there are others.
  bool drop(i64 cluster, i64 value, i64 number) {
    const std::size_t at = index(cluster, value);
    while (begins_[at] < ends_[at] && numbers_[begins_[at]] <= number) ++begins_[at];
    return begins_[at] < ends_[at];
  }
  /// Drops all uses.
  void clear(i64 cluster, i64 value) {
    const std::size_t at = index(cluster, value);
    begins_[at] = ends_[at];
  }
  /// Whether a cluster other than one uses a value at all, now or before.
  [[nodiscard]] bool elsewhere(i64 cluster, i64 value) const {
    return (users_[static_cast<std::size_t>(value)] & ~(std::uint64_t{1} << cluster)) != 0;
  }
  [[nodiscard]] std::uint64_t users(i64 value) const {
    return users_[static_cast<std::size_t>(value)];
  }

 private:
  [[nodiscard]] std::size_t index(i64 cluster, i64 value) const {
    return static_cast<std::size_t>(cluster * values_ + value);
  }
  i64 values_;
  std::vector<std::size_t> begins_, ends_;
  std::vector<i64> numbers_;
  std::vector<std::uint64_t> users_;  // clusters, one bit each
};

/// A value in memory.
struct Stored {
  Where where = Where::kLimb;
  i64 limb = -1;                            ///< -1: it is not there
  i64 after_cluster = -1, after_count = 0;  ///< the store that puts it there
};

/// A cluster's lists as they grow, and what lies in its scratchpad.
struct ClusterState {
  std::vector<std::vector<i64>> free;  ///< by bank: indices, the next one last
  std::vector<i64> slot;               ///< by value; kNoSlot: it has none
  std::vector<i64> stamp;              ///< by value: when it got its place
  std::vector<i64> placed;             ///< values with a place, in any order
  std::vector<i64> where;              ///< by value: its index in ``placed``
  i64 stamps = 0;
  std::vector<std::pair<i64, Load>> loads;  ///< with the instruction that they stand before
  Lists lists;                              ///< without loads
  i64 table_loads = 0, turn = 0;
  i64 behind = 0;  ///< cycles that memory is behind the array, as far as counted
  std::vector<std::pair<std::pair<i64, i64>, i64>> tables;  ///< prime, direction: row; oldest first
  std::vector<i64> table_users;  ///< by number of the table: instructions up to its last user

  void put(i64 value, i64 code);
  void take(i64 value);
  [[nodiscard]] bool holds(i64 value) const { return slot[static_cast<std::size_t>(value)] >= 0; }
};

/// How limbs are placed.
struct Choice {
  i64 few;    ///< uses up to which a stream is preferred to a place,
  i64 limbs;  ///< and by how many limbs memory may be behind the array for that
};

/// The clusters' lists and scratchpads, task by task.
class Scratchpads {
 public:
  /// @param give_way  by value: whether it goes to memory as soon as it is made
  Scratchpads(const Problem& problem, const std::vector<bool>& give_way, Choice choice);

  i64 number = 0;           ///< of the task that is done
  std::vector<i64> pinned;  ///< values that keep their places meanwhile
  Uses uses;
  std::vector<Task> tasks;  ///< those of the problem, terms of runs in another order
  std::vector<Part> parts;
  std::vector<ClusterState> clusters;
  std::vector<bool> spilled;  ///< by value

  [[nodiscard]] const Machine& machine() const { return problem_.machine; }
  [[nodiscard]] const Part* parts_of(const Task& task) const { return &parts[task.first]; }

  /// Takes the terms of the run that begins now bank by bank.
  void order_run();
  /// Writes an instruction of a task to list ``computing`` of its cluster.
  void emit(const Task& task, Operation operation, std::span<const Entry> entries);
  /// Frees the places of what the cluster uses no more.
  void forget(const Task& task, std::span<const i64> values);
  /// Frees the place of a value in the scratchpad of a cluster, if it has one.
  void release(i64 cluster, i64 value);
  /// Writes a load of a value to a stream.
  Source load_value(const Task& task, i64 stream, i64 value);
  /// Writes a load of a limb in memory to a stream.
  Source load(const Task& task, i64 stream, const Stored& stored);
  /// Writes a value to a limb of memory.
  void store(const Task& task, i64 value, Where where, i64 limb);
  /// Writes a value to memory, from where it can be read again.
  void spill(const Task& task, i64 value);
  /// A value is in memory from the last store on.
  void note_stored(const Task& task, i64 value);
  /// The load stream for a factor that may come by any: they take turns.
  i64 stream(const Task& task);
  /// The next task of a cluster that uses a value; the number of tasks: none does.
  [[nodiscard]] i64 next_use(i64 cluster, i64 value, i64 after) const;
  /// A place for a result: that of an operand that is used no more, or a free one.
  /// @param instead  the operand; kNoValue: none
  i64 place(const Task& task, i64 value, Banks avoid, i64 instead);
  /// A value's place in none of some banks; it is fetched from memory, or moved.
  i64 resident(const Task& task, i64 value, Banks avoid, std::optional<Banks> rather_not = {});
  /// Whether a value comes by a stream: it lies in memory, and a place is not worth while.
  [[nodiscard]] bool by_stream(const Task& task, i64 value) const;
  [[nodiscard]] bool in_memory(i64 value) const {
    return memory_[static_cast<std::size_t>(value)].limb >= 0;
  }
  /// Whether a value gave way the first time, or another cluster wants it.
  [[nodiscard]] bool goes_to_memory(const Task& task, i64 value) const;
  /// Puts the tables of some primes into the twiddle memory; the row of each, in their order.
  std::vector<i64> tables(const Task& task, std::span<const i64> primes, i64 inverse);
  /// Banks that the last instruction still reads when it has issued all its rows.
  [[nodiscard]] Banks read_late(i64 cluster) const;

 private:
  [[nodiscard]] Banks all() const { return (Banks{1} << machine().banks) - 1; }
  [[nodiscard]] i64 count() const { return static_cast<i64>(tasks.size()); }
  [[nodiscard]] const std::vector<i64>* run_at(i64 task) const;
  [[nodiscard]] Banks bank_of_next_term(i64 cluster) const;
  [[nodiscard]] Banks run_bank(i64 cluster, const std::vector<i64>& run) const;
  [[nodiscard]] Banks unwanted(const Task& task, i64 value) const;
  [[nodiscard]] Banks factor_banks(const Task& task, i64 value, Banks avoid) const;
  [[nodiscard]] Banks used_together(const Task& task, i64 value) const;
  [[nodiscard]] bool held_for_later(i64 cluster, i64 following) const;
  i64 free_slot(const Task& task, Banks avoid, Banks rather_not, Banks together = 0);
  void make_space(const Task& task, Banks banks);
  void copy(const Task& task, i64 value, Source source, i64 target);
  i64 table_row(const Task& task, std::pair<i64, i64> key, std::span<const i64> primes);

  const Problem& problem_;
  const std::vector<bool>& give_way_;
  i64 few_, patience_;
  std::vector<i64> order_;  // banks, so that neighbours in time are in different halves
  std::vector<Stored> memory_;
};

}  // namespace ringsmith::vector
