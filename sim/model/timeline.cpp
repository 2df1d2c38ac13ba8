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

}  // namespace

Timeline::Timeline(const Design& design, Timing timing)
    : design_(design),
      timing_(std::move(timing)),
      ready_(timing_.fetch_cycles),
      flights_(static_cast<std::size_t>(design.rpaus) * (design.work_polys + 1)) {
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
    const std::vector<int> polys = touched(instruction, rpau);
    for (const int poly : polys) {
      const Flight& last = flight(rpau, poly);
      if (last.end > start) {
        const std::string what =
            poly == kKeyPort ? "reads the key store" : "touches p" + std::to_string(poly);
        refuse_hazard(what + " of RPAU " + std::to_string(rpau), start, last.index, last.end);
      }
    }
    for (const int poly : polys) {
      flight(rpau, poly) = {end, index};
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
  for (const int rpau : instruction.rpaus) {
    start = std::max(start, idle(operation.unit, rpau));  // the controller is idle from cycle 0
    for (const isa::Unit unit : instruction.waits) {
      start = std::max(start, idle(unit, rpau));
    }
  }
  return start;
}

u64& Timeline::idle(isa::Unit unit, int rpau) {
  return idle_.at(static_cast<std::size_t>(unit)).at(rpau);
}

u64 Timeline::idle(isa::Unit unit, int rpau) const {
  return idle_.at(static_cast<std::size_t>(unit)).at(rpau);
}

Timeline::Flight& Timeline::flight(int rpau, int poly) {
  const int place = poly == kKeyPort ? design_.work_polys : poly;
  return flights_.at(static_cast<std::size_t>(rpau) * (design_.work_polys + 1) + place);
}

}  // namespace ringsmith::sim
