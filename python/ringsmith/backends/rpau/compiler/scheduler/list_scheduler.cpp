#include "scheduler/list_scheduler.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "scheduler/banks.h"
#include "scheduler/dependences.h"
#include "scheduler/memory.h"
#include "scheduler/timeline.h"

namespace ringsmith::scheduler {
namespace {

constexpr int kAll = std::numeric_limits<int>::max();
constexpr u64 kEver = std::numeric_limits<u64>::max();

/// How the next instruction is chosen among those that are ready.
struct Policy {
  bool longest_path;  ///< the longest remaining path comes first; else sequential order
  u64 slack;          ///< candidates start at most this many cycles after the earliest one
  int lookahead;      ///< number of remaining steps, in their order, that are considered
  bool equivalents;   ///< an instruction may run as its equivalent on the other unit

  bool operator==(const Policy&) const = default;
};

constexpr Policy kSequential{false, 0, 1, false};

/// What a new schedule takes over from an earlier one.
enum class Order {
  kGiven,  ///< nothing: steps are in the problem's order
  kAgain,  ///< the order in which the earlier one issued the steps
  kFixed,  ///< that order, and the work polynomial of each polynomial
};

/// A policy, and what is taken over from an earlier schedule.
struct Attempt {
  Policy policy;
  Order order;

  bool operator==(const Attempt&) const = default;
};

/// Attempts for designs whose banks share ports. Each attempt gave the best schedule for at least
/// one of the programs that docs/reference/rpau.md lists.
constexpr std::array<Attempt, 16> kAttempts{{
    {{true, 0, kAll, false}, Order::kGiven},
    {{true, 0, kAll, true}, Order::kGiven},
    {{false, 0, kAll, true}, Order::kGiven},
    {{true, 0, 20, true}, Order::kGiven},
    {{false, 0, kAll, true}, Order::kAgain},
    {{false, 1024, kAll, true}, Order::kAgain},
    {{true, 0, 8, true}, Order::kAgain},
    {{true, 0, 11, true}, Order::kAgain},
    {{true, 0, 20, true}, Order::kAgain},
    {{false, 0, 20, true}, Order::kAgain},
    {{false, 0, 8, true}, Order::kAgain},
    {{false, 0, 4, true}, Order::kAgain},
    {{true, 0, kAll, true}, Order::kFixed},
    {{false, 0, kAll, true}, Order::kFixed},
    {{true, 1024, kAll, true}, Order::kFixed},
    {{false, 0, 4, true}, Order::kFixed},
}};
constexpr std::size_t kStarts = 4;  ///< schedules with own ports from which banks are chosen
constexpr int kRepeats = 4;         ///< choices from the best schedule so far, at most
constexpr u64 kSeeds = 16;          ///< choices of banks for each of these schedules

/// A step that could come next.
struct Candidate {
  int step;
  const isa::Operation* operation;
  unsigned waits;  ///< units that it must wait for, one bit each
  bool barrier;    ///< `Pass::barrier` must issue before it so that the ring is free
  u64 earliest;    ///< from when on its unit is idle: no later choice makes it issue before
  u64 start;       ///< when it would issue
  u64 end;         ///< when its unit would be idle again

  [[nodiscard]] bool on_main() const { return operation->unit == isa::Unit::kMain; }
};

/// A step as it would issue next, and what could stand for it.
struct Options {
  std::array<Candidate, 2> forms;
  int count;
};

/// A work polynomial for a polynomial that has none yet.
struct Taken {
  int poly;
  int slot;
};

/// One pass over the steps of a problem under one policy.
class Pass {
 public:
  /// @param order  of the steps; none: that of the problem
  Pass(const Problem& problem, const Dependences* dependences, const Policy& policy, Memory memory,
       std::vector<int> order = {})
      : problem_(problem),
        machine_(*problem.machine),
        dependences_(dependences),
        policy_(policy),
        memory_(std::move(memory)),
        timeline_(machine_),
        pending_(std::move(order)),
        rank_(problem.steps.size()) {
    if (pending_.empty()) {
      pending_.resize(problem.steps.size());
      std::iota(pending_.begin(), pending_.end(), 0);
    }
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      rank_[pending_[i]] = static_cast<int>(i);
    }
  }

