#include "scheduler/timeline.h"

#include <algorithm>
#include <utility>

namespace ringsmith::scheduler {
namespace {

// The key store's read port, the selector of the main unit's operand c, then a read and a write
// port a bank.
constexpr int kKeyPort = 0;
constexpr int kOperandC = 1;
constexpr int kBanks = 2;

}  // namespace

Timeline::Timeline(const Machine& machine, std::vector<u64> arrivals)
    : machine_(machine),
      arrivals_(std::move(arrivals)),
      ready_(machine.fetch_cycles),
      ports_(kBanks + 2 * machine.bank_count()),
      flights_(ports_ + machine.work_polys()) {}

template <typename Visit>
void Timeline::for_each_held(const Instruction& instruction, Visit visit) const {
  const isa::Operation& operation = *instruction.operation;
  const int source = instruction.source();
  if (operation.takes_operand_c()) {
    visit(kOperandC, source == kNone ? instruction.mask : Mask{1} << source);
  }
  for (int i = 0; i < operation.operand_count; ++i) {
    const isa::Operand& operand = operation.operands[i];
    if (!operand.reads && !operand.writes) {
      continue;
    }
    const Mask here = accessed_in(operand, instruction);
    if (operand.kind != isa::Kind::kPoly) {
      visit(kKeyPort, here);
      continue;
    }
    const int poly = instruction.values[i];
    visit(ports_ + poly, here);
    if (poly >= machine_.work_polys()) {  // of a memory without a limit
      continue;
    }
    const int bank = machine_.banks[poly];
    if (operand.takes_read_port) {
      visit(kBanks + 2 * bank, here);
    }
    if (operand.writes) {
      visit(kBanks + 2 * bank + 1, here);
    }
  }
}

u64 Timeline::start_of(const Instruction& instruction) const {
  const isa::Operation& operation = *instruction.operation;
  u64 start = ready_;
  if (operation.opcode == isa::Opcode::kHalt) {
    for (const auto& unit : idle_) {
      start = std::max(start, *std::max_element(unit.begin(), unit.end()));
    }
    return start;
  }
  if (operation.opcode == isa::Opcode::kAwait && !arrivals_.empty() && instruction.values[0] > 0) {
    const auto count = static_cast<std::size_t>(instruction.values[0]);
    if (count > arrivals_.size()) {
      throw SchedulerError("await waits for more key polynomials than come");
    }
    start = std::max(start, arrivals_[count - 1]);
  }
  const unsigned units = instruction.waits | bit_of(operation.unit);  // the controller is idle
  for (unsigned rest = units; rest != 0; rest &= rest - 1) {
    const auto& idle = idle_[static_cast<std::size_t>(std::countr_zero(rest))];
    for_each_rpau(instruction.mask, [&](int rpau) { start = std::max(start, idle[rpau]); });
  }
  return start;
}

unsigned Timeline::conflicts(const Instruction& instruction) const {
  const u64 start = start_of(instruction);
  unsigned units = 0;
  for_each_held(instruction, [&](int place, Mask mask) {
    if (static_cast<std::size_t>(place) >= flights_.size() || flights_[place].until <= start) {
      return;
    }
    const Flights& flights = flights_[place];
    for_each_rpau(mask, [&](int rpau) {
      if (flights.ends[rpau] > start) {
        units |= bit_of(flights.units[rpau]);
      }
    });
  });
  return units;
}

bool Timeline::ring_conflict(const Instruction& instruction) const {
  return instruction.source() != kNone && ring_idle_ > start_of(instruction);
}

std::array<Mask, isa::kUnits> Timeline::exposed(const Instruction& instruction) const {
  const unsigned waits = instruction.waits | bit_of(instruction.operation->unit);
  std::array<Mask, isa::kUnits> found{};
  for_each_held(instruction, [&](int place, Mask mask) {
    if (static_cast<std::size_t>(place) >= flights_.size()) {
      return;
    }
    const Flights& flights = flights_[place];
    for_each_rpau(mask, [&](int rpau) {
      const isa::Unit unit = flights.units[rpau];
      if (flights.orders[rpau] != 0 && (waits & bit_of(unit)) == 0 &&
          may_run(unit, rpau, flights.orders[rpau])) {
        found[static_cast<std::size_t>(unit)] |= Mask{1} << rpau;
      }
    });
  });
  return found;
}

const Instruction* Timeline::exposed_sender(const Instruction& instruction) const {
  if (instruction.source() == kNone || sender_order_ == 0) {
    return nullptr;
  }
  const isa::Unit unit = sender_.operation->unit;
  const bool waits =
      ((instruction.waits | bit_of(instruction.operation->unit)) & bit_of(unit)) != 0;
  bool safe = waits && (sender_.mask & instruction.mask) != 0;
  for_each_rpau(sender_.mask,
                [&](int rpau) { safe = safe || !may_run(unit, rpau, sender_order_); });
  return safe ? nullptr : &sender_;
}

u64 Timeline::issue(const Instruction& instruction) {
  const isa::Operation& operation = *instruction.operation;
  const std::string name = operation.name;
  if (cycles_) {
    throw SchedulerError(name + " follows halt and can never issue");
  }
  if (conflicts(instruction) != 0) {
    throw SchedulerError(name + " touches what another unit still works on");
  }
  if (ring_conflict(instruction)) {
    throw SchedulerError(name + " sends to other RPAUs while another still does");
  }
  const u64 start = start_of(instruction);
  ready_ = start + machine_.fetch_cycles;
  ++issued_;
  for (unsigned rest = instruction.waits | bit_of(operation.unit); rest != 0; rest &= rest - 1) {
    auto& waited = waited_[static_cast<std::size_t>(std::countr_zero(rest))];
    for_each_rpau(instruction.mask, [&](int rpau) { waited[rpau] = issued_; });
  }
  if (operation.opcode == isa::Opcode::kHalt) {
    cycles_ = start;
  }
  if (operation.unit == isa::Unit::kControl) {
    return start;
  }
  const u64 end = start + machine_.latency(operation);
  if (instruction.source() != kNone) {
    ring_idle_ = end;
    sender_ = instruction;
    sender_order_ = issued_;
  }
  auto& idle = idle_[static_cast<std::size_t>(operation.unit)];
  for_each_rpau(instruction.mask, [&](int rpau) { idle[rpau] = end; });
  for_each_held(instruction, [&](int place, Mask mask) {
    if (static_cast<std::size_t>(place) >= flights_.size()) {
      flights_.resize(place + 1);
    }
    Flights& flights = flights_[place];
    flights.until = std::max(flights.until, end);
    for_each_rpau(mask, [&](int rpau) {
      flights.ends[rpau] = end;
      flights.units[rpau] = operation.unit;
      flights.orders[rpau] = issued_;
    });
  });
  return start;
}

}  // namespace ringsmith::scheduler
