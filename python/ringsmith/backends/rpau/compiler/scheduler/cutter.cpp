#include "scheduler/cutter.h"

#include <algorithm>
#include <map>
#include <set>

#include "scheduler/list_scheduler.h"

namespace ringsmith::scheduler {
namespace {

/// Appends a polynomial where any RPAU is left.
void append(Masks& masks, int poly, Mask mask) {
  if (mask != 0) {
    masks.emplace_back(poly, mask);
  }
}

/// An entry for each, that of the last segment where it still holds it; the lowest free ones else.
Entries entries_for(const std::vector<int>& wanted, const Entries& held) {
  const std::map<int, int> places(held.begin(), held.end());
  Entries found;
  std::vector<int> fresh;
  std::set<int> taken;
  for (const int each : wanted) {
    if (const auto old = places.find(each); old != places.end()) {
      found.push_back(*old);
      taken.insert(old->second);
    } else {
      fresh.push_back(each);
    }
  }
  int place = 0;
  for (const int each : fresh) {
    while (taken.contains(place)) {
      ++place;
    }
    found.emplace_back(each, place++);
  }
  return found;
}

}  // namespace

void Program::check() const {
  machine.check();
  if (inputs.size() != placement.size() || outputs.size() != placement.size()) {
    throw SchedulerError("placement, inputs and outputs need an entry for every polynomial");
  }
  const int polys = static_cast<int>(placement.size());
  for (const VirtualInstruction& each : instructions) {
    for (const Access& access : each.accesses) {
      if (access.poly < 0 || access.poly >= polys) {
        throw SchedulerError(std::string(each.instruction.operation->name) + ": polynomial " +
                             std::to_string(access.poly) + " does not exist");
      }
    }
  }
}

Cutter::Cutter(Program program) : program_(std::move(program)) {
  program_.check();
  const std::size_t polys = program_.placement.size();
  touches_.resize(polys);
  for (int index = 0; index < count(); ++index) {
    for (const Access& access : program_.instructions[index].accesses) {
      touches_[access.poly].push_back({index, access.touched()});
    }
  }
  for (std::vector<Touch>& touches : touches_) {
    Mask later = 0;
    for (auto touch = touches.rbegin(); touch != touches.rend(); ++touch) {
      touch->later = later |= touch->later;
    }
  }
  before_ = program_.inputs;
  on_host_ = program_.inputs;
  on_device_.assign(polys, 0);
  slots_.assign(polys, kNone);
  find_ends();
  find_together();
}

/// Finds for each polynomial the last instruction that reads it at once with each other one.
void Cutter::find_together() {
  together_.resize(touches_.size());
  for (int index = 0; index < count(); ++index) {
    const std::vector<Access>& accesses = program_.instructions[index].accesses;
    for (const Access& one : accesses) {
      for (const Access& other : accesses) {
        if (one.reads != 0 && other.reads != 0 && one.poly < other.poly) {
          together_[one.poly][other.poly] = index;
        }
      }
    }
  }
}

/// Finds the positions before which every polynomial exists in all its RPAUs or in none.
///
/// Cut elsewhere, a polynomial's slot could be taken in an RPAU where it comes to be only later.
void Cutter::find_ends() {
  std::vector<bool> partial(count() + 1, false);
  for (std::size_t poly = 0; poly < touches_.size(); ++poly) {
    if (program_.inputs[poly] != 0 || touches_[poly].empty()) {
      continue;
    }
    Mask born = 0;
    int last = 0;
    for (const Touch& touch : touches_[poly]) {
      for (const Access& access : program_.instructions[touch.instruction].accesses) {
        if (access.poly == static_cast<int>(poly) && (access.touched() & ~born) != 0) {
          born |= access.touched();
          last = touch.instruction;
        }
      }
    }
    const int first = touches_[poly].front().instruction;
    std::fill(partial.begin() + first + 1, partial.begin() + last + 1, true);
  }
  for (int end = 1; end <= count(); ++end) {
    if (!partial[end]) {
      ends_.push_back(end);
    }
  }
}

std::vector<int> Cutter::ends_left() const {
  std::vector<int> ends(std::upper_bound(ends_.begin(), ends_.end(), position_), ends_.end());
  if (ends.empty()) {
    ends.push_back(position_);
  }
  return ends;
}

std::optional<int> Cutter::next() {
  std::optional<std::pair<int, Problem>> found;
  for (const Terms terms : {kBest, kMoved, kClose}) {
    if (found = longest(terms); found) {
      break;
    }
  }
  if (!found) {
    return std::nullopt;
  }
  const auto& [end, problem] = *found;
  Run run{position_,
          shortest_schedule(problem),
          {},
          stored(isa::Kind::kKeyPoly, end),
          stored(isa::Kind::kSeed, end),
          {},
          {}};
  spill(problem);
  for (std::size_t i = 0; i < problem.polys.size(); ++i) {
    const Poly& poly = problem.polys[i];
    append(run.loads, poly.id, poly.pinned == kNone ? poly.resident : 0);
    if (run.schedule.slots[i] != kNone) {
      run.slots.emplace_back(poly.id, run.schedule.slots[i]);
    }
  }
  runs_.push_back(std::move(run));
  const int length = end - position_;
  advance(end, problem);
  return length;
}

/// Has the host read after the last segment what the next one does not find on the device.
void Cutter::spill(const Problem& problem) {
  if (runs_.empty()) {
    return;
  }
  std::vector<Mask> stay(program_.placement.size(), 0);
  for (const Poly& poly : problem.polys) {
    stay[poly.id] = poly.pinned != kNone ? poly.resident : 0;
  }
  Masks& stores = runs_.back().stores;
  stores.clear();
  for (const auto& [poly, mask] : left_) {
    append(stores, poly, mask & ~stay[poly] & ~on_host_[poly]);
  }
  for (const auto& [poly, mask] : stores) {
    on_host_[poly] |= mask;
  }
}

/// Remembers what the segment that was just added has done.
void Cutter::advance(int end, const Problem& problem) {
  for (int index = position_; index < end; ++index) {
    for (const Access& access : program_.instructions[index].accesses) {
      on_host_[access.poly] &= ~access.writes;
      before_[access.poly] |= access.touched();
    }
  }
  std::fill(on_device_.begin(), on_device_.end(), 0);
  left_.clear();
  for (const Poly& poly : problem.polys) {
    on_device_[poly.id] = poly.kept;
    append(left_, poly.id, poly.kept);
  }
  for (const auto& [poly, slot] : runs_.back().slots) {
    slots_[poly] = slot;
  }
  position_ = end;
  begun_ = true;
  if (done()) {
    Masks& stores = runs_.back().stores;
    for (const auto& [poly, mask] : left_) {
      append(stores, poly, mask & program_.outputs[poly] & ~on_host_[poly]);
    }
  }
}

Shortage Cutter::shortage() const {
  const int end = ends_left().front();
  const int most = count() * isa::kMaxOperands;
  return {static_cast<int>(wanted(isa::Kind::kKeyPoly, end, most).size()),
          static_cast<int>(wanted(isa::Kind::kSeed, end, most).size()),
          needed_polys(problem(end, kClose))};
}

/// The furthest end of a segment from here on that fits, and that segment.
std::optional<std::pair<int, Problem>> Cutter::longest(Terms terms) const {
  const std::vector<int> ends = ends_left();
  if (auto all = fitting(ends.back(), terms)) {
    return std::pair(ends.back(), *std::move(all));
  }
  std::optional<std::pair<int, Problem>> found;
  std::size_t low = 0;  // the first `low` of them fit
  std::size_t high = ends.size();
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    if (auto fits = fitting(ends[middle - 1], terms)) {
      low = middle;
      found.emplace(ends[middle - 1], *std::move(fits));
    } else {
      high = middle;
    }
  }
  return found;
}