  /// The schedule; nothing where this policy runs out of memory, or would take more cycles or
  /// instructions than these.
  std::optional<Schedule> run(u64 most_cycles, std::size_t most_instructions);

 private:
  [[nodiscard]] u64 least_end(const Candidate& each) const;
  bool load();
  void count_uses();
  [[nodiscard]] std::optional<Candidate> choose(u64 most_cycles);
  [[nodiscard]] bool is_too_late(const Options& options, u64 most_cycles) const;
  void find_main_needed();
  [[nodiscard]] const Candidate& faster(const Options& options) const;
  [[nodiscard]] bool fixed(int step) const {
    return !policy_.equivalents || problem_.steps[step].source->equivalent == nullptr;
  }
  void count_work();
  [[nodiscard]] bool ends_in_time(const Candidate& last, u64 most_cycles);
  [[nodiscard]] bool find_slots(int step);
  [[nodiscard]] std::optional<Options> options_of(int step);
  [[nodiscard]] Instruction placed(int step) const;
  [[nodiscard]] Mask mask_of(const Candidate& each) const {
    return problem_.steps[each.step].source->instruction.mask;
  }
  [[nodiscard]] Candidate candidate(int step, const Instruction& instruction,
                                    const Outline& outline) const;
  [[nodiscard]] Instruction barrier() const;
  void issue(const Candidate& chosen);
  u64 append(int step, const Instruction& instruction);
  void finish(int step);

