#include "model/rpau_model.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace ringsmith::sim {

RpauModel::RpauModel(const Design& design, Timing timing, bool timing_only)
    : design_(design), timing_(std::move(timing)), timing_only_(timing_only), converter_(design) {
  if (!timing_only) {
    for (int index = 0; index < design.rpaus; ++index) {
      rpaus_.emplace_back(design, index);
    }
  }
}

Rpau& RpauModel::rpau(int index) {
  if (timing_only_) {
    throw ModelError("a timing-only model has no contents: make one that is not timing-only");
  }
  return rpaus_.at(index);
}

void RpauModel::set_ring(int log_degree, Timing timing) {
  const Ring ring = ring_of(design_, log_degree);
  for (Rpau& rpau : rpaus_) {
    rpau.set_ring(ring);
  }
  timing_ = std::move(timing);
}

void RpauModel::load_program(std::span<const u64> words) {
  std::vector<Instruction> program;
  program.reserve(words.size());
  for (const u64 word : words) {
    try {
      program.push_back(decode(word, design_));
    } catch (const ModelError& error) {
      throw ModelError(error.what(), program.size());
    }
  }
  program_ = std::move(program);
}

RunReport RpauModel::run(u64 max_cycles, const std::optional<Arrivals>& arrivals,
                         const std::function<void(u64)>& poll) {
  constexpr std::size_t kLook = 16;  // instructions between two looks at the clock
  constexpr std::chrono::milliseconds kPoll{100};
  Timeline timeline(design_, timing_, arrivals);
  starts_.clear();
  auto polled = std::chrono::steady_clock::now();
  for (const Instruction& instruction : program_) {
    const std::size_t index = starts_.size();
    if (index % kLook == kLook - 1) {
      if (const auto now = std::chrono::steady_clock::now(); now - polled >= kPoll) {
        polled = now;
        poll(starts_.back());
      }
    }
    try {
      const u64 start = timeline.issue(instruction, index);
      if (start > max_cycles) {
        throw ModelError("issues in cycle " + std::to_string(start) + ", and the run may take " +
                         std::to_string(max_cycles) + " cycles: allow more");
      }
      starts_.push_back(start);
      if (instruction.operation->opcode == isa::Opcode::kHalt) {
        return {start, starts_.size()};
      }
      if (!timing_only_) {
        execute(instruction);
      }
    } catch (const ModelError& error) {
      throw ModelError(error.what(), index);
    }
  }
  throw ModelError("the program has " + std::to_string(program_.size()) +
                   " instructions and no halt: load one that ends with halt");
}

template <typename Step>
void RpauModel::within(int index, const Step& step) {
  try {
    step(rpaus_.at(index));
  } catch (const ModelError& error) {
    throw ModelError("RPAU " + std::to_string(index) + ": " + error.what());
  }
}

void RpauModel::execute(const Instruction& instruction) {
  if (instruction.operation->opcode == isa::Opcode::kBroadcast) {
    broadcast(instruction);
    return;
  }
  if (instruction.operation->opcode == isa::Opcode::kSend) {
    send(instruction);
    return;
  }
  if (instruction.operation->opcode == isa::Opcode::kConvert ||
      instruction.operation->opcode == isa::Opcode::kConvertOwn) {
    convert(instruction);
    return;
  }
  for (const int index : instruction.rpaus) {
    within(index, [&](Rpau& rpau) {
      rpau.compute_with(instruction.prime);
      execute_in(instruction, rpau);
    });
  }
}

