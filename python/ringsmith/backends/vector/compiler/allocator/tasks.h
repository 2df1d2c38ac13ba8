// Tasks as arrays: what ``compiler/tasks.py`` describes, in an order in which each finds its
// operands.
#pragma once

#include <cstddef>
#include <vector>

#include "allocator/lists.h"

namespace ringsmith::vector {

enum class TaskKind : i64 { kTransform, kPoint, kAutomorph, kOutput };

/// What a part of a task is.
enum class Operand : i64 { kNone, kValue, kLimb, kConstant };

inline constexpr i64 kNoValue = -1;

/// A limb of a transform, or a result of a point task.
struct Part {
  i64 prime;
  Operand y_kind;  ///< of transforms, automorphisms and outputs: the source
  i64 y;
  Operand z_kind;
  i64 z;
  i64 subtract;  ///< of transforms: whether words are reduced
  i64 target;    ///< a value
};

struct Task {
  TaskKind kind;
  i64 cluster, origin;
  i64 first, count;  ///< of the parts
  i64 extra;         ///< whether a transform is inverse; x; an element; a limb of an output
};

/// The tasks of a graph, and what follows from them alone.
struct Problem {
  Machine machine;
  std::vector<Task> tasks;
  std::vector<Part> parts;
  std::vector<i64> primes;  ///< by value
  std::vector<i64> memory;  ///< by value: its limb in memory from the start; -1: none
  std::vector<i64> ones;    ///< by prime: the constant that keeps what it is multiplied with

  std::vector<i64> run_of;             ///< by task: its run; -1: none
  std::vector<std::vector<i64>> runs;  ///< numbers of tasks

  /// Finds the runs, after all else was set.
  void find_runs();

  [[nodiscard]] i64 values() const { return static_cast<i64>(primes.size()); }
  [[nodiscard]] const Part* parts_of(const Task& task) const { return &parts[task.first]; }
};

/// Calls with every value that a task reads, without those of keys: x, and each part's y and z.
template <typename Call>
void each_read(const Task& task, const Part* parts, const Call& call) {
  if (task.kind == TaskKind::kPoint) call(task.extra);
  for (i64 i = 0; i < task.count; ++i) {
    if (parts[i].y_kind == Operand::kValue) call(parts[i].y);
    if (parts[i].z_kind == Operand::kValue) call(parts[i].z);
  }
}

/// Calls with every value that a task makes.
template <typename Call>
void each_write(const Task& task, const Part* parts, const Call& call) {
  if (task.kind == TaskKind::kOutput) return;
  for (i64 i = 0; i < task.count; ++i) call(parts[i].target);
}

}  // namespace ringsmith::vector