  const Problem& problem_;
  const Machine& machine_;
  const Dependences* dependences_;  // null where steps are taken in their order
  Policy policy_;
  Memory memory_;
  Timeline timeline_;
  Schedule schedule_;
  std::vector<int> pending_;                           // steps left, in the given order
  std::vector<int> ready_;                             // those of them that wait for none
  std::vector<int> rank_;                              // by step: its position in that order
  std::vector<int> waiting_;                           // by step: those it must still wait for
  std::vector<std::array<int, kMaxRpaus>> uses_left_;  // by polynomial and RPAU
  std::vector<Taken> taken_;                           // slots that a step would take
  std::vector<Options> options_;
  std::vector<const Candidate*> candidates_;
  std::array<u64, kMaxRpaus> main_needed_{};
  // By unit and RPAU: cycles of the steps left that no other unit may do.
  std::array<std::array<u64, kMaxRpaus>, isa::kUnits> work_left_{};
  u64 sending_left_ = 0;  // cycles of the steps left that send, one after the other
  std::optional<Instruction> last_sender_;
};

/// The first cycle in which the schedule can end if a step issues as it is.
u64 Pass::least_end(const Candidate& each) const {
  return dependences_ == nullptr ? each.end
                                 : std::max(each.end, each.start + dependences_->least[each.step]);
}

std::optional<Schedule> Pass::run(u64 most_cycles, std::size_t most_instructions) {
  count_uses();
  count_work();
  if (!load()) {
    return std::nullopt;
  }
  const int count = static_cast<int>(problem_.steps.size());
  waiting_ = dependences_ != nullptr ? dependences_->predecessors : std::vector<int>(count, 0);
  for (const int step : pending_) {
    if (waiting_[step] == 0) {
      ready_.push_back(step);
    }
  }
  while (!pending_.empty()) {
    const std::optional<Candidate> chosen = choose(most_cycles);
    if (!chosen || least_end(*chosen) > most_cycles ||
        schedule_.issued.size() >= most_instructions) {
      return std::nullopt;
    }
    pending_.erase(std::find(pending_.begin(), pending_.end(), chosen->step));
    ready_.erase(std::find(ready_.begin(), ready_.end(), chosen->step));
    issue(*chosen);
    finish(chosen->step);
    if (!ends_in_time(*chosen, most_cycles)) {
      return std::nullopt;
    }
  }
  const Instruction halt{&operation_of(static_cast<int>(isa::Opcode::kHalt)), 0, {}, 0};
  schedule_.cycles = append(kNone, halt);
  if (schedule_.cycles > most_cycles || schedule_.issued.size() > most_instructions) {
    return std::nullopt;
  }
  schedule_.slots = memory_.slots();
  schedule_.peak = memory_.peak();
  return std::move(schedule_);
}

/// Counts the accesses to each polynomial in each RPAU; one that is kept has one more.
void Pass::count_uses() {
  uses_left_.assign(problem_.polys.size(), {});
  const auto add = [this](int poly, Mask mask) {
    for_each_rpau(mask, [&](int rpau) { ++uses_left_[poly][rpau]; });
  };
  for (const Step& step : problem_.steps) {
    for (const Access& access : step.accesses) {
      add(access.poly, access.touched());
    }
  }
  for (std::size_t poly = 0; poly < problem_.polys.size(); ++poly) {
    add(static_cast<int>(poly), problem_.polys[poly].kept);
  }
}

void Pass::count_work() {
  for (std::size_t step = 0; step < problem_.steps.size(); ++step) {
    const VirtualInstruction& source = *problem_.steps[step].source;
    const Instruction& instruction = source.instruction;
    const u64 latency = machine_.latency(*instruction.operation);
    if (fixed(static_cast<int>(step))) {
      auto& left = work_left_[static_cast<std::size_t>(instruction.operation->unit)];
      for_each_rpau(instruction.mask, [&](int rpau) { left[rpau] += latency; });
      sending_left_ += source.outline.source != kNone ? latency : 0;
    }
  }
}

/// Whether the units of the step that was just issued can still do all that is left for them.
bool Pass::ends_in_time(const Candidate& last, u64 most_cycles) {
  const isa::Unit unit = last.operation->unit;
  auto& left = work_left_[static_cast<std::size_t>(unit)];
  const bool counted = fixed(last.step);
  const u64 latency = counted ? machine_.latency(*last.operation) : 0;
  bool in_time = true;
  for_each_rpau(mask_of(last), [&](int rpau) {
    left[rpau] -= latency;
    in_time = in_time && timeline_.idle_from(unit, rpau) + left[rpau] <= most_cycles;
  });
  if (counted && problem_.steps[last.step].source->outline.source != kNone) {
    sending_left_ -= latency;
    in_time = in_time && timeline_.ring_idle_from() + sending_left_ <= most_cycles;
  }
  return in_time;
}

/// Assigns slots to resident polynomials: the slot where they are already, or else a free one.
bool Pass::load() {
  for (const bool pinned : {true, false}) {
    for (std::size_t i = 0; i < problem_.polys.size(); ++i) {
      const Poly& poly = problem_.polys[i];
      if (poly.resident == 0 || (poly.pinned != kNone) != pinned) {
        continue;
      }
      const int local = static_cast<int>(i);
      const int slot = pinned ? poly.pinned : memory_.find(local, poly.resident);
      if (slot == kNone) {
        return false;
      }
      memory_.take(local, slot, poly.resident);
    }
  }
  return true;
}

/// Of the steps that could start about first, the one with the highest priority; nothing where no
/// step can start, or the schedule can no longer end in time.
std::optional<Candidate> Pass::choose(u64 most_cycles) {
  options_.clear();
  const bool all = policy_.lookahead == kAll;
  int looked_at = 0;
  for (const int step : all ? ready_ : pending_) {
    if (!all && looked_at++ == policy_.lookahead) {
      break;
    }
    if (waiting_[step] == 0) {
      if (std::optional<Options> options = options_of(step)) {
        if (is_too_late(*options, most_cycles)) {
          return std::nullopt;
        }
        options_.push_back(*options);
      }
    }
  }
  if (options_.empty()) {
    return std::nullopt;
  }
  find_main_needed();
  candidates_.clear();
  u64 horizon = std::numeric_limits<u64>::max();
  for (const Options& options : options_) {
    candidates_.push_back(&faster(options));
    horizon = std::min(horizon, candidates_.back()->start);
  }
  horizon += policy_.slack;
  const auto priority = [this](const Candidate& each) {
    return policy_.longest_path ? static_cast<i64>(dependences_->path[each.step])
                                : -static_cast<i64>(rank_[each.step]);
  };
  const Candidate* best = nullptr;
  for (const Candidate* each : candidates_) {
    if (each->start <= horizon && (best == nullptr || priority(*each) > priority(*best))) {
      best = each;
    }
  }
  return *best;
}

/// Whether the schedule cannot end in time, however soon the step issues.
bool Pass::is_too_late(const Options& options, u64 most_cycles) const {
  if (dependences_ == nullptr) {
    return false;
  }
  u64 earliest = options.forms[0].earliest;
  if (options.count > 1) {
    earliest = std::min(earliest, options.forms[1].earliest);
  }
  return earliest + dependences_->least[options.forms[0].step] > most_cycles;
}

/// Finds when the main unit is needed first in each RPAU for a step that only it can do.
void Pass::find_main_needed() {
  main_needed_.fill(kEver);
  for (const Options& each : options_) {
    const Candidate& bound = each.forms[0];
    if (each.count == 1 && bound.on_main()) {
      for_each_rpau(mask_of(bound), [&](int rpau) {
        main_needed_[rpau] = std::min(main_needed_[rpau], bound.start);
      });
    }
  }
}

/// Of main and dyadic unit the one that is done first, if the main one is not needed for a step
/// that only it can do.
const Candidate& Pass::faster(const Options& options) const {
  if (options.count == 1) {
    return options.forms[0];
  }
  const int first = options.forms[0].on_main() ? 0 : 1;
  const Candidate& main = options.forms[first];
  const Candidate& other = options.forms[1 - first];
  bool needed = false;
  for_each_rpau(mask_of(main), [&](int rpau) { needed = needed || main_needed_[rpau] < main.end; });
  return needed || other.end < main.end ? other : main;
}

/// Finds a slot for every polynomial of a step that has no slot yet; false if no slot is free.
bool Pass::find_slots(int step) {
  taken_.clear();
  for (const Access& access : problem_.steps[step].accesses) {
    if (memory_.slots()[access.poly] == kNone) {
      const int slot = memory_.find(access.poly, problem_.polys[access.poly].placement);
      if (slot == kNone) {
        return false;
      }
      taken_.push_back({access.poly, slot});
    }
  }
  return true;
}

/// The step as it would issue next; nothing while there is no memory for its result.
std::optional<Options> Pass::options_of(int index) {
  if (!find_slots(index)) {
    return std::nullopt;
  }
  const VirtualInstruction& source = *problem_.steps[index].source;
  Instruction instruction = placed(index);
  Options options{{candidate(index, instruction, source.outline), {}}, 1};
  if (policy_.equivalents && source.equivalent != nullptr) {
    instruction.operation = source.equivalent;
    options.forms[1] = candidate(index, instruction, source.equivalent_outline);
    options.count = 2;
  }
  return options;
}

/// A step on the work polynomials that its polynomials have, or would take.
Instruction Pass::placed(int index) const {
  const Step& step = problem_.steps[index];
  Instruction made = step.source->instruction;
  const Outline& outline = step.source->outline;
  for (int i = 0; i < outline.count; ++i) {
    if (!outline.holds[i].poly) {
      continue;
    }
    const int operand = outline.holds[i].operand;
    const int poly = step.values[operand];
    const auto fresh = std::find_if(taken_.begin(), taken_.end(),
                                    [poly](const Taken& each) { return each.poly == poly; });
    made.values[operand] = fresh != taken_.end() ? fresh->slot : memory_.slots()[poly];
  }
  return made;
}

Candidate Pass::candidate(int step, const Instruction& instruction, const Outline& outline) const {
  const Timeline::Fit fit = timeline_.fit(instruction, outline);
  u64 start = fit.start;
  if (fit.ring) {
    start = std::max(start, timeline_.start_of(barrier()) + machine_.fetch_cycles);
  }
  const u64 end = start + machine_.latency(*instruction.operation);
  return {step, instruction.operation, fit.waits, fit.ring, fit.earliest, start, end};
}

/// Issues when the last sender has ended, whose RPAUs the next one may not share.
Instruction Pass::barrier() const {
  const Instruction& last = last_sender_.value();
  return {&operation_of(static_cast<int>(isa::Opcode::kNop)),
          last.mask,
          {},
          bit_of(last.operation->unit)};
}

void Pass::issue(const Candidate& chosen) {
  if (!find_slots(chosen.step)) {
    throw SchedulerError("a step that was chosen has no memory");
  }
  for (const Taken& each : taken_) {
    memory_.take(each.poly, each.slot, problem_.polys[each.poly].placement);
  }
  if (chosen.barrier) {
    append(chosen.step, barrier());
  }
  Instruction instruction = placed(chosen.step);
  instruction.operation = chosen.operation;
  instruction.waits = chosen.waits;
  const u64 start = append(chosen.step, instruction);
  if (instruction.source() != kNone) {
    last_sender_ = instruction;
  }
  const u64 end = start + machine_.latency(*instruction.operation);
  for (const Access& access : problem_.steps[chosen.step].accesses) {
    for_each_rpau(access.touched(), [&](int rpau) {
      if (--uses_left_[access.poly][rpau] == 0) {
        memory_.release(access.poly, rpau, end);
      }
    });
  }
}

u64 Pass::append(int step, const Instruction& instruction) {
  const u64 start = timeline_.issue(instruction);
  schedule_.issued.push_back({step, start, instruction});
  return start;
}

/// Lets those wait no longer for a step that did.
void Pass::finish(int step) {
  if (dependences_ != nullptr) {
    for (const int after : dependences_->successors[step]) {
      if (--waiting_[after] == 0) {
        ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), after,
                                       [this](int a, int b) { return rank_[a] < rank_[b]; }),
                      after);
      }
    }
  }
}

