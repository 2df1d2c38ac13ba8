#include "graph_fusion.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace ringsmith {
namespace {

// Whether the primes stand one after the other in the base: their limbs are then one span.
bool contiguous(const Base& base, const Base& primes) {
  return std::search(base.begin(), base.end(), primes.begin(), primes.end()) != base.end();
}

// The mod_up behind every digit of an inner product, if all can be left out.
std::optional<std::vector<std::size_t>> raised_digits(const std::vector<Node>& nodes,
                                                      const std::vector<std::size_t>& uses,
                                                      const Node& product) {
  std::vector<std::size_t> mod_ups;
  for (const std::size_t operand : product.operands) {
    const Node& digit = nodes[operand];
    if (digit.op != Op::kNtt || uses[operand] != 2) {
      return std::nullopt;
    }
    const std::size_t raised = digit.operands[0];
    const Node& mod_up = nodes[raised];
    if (mod_up.op != Op::kModUp || mod_up.scaled || uses[raised] != 1 ||
        !contiguous(nodes[mod_up.operands[0]].type.base, mod_up.primes)) {
      return std::nullopt;
    }
    mod_ups.push_back(raised);
  }
  return mod_ups;
}

bool are_halves_of_one_key(const Node& a, const Node& b) {
  return a.name == b.name && a.half != b.half && a.operands == b.operands && a.digits == b.digits &&
         a.type == b.type;
}

}  // namespace

GraphFusion find_fusions(const std::vector<Node>& nodes) {
  std::vector<std::size_t> uses(nodes.size());
  for (const Node& node : nodes) {
    for (const std::size_t operand : node.operands) {
      ++uses[operand];
    }
  }
  GraphFusion fusion{std::vector<bool>(nodes.size()), std::vector<bool>(nodes.size()), {}};
  std::map<std::vector<std::size_t>, std::size_t> first_by_operands;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (nodes[id].op != Op::kKskInnerProduct) {
      continue;
    }
    const auto [found, is_new] = first_by_operands.emplace(nodes[id].operands, id);
    if (is_new || !are_halves_of_one_key(nodes[found->second], nodes[id])) {
      continue;
    }
    // Both read every digit, and `uses` says that nobody else does.
    if (auto mod_ups = raised_digits(nodes, uses, nodes[id])) {
      for (std::size_t i = 0; i < mod_ups->size(); ++i) {
        fusion.skipped[nodes[id].operands[i]] = true;
        fusion.skipped[(*mod_ups)[i]] = true;
      }
      fusion.second[id] = true;
      fusion.products.emplace(found->second, FusedProducts{id, std::move(*mod_ups)});
    }
  }
  return fusion;
}

}  // namespace ringsmith
