#include "model/timeline.h"

#include <algorithm>
#include <string>

namespace ringsmith::sim {
namespace {

[[noreturn]] void refuse_hazard(const std::string& what, u64 start, std::size_t other, u64 end) {
  throw ModelError(what + " in cycle " + std::to_string(start) + ", and instruction " +
                   std::to_string(other) + " works on it up to cycle " + std::to_string(end - 1) +
                   ": set the wait bit of that instruction's unit, or issue this one later");
}

std::string use_of(const Held& held) {
  const std::string index = std::to_string(held.index);
  switch (held.resource) {
    case Resource::kPoly:
      return "touches p" + index;
    case Resource::kKeyPort:
      return "reads the key store";
    case Resource::kOperandC:
      return "takes the selector of operand c";
    case Resource::kReadPort:
      return "reads bank " + index;
    case Resource::kWritePort:
      return "writes bank " + index;
  }
  throw ModelError("the resource does not exist");
}

}  // namespace

Timeline::Timeline(const Design& design, Timing timing, std::optional<Arrivals> arrivals)
    : design_(design),
      timing_(std::move(timing)),
      arrivals_(std::move(arrivals)),
      ready_(timing_.fetch_cycles),
      flights_(static_cast<std::size_t>(design.rpaus) * places()) {
  idle_.fill(std::vector<u64>(design.rpaus, 0));
  for (const isa::Operation& operation : isa::kOperations) {
    if (static_cast<std::size_t>(operation.opcode) >= timing_.latencies.size()) {
      throw ModelError(std::string("no latency is given for ") + operation.name);
    }
  }
}

u64 Timeline::issue(const Instruction& instruction, std::size_t index) {
  const isa::Operation& operation = *instruction.operation;
  const u64 start = start_of(instruction);
  ready_ = start + timing_.fetch_cycles;
  if (arrivals_) {
    check_arrived(instruction);
  }
  if (operation.unit == isa::Unit::kControl) {
    return start;
  }
  const u64 end = start + timing_.latencies.at(static_cast<std::size_t>(operation.opcode));
  if (source_of(instruction)) {
    if (ring_.end > start) {
      refuse_hazard("sends to other RPAUs", start, ring_.index, ring_.end);
    }
    ring_ = {end, index};
  }
  for (const int rpau : instruction.rpaus) {
    const std::vector<Held> all = held(instruction, rpau, design_);
    for (const Held& each : all) {
      const Flight& last = flight(rpau, each);
      if (last.end > start) {
        refuse_hazard(use_of(each) + " of RPAU " + std::to_string(rpau), start, last.index,
                      last.end);
      }
    }
    for (const Held& each : all) {
      flight(rpau, each) = {end, index};
    }
    idle(operation.unit, rpau) = end;
  }
  return start;
}

u64 Timeline::start_of(const Instruction& instruction) const {
  const isa::Operation& operation = *instruction.operation;
  u64 start = ready_;
  if (operation.opcode == isa::Opcode::kHalt) {
    for (const std::vector<u64>& unit : idle_) {
      start = std::max(start, *std::max_element(unit.begin(), unit.end()));
    }
    return start;
  }
  if (operation.opcode == isa::Opcode::kAwait) {
    start = std::max(start, arrival(static_cast<std::size_t>(instruction[isa::kArrived])));
  }
  for (const int rpau : instruction.rpaus) {
    start = std::max(start, idle(operation.unit, rpau));  // the controller is idle from cycle 0
    for (const isa::Unit unit : instruction.waits) {
      start = std::max(start, idle(unit, rpau));
    }
  }
  return start;
}

u64 Timeline::arrival(std::size_t count) const {
  if (!arrivals_ || count == 0) {
    return 0;
  }
  if (count > arrivals_->cycles.size()) {
    throw ModelError("waits for key polynomial " + std::to_string(count) + " of the run, and " +
                     std::to_string(arrivals_->cycles.size()) + " come: send them all");
  }
  return arrivals_->cycles[count - 1] + arrivals_->latency;
}

void Timeline::check_arrived(const Instruction& instruction) {
  const isa::Operation& operation = *instruction.operation;
  if (operation.opcode == isa::Opcode::kAwait) {
    awaited_ = std::max(awaited_, static_cast<std::size_t>(instruction[isa::kArrived]));
  }
  for (int i = 0; i < operation.operand_count; ++i) {
    if (operation.operands[i].kind != isa::Kind::kKeyPoly) {
      continue;
    }
    for (const int rpau : instruction.rpaus) {
      const std::pair place(rpau, instruction.values[i]);
      const auto& places = arrivals_->places;
      const auto found = std::find(places.begin(), places.end(), place);
      const auto position = static_cast<std::size_t>(found - places.begin());
      if (found != places.end() && position >= awaited_) {
        throw ModelError("reads key" + std::to_string(place.second) + " of RPAU " +
                         std::to_string(rpau) + ", polynomial " + std::to_string(position + 1) +
                         " of those that come while the program runs, and it has waited for " +
                         std::to_string(awaited_) + ": await it first");
      }
    }
  }
}

u64& Timeline::idle(isa::Unit unit, int rpau) {
  return idle_.at(static_cast<std::size_t>(unit)).at(rpau);
}

u64 Timeline::idle(isa::Unit unit, int rpau) const {
  return idle_.at(static_cast<std::size_t>(unit)).at(rpau);
}

int Timeline::places() const { return design_.work_polys() + 2 + 2 * design_.bank_count(); }

Timeline::Flight& Timeline::flight(int rpau, const Held& held) {
  const auto place = [&] {
    const int others = design_.work_polys();
    switch (held.resource) {
      case Resource::kPoly:
        return held.index;
      case Resource::kKeyPort:
        return others;
      case Resource::kOperandC:
        return others + 1;
      case Resource::kReadPort:
        return others + 2 + 2 * held.index;
      case Resource::kWritePort:
        return others + 3 + 2 * held.index;
    }
    throw ModelError("the resource does not exist");
  };
  return flights_.at(static_cast<std::size_t>(rpau) * places() + place());
}

}  // namespace ringsmith::sim