void RpauModel::execute_in(const Instruction& instruction, Rpau& rpau) {
  const auto dst = [&] { return instruction[isa::kDst]; };
  const auto a = [&] { return instruction[isa::kA]; };
  const auto b = [&] { return instruction[isa::kB]; };
  const auto sub_poly = [&] { return instruction[isa::kSubPoly]; };
  const auto k1 = [&] { return instruction[isa::kK1]; };
  switch (instruction.operation->opcode) {
    case isa::Opcode::kNop:
    case isa::Opcode::kHalt:
    case isa::Opcode::kAwait:
    case isa::Opcode::kBroadcast:  // concern several RPAUs at once, as the next three
    case isa::Opcode::kSend:
    case isa::Opcode::kConvert:
    case isa::Opcode::kConvertOwn:
      return;
    case isa::Opcode::kNtt:
      return rpau.ntt(dst(), a(), sub_poly());
    case isa::Opcode::kIntt:
      return rpau.intt(dst(), a(), sub_poly());
    case isa::Opcode::kSplit:
      return rpau.split(dst(), b(), k1());
    case isa::Opcode::kJoin:
      return rpau.join(dst(), b(), k1());
    case isa::Opcode::kAutomorph:
      return rpau.automorph(dst(), a(), static_cast<u64>(instruction[isa::kElement]), sub_poly());
    case isa::Opcode::kPermute:
      return rpau.permute(dst(), a(), static_cast<u64>(instruction[isa::kElement]));
    default:
      return rpau.pointwise(instruction);
  }
}

void RpauModel::broadcast(const Instruction& instruction) {
  const int source = instruction[isa::kSrc];
  const int k1 = instruction[isa::kK1];
  const int k2 = instruction[isa::kK2];
  std::vector<u64> words;
  within(source, [&](Rpau& rpau) {
    rpau.compute_with(instruction[isa::kSrcPrime]);
    words = rpau.sent(instruction[isa::kA], k1, k2);
  });
  for (const int index : instruction.rpaus) {
    if (index != source) {
      within(index, [&](Rpau& rpau) {
        rpau.compute_with(instruction.prime);
        rpau.receive(instruction[isa::kDst], words, k1, k2);
      });
    }
  }
}

void RpauModel::send(const Instruction& instruction) {
  const int source = instruction[isa::kSrc];
  std::span<const u64> words;
  within(source, [&](Rpau& rpau) { words = rpau.read_poly(instruction[isa::kA]); });
  for (const int index : instruction.rpaus) {
    if (index != source) {
      within(index, [&](Rpau& rpau) { rpau.store_shortened(instruction[isa::kDst], words); });
    }
  }
}

std::vector<std::vector<u64>> RpauModel::read(const Instruction& instruction,
                                              const isa::Field& field,
                                              const std::function<bool(int)>& is_wanted) {
  const isa::Operation& operation = *instruction.operation;
  const auto* const operand =
      std::find_if(operation.operands.begin(), operation.operands.end(),
                   [&](const isa::Operand& each) { return each.field == field; });
  std::vector<std::vector<u64>> found(rpaus_.size());
  for (const int index : instruction.rpaus) {
    if (is_accessed(instruction, *operand, index) && is_wanted(index)) {
      within(index, [&](Rpau& rpau) {
        const std::span<const u64> words = rpau.read_poly(instruction[field]);
        found[index].assign(words.begin(), words.end());
      });
    }
  }
  return found;
}

void RpauModel::convert(const Instruction& instruction) {
  using Polynomials = std::vector<std::span<const u64>>;
  const int conversion = instruction[isa::kConversion];
  const std::vector<std::vector<u64>> inputs =
      read(instruction, isa::kA, [&](int rpau) { return converter_.has_input(conversion, rpau); });
  std::vector<std::vector<u64>> own;
  if (instruction.operation->opcode == isa::Opcode::kConvertOwn) {
    own = read(instruction, isa::kB,
               [&](int rpau) { return converter_.has_output(conversion, rpau); });
  }
  const std::vector<std::vector<u64>> outputs = converter_.convert(
      conversion, Polynomials(inputs.begin(), inputs.end()), Polynomials(own.begin(), own.end()));
  for (const int index : instruction.rpaus) {
    within(index, [&](Rpau& rpau) { rpau.store(instruction[isa::kDst], outputs[index]); });
  }
}

}  // namespace ringsmith::sim
