#include "ringsmith/graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "graph_nodes.h"
#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {
namespace {

constexpr std::array<std::pair<Op, std::string_view>, 22> kOpNames = {{
    {Op::kInput, "input"},
    {Op::kOutput, "output"},
    {Op::kAdd, "add"},
    {Op::kSub, "sub"},
    {Op::kNeg, "neg"},
    {Op::kMul, "mul"},
    {Op::kAutomorph, "automorph"},
    {Op::kNtt, "ntt"},
    {Op::kIntt, "intt"},
    {Op::kModUp, "mod_up"},
    {Op::kKskInnerProduct, "ksk_inner_product"},
    {Op::kModDown, "mod_down"},
    {Op::kDropLimbs, "drop_limbs"},
    {Op::kLift, "lift"},
    {Op::kScale, "scale"},
    {Op::kDecompose, "decompose"},
    {Op::kDigits, "digits"},
    {Op::kKeyProduct, "key_product"},
    {Op::kKeySwitch, "key_switch"},
    {Op::kHalf, "half"},
    {Op::kMulScalar, "mul_scalar"},
    {Op::kAddScalar, "add_scalar"},
}};

}  // namespace

std::string_view op_name(Op op) {
  return std::find_if(kOpNames.begin(), kOpNames.end(),
                      [op](const auto& candidate) { return candidate.first == op; })
      ->second;
}

std::optional<Op> op_of(std::string_view name) {
  const auto* const found =
      std::find_if(kOpNames.begin(), kOpNames.end(),
                   [name](const auto& candidate) { return candidate.second == name; });
  return found == kOpNames.end() ? std::nullopt : std::optional(found->first);
}

Graph::Graph(std::size_t degree, std::span<const u64> primes, std::span<const u64> roots,
             std::size_t extension)
    : rns_(degree, primes, roots), extension_(extension) {
  if (extension >= primes.size()) {
    throw ParameterError(text(extension, " extension primes of ", primes.size(),
                              " primes: leave at least one data prime"));
  }
}

std::size_t Graph::add_node(std::string_view op, std::vector<std::size_t> operands,
                            const Attributes& attributes) {
  nodes_.push_back(checked_node(*this, op, std::move(operands), attributes));
  return nodes_.size() - 1;
}

}  // namespace ringsmith
