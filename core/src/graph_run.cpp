// The reference interpreter of the subroutine graph.
#include <algorithm>
#include <set>

#include "digit_products.h"
#include "graph_fusion.h"
#include "ringsmith/error.h"
#include "ringsmith/graph.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"
#include "text.h"

namespace ringsmith {
namespace {

using Names = std::set<std::string, std::less<>>;

// Every name of `given` must be among `wanted` and the other way round.
template <typename Given>
void check_names(const Given& given, const Names& wanted, const char* kind) {
  for (const std::string& name : wanted) {
    if (!given.contains(name)) {
      throw GraphError(text("the graph needs the ", kind, " '", name, "', which was not given"));
    }
  }
  for (const auto& [name, value] : given) {
    if (!wanted.contains(name)) {
      throw GraphError(text("the graph has no ", kind, " '", name, "'"));
    }
  }
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const GraphInputs& inputs, const GraphKeys& keys)
      : rns_(graph.rns()),
        key_primes_(graph.key_primes()),
        nodes_(graph.nodes()),
        inputs_(inputs),
        keys_(keys),
        fusion_(find_fusions(nodes_)),
        values_(nodes_.size()) {
    check_arguments();
    uses_left_.resize(nodes_.size());
    for (const Node& node : nodes_) {
      for (const std::size_t operand : node.operands) {
        ++uses_left_[operand];
      }
    }
  }

  GraphOutputs run() {
    GraphOutputs outputs;
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const Node& node = nodes_[id];
      if (node.op == Op::kInput || fusion_.skipped[id]) {
        continue;  // read where the caller has it, or never stored
      }
      if (node.op == Op::kOutput) {
        const std::span<const u64> value = operand(node, 0);
        outputs.emplace(node.name, Polynomial{{value.begin(), value.end()}, node.type.base.size()});
      } else if (const auto fused = fusion_.products.find(id); fused != fusion_.products.end()) {
        compute_fused(id, fused->second);
        continue;
      } else if (!fusion_.second[id]) {
        values_[id].resize(node.type.base.size() * rns_.degree());
        compute(node, values_[id]);
      } else {
        continue;
      }
      release_operands(node);
    }
    return outputs;
  }

 private:
  void check_arguments() const {
    Names inputs;
    Names keys;
    for (const Node& node : nodes_) {
      if (node.op == Op::kInput) {
        inputs.insert(node.name);
      } else if (node.op == Op::kKskInnerProduct) {
        keys.insert(node.name);
      }
    }
    check_names(inputs_, inputs, "input");
    check_names(keys_, keys, "key");
    const Base key_base = consecutive_base(key_primes_);
    for (const auto& [name, key] : keys_) {
      rns_.check_canonical(key.data, key_base, text("key '", name, "'"));
    }
    for (const Node& node : nodes_) {
      if (node.op == Op::kInput) {
        check_input(node);
      } else if (node.op == Op::kKskInnerProduct) {
        check_key(node);
      }
    }
  }

  void check_input(const Node& node) const {
    const PolynomialView& given = inputs_.find(node.name)->second;
    const std::size_t limbs = node.type.base.size();
    if (given.limbs != limbs || given.data.size() != limbs * rns_.degree()) {
      throw GraphError(text("input '", node.name, "' has ", given.limbs, " limbs and ",
                            given.data.size(), " words; the graph expects ", limbs,
                            " limbs of N = ", rns_.degree()));
    }
    rns_.check_canonical(given.data, node.type.base, text("input '", node.name, "'"));
  }

