#include "scheduler/program.h"

#include <algorithm>

namespace ringsmith::scheduler {
namespace {

constexpr std::size_t kOpcodes = std::size_t{1} << isa::kOpcode.width;

/// Adds RPAUs to what is known of a polynomial, or to the end.
void add_access(std::vector<Access>& accesses, int poly, Mask reads, Mask writes) {
  const auto found = std::find_if(accesses.begin(), accesses.end(),
                                  [poly](const Access& each) { return each.poly == poly; });
  if (found == accesses.end()) {
    accesses.push_back({poly, reads, writes});
  } else {
    found->reads |= reads;
    found->writes |= writes;
  }
}

}  // namespace

const isa::Operation& operation_of(int opcode) {
  const auto* const found = std::find_if(
      isa::kOperations.begin(), isa::kOperations.end(),
      [opcode](const isa::Operation& each) { return static_cast<int>(each.opcode) == opcode; });
  if (found == isa::kOperations.end()) {
    throw SchedulerError("there is no opcode " + std::to_string(opcode));
  }
  return *found;
}

void Machine::check() const {
  if (rpaus < 1 || rpaus > kMaxRpaus) {
    throw SchedulerError(std::to_string(rpaus) + " RPAUs are not in 1 … " +
                         std::to_string(kMaxRpaus));
  }
  if (banks.empty() || *std::min_element(banks.begin(), banks.end()) < 0 ||
      bank_count() > work_polys()) {
    throw SchedulerError("banks must number those of one work polynomial or more from 0");
  }
  if (latencies.size() < kOpcodes || equivalents.size() < kOpcodes) {
    throw SchedulerError("latencies and equivalents need an entry for every opcode");
  }
}

int Instruction::source() const {
  for (int i = 0; i < operation->operand_count; ++i) {
    if (operation->operands[i].kind == isa::Kind::kRpau) {
      return values[i];
    }
  }
  return kNone;
}

Mask Instruction::converted() const {
  std::array<int, 2> ends{1, 0};  // the first RPAU, and the last one: none yet
  std::size_t end = 0;
  for (int i = 0; i < operation->operand_count; ++i) {
    if (operation->operands[i].kind == isa::Kind::kConverted) {
      ends.at(end++) = values[i];
    }
  }
  return (Mask{2} << ends[1]) - (Mask{1} << ends[0]);
}

Mask accessed_in(const isa::Operand& operand, const Instruction& instruction) {
  const int source = instruction.source();
  const Mask sends = source == kNone ? 0 : Mask{1} << source;
  switch (operand.where) {
    case isa::Where::kAll:
      return instruction.mask;
    case isa::Where::kSource:
      return sends;
    case isa::Where::kOthers:
      return instruction.mask & ~sends;
    case isa::Where::kSources:
      return instruction.converted();
  }
  throw SchedulerError("the operand's polynomial does not exist");
}

Outline::Outline(const Instruction& instruction) : source(instruction.source()) {
  const isa::Operation& operation = *instruction.operation;
  if (operation.takes_operand_c()) {
    holds[count++] = {kNone, false, false, false,
                      source == kNone ? instruction.mask : Mask{1} << source};
  }
  for (int i = 0; i < operation.operand_count; ++i) {
    const isa::Operand& operand = operation.operands[i];
    if (operand.reads || operand.writes) {
      const bool poly = operand.kind == isa::Kind::kPoly;
      holds[count++] = {i, poly, poly && operand.takes_read_port, poly && operand.writes,
                        accessed_in(operand, instruction)};
    }
  }
}

VirtualInstruction virtual_instruction(const Machine& machine, int opcode, Mask mask,
                                       const Values& values) {
  const isa::Operation& operation = operation_of(opcode);
  if (mask >> machine.rpaus != 0) {
    throw SchedulerError(std::string(operation.name) + ": the mask names an RPAU above " +
                         std::to_string(machine.rpaus - 1));
  }
  const Instruction instruction{&operation, mask, values, 0};
  const int source = instruction.source();
  if (source != kNone && (source < 0 || source >= machine.rpaus)) {
    throw SchedulerError(std::string(operation.name) + ": RPAU " + std::to_string(source) +
                         " does not exist");
  }
  const Outline outline(instruction);
  VirtualInstruction made{instruction, nullptr, {}, outline, outline};
  if (const int other = machine.equivalents[static_cast<std::size_t>(opcode)]; other != kNone) {
    made.equivalent = &operation_of(other);
    made.equivalent_outline = Outline({made.equivalent, mask, values, 0});
  }
  for (const bool reading : {true, false}) {
    for (int i = 0; i < operation.operand_count; ++i) {
      const isa::Operand& operand = operation.operands[i];
      const Mask here = accessed_in(operand, made.instruction);
      if (operand.kind == isa::Kind::kPoly && here != 0 &&
          (reading ? operand.reads : operand.writes)) {
        add_access(made.accesses, values[i], reading ? here : 0, reading ? 0 : here);
      }
    }
  }
  return made;
}

}  // namespace ringsmith::scheduler