/// The segment up to `end`; nothing if it does not fit.
std::optional<Problem> Cutter::fitting(int end, Terms terms) const {
  const Machine& machine = program_.machine;
  const auto exceeds = [&](isa::Kind kind, int most) {
    return static_cast<int>(wanted(kind, end, most).size()) > most;
  };
  if (end - position_ >= machine.program_words || exceeds(isa::Kind::kKeyPoly, machine.key_polys) ||
      exceeds(isa::Kind::kSeed, machine.seeds)) {
    return std::nullopt;
  }
  Problem run = problem(end, terms);
  return first_fit(run) ? std::optional(std::move(run)) : std::nullopt;
}

/// The segment up to `end`.
Problem Cutter::problem(int end, Terms terms) const {
  Problem made{&program_.machine, {}, {}, {}};
  std::vector<int> local(program_.placement.size(), kNone);
  for (int index = position_; index < end; ++index) {
    const VirtualInstruction& each = program_.instructions[index];
    Step step{&each, each.instruction.values, each.accesses};
    for (Access& access : step.accesses) {
      int& number = local[access.poly];
      if (number == kNone) {
        number = static_cast<int>(made.polys.size());
        made.polys.push_back({access.poly, program_.placement[access.poly], 0, 0, kNone});
      }
      made.polys[number].resident |= access.touched();  // so far: where it is touched
      access.poly = number;
    }
    const isa::Operation& operation = *each.instruction.operation;
    for (int i = 0; i < operation.operand_count; ++i) {
      if (operation.operands[i].kind == isa::Kind::kPoly) {
        step.values[i] = local[step.values[i]];
      }
    }
    made.steps.push_back(std::move(step));
  }
  for (Poly& poly : made.polys) {
    const Mask touched = poly.resident;
    poly.resident = touched & before_[poly.id];
    poly.kept = touched & (touched_later(poly.id, end) | program_.outputs[poly.id]);
    if (terms.stay && poly.resident != 0 && (poly.resident & ~on_device_[poly.id]) == 0) {
      poly.pinned = slots_[poly.id];
    }
  }
  if (terms.apart) {
    made.apart = apart_after(end, made, local);
  }
  return made;
}