  void check_key(const Node& node) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    const std::size_t needed = *std::max_element(node.digits.begin(), node.digits.end()) + 1;
    if (key.digits < needed || key.data.size() != key.digits * 2 * key_primes_ * rns_.degree()) {
      throw GraphError(text("key '", node.name, "' has ", key.digits, " digits and ",
                            key.data.size(), " words; the graph expects at least ", needed,
                            " digits of 2 halves of ", key_primes_,
                            " limbs of N = ", rns_.degree()));
    }
  }

  std::span<const u64> operand(const Node& node, std::size_t index) const {
    const std::size_t id = node.operands[index];
    const Node& source = nodes_[id];
    return source.op == Op::kInput ? inputs_.find(source.name)->second.data
                                   : std::span<const u64>(values_[id]);
  }

  const Base& operand_base(const Node& node) const { return nodes_[node.operands[0]].type.base; }

  // The limbs of primes that follow each other in an operand.
  std::span<const u64> operand_limbs(const Node& node, const Base& primes) const {
    return {operand_limb(node, primes.front()).data(), primes.size() * rns_.degree()};
  }

  // The limb of one prime in an operand.
  std::span<const u64> operand_limb(const Node& node, std::size_t prime) const {
    const Base& base = operand_base(node);
    const auto position = std::find(base.begin(), base.end(), prime) - base.begin();
    return limb_of(operand(node, 0), static_cast<std::size_t>(position), rns_.degree());
  }

  void compute(const Node& node, std::span<u64> out) const {
    const Base& base = node.type.base;
    const std::span<const u64> first = operand(node, 0);
    switch (node.op) {
      case Op::kInput:
      case Op::kOutput:
        break;  // run() handles them
      case Op::kAdd:
        kernels::add(rns_, base, first, operand(node, 1), out);
        break;
      case Op::kSub:
        kernels::subtract(rns_, base, first, operand(node, 1), out);
        break;
      case Op::kNeg:
        kernels::negate(rns_, base, first, out);
        break;
      case Op::kMul:
        kernels::multiply(rns_, base, first, operand(node, 1), out);
        break;
      case Op::kAutomorph:
        kernels::automorph(rns_, base, node.type.form, node.element, first, out);
        break;
      case Op::kNtt:
        std::copy(first.begin(), first.end(), out.begin());
        kernels::ntt(rns_, base, out);
        break;
      case Op::kIntt:
        std::copy(first.begin(), first.end(), out.begin());
        kernels::intt(rns_, base, out);
        break;
      case Op::kModUp:
        compute_mod_up(node, out);
        break;
      case Op::kKskInnerProduct:
        compute_inner_product(node, out);
        break;
      case Op::kModDown:
        kernels::mod_down(rns_, operand_base(node), node.primes, node.type.form, first, out);
        break;
      case Op::kDropLimbs:
        for (std::size_t i = 0; i < base.size(); ++i) {
          const std::span<const u64> limb = operand_limb(node, base[i]);
          std::copy(limb.begin(), limb.end(), limb_of(out, i, rns_.degree()).begin());
        }
        break;
      case Op::kLift:
        kernels::lift(rns_, operand_base(node), base, node.variant, first, out);
        break;
      case Op::kScale:
        kernels::scale(rns_, operand_base(node), base, node.plain_modulus, node.variant, first,
                       out);
        break;
      case Op::kDecompose:
        kernels::decompose(rns_, operand_base(node), base, node.digit, node.word_bits, first, out);
        break;
    }
  }

  void compute_mod_up(const Node& node, std::span<u64> out) const {
    if (node.scaled) {
      kernels::mod_up_scaled(rns_, node.primes, node.type.base, operand(node, 0), out);
      return;
    }
    std::vector<u64> digit;
    for (const std::size_t prime : node.primes) {
      const std::span<const u64> limb = operand_limb(node, prime);
      digit.insert(digit.end(), limb.begin(), limb.end());
    }
    kernels::mod_up(rns_, node.primes, node.type.base, digit, out);
  }

  void compute_inner_product(const Node& node, std::span<u64> out) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    std::vector<std::span<const u64>> digits;
    std::vector<std::span<const u64>> halves;
    for (std::size_t i = 0; i < node.digits.size(); ++i) {
      digits.push_back(operand(node, i));
      halves.push_back(key.half(node.digits[i], node.half));
    }
    kernels::ksk_inner_product(rns_, node.type.base, digits, halves, out);
  }

  // Both inner products of one key, from what the digits' mod_up nodes read.
  void compute_fused(std::size_t first, const FusedProducts& fused) {
    const Node& node = nodes_[first];
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    std::vector<kernels::Digit> digits;
    std::vector<std::span<const u64>> halves[2];
    for (std::size_t i = 0; i < fused.mod_ups.size(); ++i) {
      const Node& mod_up = nodes_[fused.mod_ups[i]];
      digits.push_back({mod_up.primes, operand_limbs(mod_up, mod_up.primes), {}});
      for (std::size_t half = 0; half < 2; ++half) {
        halves[half].push_back(key.half(node.digits[i], half));
      }
    }
    const Base& base = node.type.base;
    Words& sums_0 = values_[node.half == 0 ? first : fused.second];
    Words& sums_1 = values_[node.half == 0 ? fused.second : first];
    sums_0.resize(base.size() * rns_.degree());
    sums_1.resize(base.size() * rns_.degree());
    const kernels::DigitProducts products(rns_, std::move(digits));
    for (std::size_t i = 0; i < base.size(); ++i) {
      products.at(base[i], halves[0], halves[1], limb_of(std::span<u64>(sums_0), i, rns_.degree()),
                  limb_of(std::span<u64>(sums_1), i, rns_.degree()));
    }
    for (const std::size_t mod_up : fused.mod_ups) {
      release_operands(nodes_[mod_up]);
    }
  }

  // Frees every value that no later node reads.
  void release_operands(const Node& node) {
    for (const std::size_t operand : node.operands) {
      if (--uses_left_[operand] == 0) {
        values_[operand] = {};
      }
    }
  }

  const RnsContext& rns_;
  std::size_t key_primes_;
  const std::vector<Node>& nodes_;
  const GraphInputs& inputs_;
  const GraphKeys& keys_;
  GraphFusion fusion_;
  std::vector<Words> values_;
  std::vector<std::size_t> uses_left_;
};

}  // namespace

GraphOutputs Graph::run(const GraphInputs& inputs, const GraphKeys& keys) const {
  return Interpreter(*this, inputs, keys).run();
}

}  // namespace ringsmith