/// Whether a step may run on another unit.
bool has_choice(const Problem& problem) {
  return std::any_of(problem.steps.begin(), problem.steps.end(),
                     [](const Step& each) { return each.source->equivalent != nullptr; });
}

/// The policies that are tried where every polynomial has ports of its own, in this order.
std::vector<Policy> policies(const Problem& problem) {
  const bool choice = has_choice(problem);
  std::vector<Policy> found;
  for (const bool longest_path : {true, false}) {
    for (const u64 slack : {u64{0}, u64{1024}}) {
      found.push_back({longest_path, slack, kAll, false});
      if (choice) {
        found.push_back({longest_path, slack, kAll, true});
      }
    }
    found.push_back({longest_path, 0, 8, choice});
  }
  return found;
}

/// Those of `kAttempts` that differ for a problem, behind all policies where those are asked for.
std::vector<Attempt> attempts(const Problem& problem, bool all_policies) {
  const bool choice = has_choice(problem);
  std::vector<Attempt> found;
  const auto add = [&](Attempt each) {
    each.policy.equivalents = each.policy.equivalents && choice;
    if (std::find(found.begin(), found.end(), each) == found.end()) {
      found.push_back(each);
    }
  };
  if (all_policies) {
    for (const Policy& policy : policies(problem)) {
      add({policy, Order::kGiven});
    }
  }
  std::for_each(kAttempts.begin(), kAttempts.end(), add);
  return found;
}