/// Pairs of kept polynomials of a segment that an instruction after it reads at once, in the
/// segment's numbers.
std::vector<std::pair<int, int>> Cutter::apart_after(int end, const Problem& run,
                                                     const std::vector<int>& local) const {
  const auto is_kept = [&](int poly) {
    return local[poly] != kNone && run.polys[local[poly]].kept != 0;
  };
  std::vector<std::pair<int, int>> found;
  for (const Poly& poly : run.polys) {
    for (const auto& [other, last] : together_[poly.id]) {
      if (last >= end && poly.kept != 0 && is_kept(other)) {
        found.emplace_back(local[poly.id], local[other]);
      }
    }
  }
  return found;
}

/// The RPAUs that touch a polynomial from an instruction on.
Mask Cutter::touched_later(int poly, int end) const {
  const std::vector<Touch>& touches = touches_[poly];
  const auto first = std::lower_bound(
      touches.begin(), touches.end(), end,
      [](const Touch& touch, int instruction) { return touch.instruction < instruction; });
  return first == touches.end() ? 0 : first->later;
}

/// What the instructions up to `end` have as operands of a kind, ascending; the search stops once
/// there are more than `most`.
std::vector<int> Cutter::wanted(isa::Kind kind, int end, int most) const {
  std::vector<int> found;
  for (int index = position_; index < end; ++index) {
    const Instruction& each = program_.instructions[index].instruction;
    for (int i = 0; i < each.operation->operand_count; ++i) {
      if (each.operation->operands[i].kind != kind) {
        continue;
      }
      const auto place = std::lower_bound(found.begin(), found.end(), each.values[i]);
      if (place == found.end() || *place != each.values[i]) {
        found.insert(place, each.values[i]);
      }
    }
    if (static_cast<int>(found.size()) > most) {
      break;
    }
  }
  return found;
}

/// Positions of a segment's keys or seeds in their store.
Entries Cutter::stored(isa::Kind kind, int end) const {
  const Entries none;
  const bool keys = kind == isa::Kind::kKeyPoly;
  const Entries& held = runs_.empty() ? none : keys ? runs_.back().keys : runs_.back().seeds;
  return entries_for(wanted(kind, end, program_.instructions.size() * isa::kMaxOperands), held);
}

}  // namespace ringsmith::scheduler
