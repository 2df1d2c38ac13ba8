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
      flights_(ports_ + machine.work_polys()),
      free_from_(flights_.size()) {}

template <typename Visit>
void Timeline::for_each_held(const Instruction& instruction, const Outline& outline,
                             Visit visit) const {
  for (int i = 0; i < outline.count; ++i) {
    const Outline::Hold& hold = outline.holds[i];
    if (!hold.poly) {
      visit(hold.operand == kNone ? kOperandC : kKeyPort, hold.mask);
      continue;
    }
    const int poly = instruction.values[hold.operand];
    visit(ports_ + poly, hold.mask);
    if (poly >= machine_.work_polys()) {  // of a memory without a limit
      continue;
    }
    const int bank = machine_.banks[poly];
    if (hold.reads_port) {
      visit(kBanks + 2 * bank, hold.mask);
    }
    if (hold.writes_port) {
      visit(kBanks + 2 * bank + 1, hold.mask);
    }
  }
}

u64 Timeline::idle_in(unsigned units, Mask mask) const {
  u64 start = ready_;
  for (unsigned rest = units; rest != 0; rest &= rest - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(rest));
    if (idle_everywhere_[unit] > start) {
      for_each_rpau(mask, [&](int rpau) { start = std::max(start, idle_[unit][rpau]); });
    }
  }
  return start;
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
  return std::max(start, idle_in(units, instruction.mask));
}

unsigned Timeline::conflicts(const Instruction& instruction) const {
  return conflicts_at(start_of(instruction), instruction, Outline(instruction));
}

Timeline::Fit Timeline::fit(const Instruction& instruction, const Outline& outline) const {
  const unsigned unit = bit_of(instruction.operation->unit);
  const u64 earliest = idle_in(instruction.waits | unit, instruction.mask);
  const unsigned waits = instruction.waits | conflicts_at(earliest, instruction, outline);
  u64 start = earliest;
  if (waits != instruction.waits) {
    start = idle_in(waits | unit, instruction.mask);
  }
  return {earliest, start, waits, outline.source != kNone && ring_idle_ > start};
}

unsigned Timeline::conflicts_at(u64 start, const Instruction& instruction,
                                const Outline& outline) const {
  unsigned units = 0;
  for_each_held(instruction, outline, [&](int place, Mask mask) {
    if (static_cast<std::size_t>(place) >= flights_.size() || free_from_[place] <= start) {
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
  for_each_held(instruction, Outline(instruction), [&](int place, Mask mask) {
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
  const auto name = [&] { return std::string(operation.name); };
  const Outline outline(instruction);
  const u64 start = start_of(instruction);
  if (cycles_) {
    throw SchedulerError(name() + " follows halt and can never issue");
  }
  if (conflicts_at(start, instruction, outline) != 0) {
    throw SchedulerError(name() + " touches what another unit still works on");
  }
  if (outline.source != kNone && ring_idle_ > start) {
    throw SchedulerError(name() + " sends to other RPAUs while another still does");
  }
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
  if (outline.source != kNone) {
    ring_idle_ = end;
    sender_ = instruction;
    sender_order_ = issued_;
  }
  auto& idle = idle_[static_cast<std::size_t>(operation.unit)];
  for_each_rpau(instruction.mask, [&](int rpau) { idle[rpau] = end; });
  u64& everywhere = idle_everywhere_[static_cast<std::size_t>(operation.unit)];
  everywhere = std::max(everywhere, end);
  for_each_held(instruction, outline, [&](int place, Mask mask) {
    if (static_cast<std::size_t>(place) >= flights_.size()) {
      flights_.resize(place + 1);
      free_from_.resize(place + 1);
    }
    Flights& flights = flights_[place];
    free_from_[place] = std::max(free_from_[place], end);
    for_each_rpau(mask, [&](int rpau) {
      flights.ends[rpau] = end;
      flights.units[rpau] = operation.unit;
      flights.orders[rpau] = issued_;
    });
  });
  return start;
}

}  // namespace ringsmith::scheduler