/// The steps in the order in which a schedule issues them.
std::vector<int> order_of(const Schedule& schedule) {
  std::vector<int> order;
  for (const Issued& each : schedule.issued) {
    if (each.step != kNone && each.instruction.operation->operand_count != 0) {
      order.push_back(each.step);
    }
  }
  return order;
}

/// A problem whose polynomials have ports of their own.
class Unshared {
 public:
  explicit Unshared(const Problem& problem)
      : machine_(with_own_ports(*problem.machine)), problem_(problem) {
    problem_.machine = &machine_;
  }
  Unshared(const Unshared&) = delete;
  Unshared& operator=(const Unshared&) = delete;

  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// One schedule in sequential order.
  [[nodiscard]] std::optional<Schedule> first() const {
    Pass pass(problem_, nullptr, kSequential, Memory(problem_, anywhere(problem_)));
    return pass.run(kEver, problem_.machine->program_words);
  }

 private:
  Machine machine_;
  Problem problem_;
};

/// The search for the shortest schedule, which begins with one.
class Search {
 public:
  Search(const Problem& problem, Schedule first)
      : problem_(problem), dependences_(problem), best_(std::move(first)) {}

  /// Where every polynomial has ports of its own.
  void without_banks() {
    for (const Policy& policy : policies(problem_)) {
      attempt(policy, dependences_, anywhere(problem_), {});
    }
  }

  /// Where some share them: chooses banks from schedules without them, then from the best so far.
  void with_banks();

  [[nodiscard]] Schedule best() && { return std::move(best_); }

 private:
  void attempt(const Policy& policy, const Dependences& dependences, const Placement& placement,
               std::vector<int> order) {
    Pass pass(problem_, &dependences, policy, Memory(problem_, placement), std::move(order));
    if (auto found = pass.run(best_.cycles - 1, problem_.machine->program_words)) {
      best_ = *std::move(found);
    }
  }
  [[nodiscard]] std::vector<Schedule> starts() const;
  void choose_banks(const Schedule& from);

