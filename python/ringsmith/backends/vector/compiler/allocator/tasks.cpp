#include "allocator/tasks.h"

#include <algorithm>
#include <unordered_map>

namespace ringsmith::vector {
namespace {

/// Runs while they are found: tasks that add to the sums of the one before.
class Runs {
 public:
  explicit Runs(const Problem& problem)
      : problem_(problem),
        uses_(static_cast<std::size_t>(problem.values())),
        made_(uses_.size(), -1) {
    for (const Task& task : problem.tasks) {
      each_read(task, problem.parts_of(task), [&](i64 value) { ++uses_[value]; });
    }
  }

  std::vector<std::vector<i64>> found() {
    for (std::size_t number = 0; number < problem_.tasks.size(); ++number) {
      const Task& task = problem_.tasks[number];
      const Part* parts = problem_.parts_of(task);
      if (is_term(task, parts)) add(static_cast<i64>(number), task, parts);
      each_write(task, parts, [&](i64 value) { made_[value] = static_cast<i64>(number); });
    }
    std::erase_if(runs_, [](const std::vector<i64>& run) { return run.size() < 2; });
    return std::move(runs_);
  }

 private:
  /// Whether a task may be a term of sums.
  static bool is_term(const Task& task, const Part* parts) {
    return task.kind == TaskKind::kPoint &&
           std::all_of(parts, parts + task.count, [](const Part& part) {
             return part.y_kind == Operand::kConstant || part.y_kind == Operand::kLimb;
           });
  }

  void add(i64 number, const Task& task, const Part* parts) {
    std::size_t run = runs_.size();
    if (parts[0].z_kind == Operand::kValue) {
      const auto growing = growing_.find(parts[0].z);
      if (growing != growing_.end() && continues(runs_[growing->second], task, parts)) {
        run = growing->second;
        growing_.erase(growing);
      }
    }
    if (run == runs_.size()) runs_.emplace_back();
    runs_[run].push_back(number);
    growing_[parts[0].target] = run;
  }

  /// Whether a task is a further term of the sums of a run.
  bool continues(const std::vector<i64>& run, const Task& task, const Part* parts) const {
    const Task& last = problem_.tasks[run.back()];
    if (last.count != task.count || made_[task.extra] >= run.front()) return false;
    const auto same = [&](i64 number) { return problem_.tasks[number].extra == task.extra; };
    if (std::ranges::any_of(run, same)) return false;
    for (i64 i = 0; i < task.count; ++i) {
      const i64 before = problem_.parts_of(last)[i].target;
      if (parts[i].z_kind != Operand::kValue || parts[i].z != before || parts[i].subtract != 0 ||
          uses_[before] != 1) {
        return false;
      }
    }
    return true;
  }

  const Problem& problem_;
  std::vector<i64> uses_, made_;  // by value; the number of the task that makes it
  std::vector<std::vector<i64>> runs_;
  std::unordered_map<i64, std::size_t> growing_;  // by their last first sum
};

}  // namespace

void Problem::find_runs() {
  runs = Runs(*this).found();
  run_of.assign(tasks.size(), -1);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const i64 number : runs[run]) run_of[number] = static_cast<i64>(run);
  }
}

}  // namespace ringsmith::vector
