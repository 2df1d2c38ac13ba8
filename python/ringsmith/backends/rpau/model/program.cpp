#include "model/program.h"

#include <algorithm>

namespace ringsmith::sim {
namespace {

/// One more than the largest value that an operand of this kind may have.
int limit_of(isa::Kind kind, const Design& design) {
  switch (kind) {
    case isa::Kind::kPoly:
      return design.work_polys();
    case isa::Kind::kKeyPoly:
      return design.key_polys;
    case isa::Kind::kConstant:
      return design.constants;
    case isa::Kind::kRpau:
      return design.rpaus;
    case isa::Kind::kModulusBank:
      return design.modulus_banks;
    case isa::Kind::kSeed:
      return design.seeds;
    case isa::Kind::kDigit:
      return 1 << isa::kDigit.width;
    case isa::Kind::kGaloisElement:
      return 2 << design.max_log_n();
    case isa::Kind::kSubPoly:
      return 1 << design.larger_rings;
    case isa::Kind::kConverted:
      return design.rpaus;
    case isa::Kind::kConversion:
      return design.conversions;
    case isa::Kind::kArrivals:
      return design.rpaus * design.key_polys + 1;
  }
  throw ModelError("the operand's kind does not exist");
}

}  // namespace

Ring ring_of(const Design& design, int log_degree) {
  if (log_degree < design.min_log_n() || log_degree > design.max_log_n()) {
    throw ModelError("the device runs rings of degree 2^" + std::to_string(design.min_log_n()) +
                     " to 2^" + std::to_string(design.max_log_n()) + ", not 2^" +
                     std::to_string(log_degree));
  }
  return {log_degree, std::min(log_degree, design.log_n)};
}

int Instruction::operator[](const isa::Field& field) const {
  for (int i = 0; i < operation->operand_count; ++i) {
    if (operation->operands.at(i).field == field) {
      return values.at(i);
    }
  }
  throw ModelError(std::string(operation->name) + " has no operand in that field");
}

std::optional<int> source_of(const Instruction& instruction) {
  for (int i = 0; i < instruction.operation->operand_count; ++i) {
    if (instruction.operation->operands.at(i).kind == isa::Kind::kRpau) {
      return instruction.values.at(i);
    }
  }
  return std::nullopt;
}

bool is_accessed(const Instruction& instruction, const isa::Operand& operand, int rpau) {
  switch (operand.where) {
    case isa::Where::kAll:
      return true;
    case isa::Where::kSource:
      return source_of(instruction) == rpau;
    case isa::Where::kOthers:
      return source_of(instruction) != rpau;
    case isa::Where::kSources:
      return instruction[isa::kFirst] <= rpau && rpau <= instruction[isa::kLast];
  }
  throw ModelError("the operand's polynomial does not exist");
}

std::vector<Held> held(const Instruction& instruction, int rpau, const Design& design) {
  const bool sends = source_of(instruction) == rpau;
  std::vector<Held> found;
  if (instruction.operation->takes_operand_c() && (sends || !source_of(instruction))) {
    found.push_back({Resource::kOperandC, 0});
  }
  for (int i = 0; i < instruction.operation->operand_count; ++i) {
    const isa::Operand& operand = instruction.operation->operands.at(i);
    const bool here = is_accessed(instruction, operand, rpau);
    if (operand.kind == isa::Kind::kKeyPoly && here) {
      found.push_back({Resource::kKeyPort, 0});
    }
    if (operand.kind != isa::Kind::kPoly || !here) {
      continue;
    }
    const int poly = instruction.values.at(i);
    found.push_back({Resource::kPoly, poly});
    const int bank = design.banks.at(poly);
    if (operand.takes_read_port) {
      found.push_back({Resource::kReadPort, bank});
    }
    if (operand.writes) {
      found.push_back({Resource::kWritePort, bank});
    }
  }
  return found;
}

Instruction decode(u64 word, const Design& design) {
  const auto opcode = static_cast<isa::Opcode>(isa::kOpcode.extract(word));
  const auto* operation =
      std::find_if(isa::kOperations.begin(), isa::kOperations.end(),
                   [opcode](const isa::Operation& each) { return each.opcode == opcode; });
  if (operation == isa::kOperations.end()) {
    throw ModelError("there is no opcode " + std::to_string(static_cast<int>(opcode)));
  }
  if (operation->unit == isa::Unit::kDyadic && !design.dyadic) {
    throw ModelError(std::string(operation->name) + ": the design has no dyadic unit");
  }
  if (operation->unit == isa::Unit::kLink && !design.link) {
    throw ModelError(std::string(operation->name) + ": the design has no link unit");
  }
  if (operation->opcode == isa::Opcode::kAwait && !design.key_stream) {
    throw ModelError(std::string(operation->name) + ": the design has no key stream");
  }
  if (operation->unit == isa::Unit::kCoefficient && design.conversions == 0) {
    throw ModelError(std::string(operation->name) + ": the design has no converter");
  }
  const bool divided =
      operation->opcode == isa::Opcode::kSplit || operation->opcode == isa::Opcode::kJoin;
  if (divided && design.larger_rings == 0) {
    throw ModelError(std::string(operation->name) + ": the design runs no larger rings");
  }
  Instruction instruction{operation, {}, {}, {}, static_cast<int>(isa::kPrime.extract(word))};
  if (instruction.prime >= design.modulus_banks) {
    throw ModelError(std::string(operation->name) + ": modulus bank " +
                     std::to_string(instruction.prime) + " must be below " +
                     std::to_string(design.modulus_banks));
  }
  for (int i = 0; i < operation->operand_count; ++i) {
    const isa::Operand& operand = operation->operands.at(i);
    const int value = static_cast<int>(operand.field.extract(word));
    const int limit = limit_of(operand.kind, design);
    if (operand.kind == isa::Kind::kSeed && limit == 0) {
      throw ModelError(std::string(operation->name) + ": the design expands no seeds");
    }
    if (value >= limit) {
      throw ModelError(std::string(operation->name) + ": operand " + std::to_string(i) + " is " +
                       std::to_string(value) + " and must be below " + std::to_string(limit));
    }
    instruction.values.at(i) = value;
  }
  const u64 mask = isa::kMask.extract(word);
  if (mask >> design.rpaus != 0) {
    throw ModelError(std::string(operation->name) + ": the mask names an RPAU above " +
                     std::to_string(design.rpaus - 1));
  }
  for (int rpau = 0; rpau < design.rpaus; ++rpau) {
    if ((mask >> rpau) & 1) {
      instruction.rpaus.push_back(rpau);
    }
  }
  for (int unit = 0; unit < isa::kUnits; ++unit) {
    if (isa::kWaits.at(unit).extract(word) != 0) {
      instruction.waits.push_back(static_cast<isa::Unit>(unit));
    }
  }
  return instruction;
}

}  // namespace ringsmith::sim