  const Problem& problem_;
  const Dependences dependences_;
  Schedule best_;
};

/// The shortest schedules of the problem if every polynomial had ports of its own.
std::vector<Schedule> Search::starts() const {
  const Unshared unshared(problem_);
  const Problem& free = unshared.problem();
  std::vector<Schedule> found;
  for (const Policy& policy : policies(free)) {
    Pass pass(free, &dependences_, policy, Memory(free, anywhere(free)));
    if (auto schedule = pass.run(best_.cycles - 1, free.machine->program_words)) {
      found.push_back(*std::move(schedule));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Schedule& a, const Schedule& b) { return a.cycles < b.cycles; });
  if (found.size() > kStarts) {
    found.resize(kStarts);
  }
  return found;
}

void Search::with_banks() {
  const std::vector<Schedule> starting = starts();
  for (const Schedule& start : starting) {
    if (start.cycles < best_.cycles) {
      choose_banks(start);
    }
  }
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Schedule from = best_;
    choose_banks(from);
    if (best_.cycles == from.cycles) {
      break;
    }
  }
}

void Search::choose_banks(const Schedule& from) {
  const Affinity affinity(problem_, from);
  const std::vector<int> order = order_of(from);
  Placement placement{{}, read_together(problem_), &affinity};
  std::set<std::vector<int>> tried;
  for (u64 seed = 0; seed < kSeeds; ++seed) {
    const Spreading spreading = spread(problem_, from, affinity, seed);
    if (!tried.insert(spreading.slots).second) {
      continue;  // its schedules were found already
    }
    placement.preferred = spreading.slots;
    std::optional<Dependences> fixed;
    if (spreading.conflicts < Affinity::kNever) {
      fixed.emplace(problem_, order, spreading.slots);
    }
    for (const Attempt& each : attempts(problem_, seed == 0)) {
      if (each.order != Order::kFixed) {
        attempt(each.policy, dependences_, placement,
                each.order == Order::kAgain ? order : std::vector<int>{});
      } else if (fixed) {
        attempt(each.policy, *fixed, placement, order);
      }
    }
  }
}

/// Whether no two polynomials that lie in one bank already are read at once.
bool can_be_read(const Problem& problem, const Placement& placement) {
  const auto bank_of = [&](int poly) {
    const int pinned = problem.polys[poly].pinned;
    return pinned == kNone ? kNone : problem.machine->banks[pinned];
  };
  for (std::size_t i = 0; i < problem.polys.size(); ++i) {
    const int bank = bank_of(static_cast<int>(i));
    const std::vector<int>& together = placement.together[i];
    if (bank != kNone && std::any_of(together.begin(), together.end(),
                                     [&](int other) { return bank_of(other) == bank; })) {
      return false;
    }
  }
  return true;
}

}  // namespace

Schedule shortest_schedule(const Problem& problem) {
  std::optional<Schedule> first = first_fit(problem);
  if (!first) {
    throw SchedulerError("the problem does not fit the device");
  }
  Search search(problem, *std::move(first));
  if (problem.machine->shares_ports()) {
    search.with_banks();
  } else {
    search.without_banks();
  }
  return std::move(search).best();
}

std::optional<Schedule> first_fit(const Problem& problem) {
  const std::optional<Schedule> alone = Unshared(problem).first();
  if (!alone || !problem.machine->shares_ports()) {
    return alone;
  }
  Placement placement{{}, read_together(problem), nullptr};
  if (!can_be_read(problem, placement)) {
    return std::nullopt;
  }
  const Affinity affinity(problem, *alone);
  auto slots = readable(problem, *alone, affinity);
  if (!slots) {
    return std::nullopt;
  }
  placement.preferred = *std::move(slots);
  Pass pass(problem, nullptr, kSequential, Memory(problem, placement));
  return pass.run(kEver, problem.machine->program_words);
}

int needed_polys(const Problem& problem) {
  Pass pass(problem, nullptr, kSequential, Memory::unlimited(problem));
  const std::optional<Schedule> found =
      pass.run(std::numeric_limits<u64>::max(), std::numeric_limits<std::size_t>::max());
  return found.value().peak;
}

}  // namespace ringsmith::scheduler
