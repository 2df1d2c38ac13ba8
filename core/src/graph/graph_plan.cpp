#include "graph_plan.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ringsmith {
namespace {

// Key switchings that one step computes: their results are all in memory until they are read.
constexpr std::size_t kMostTogether = 16;

// Products that one step adds up: their factors are all in memory until then.
constexpr std::size_t kMostSummed = 16;

class Planner {
 public:
  explicit Planner(const std::vector<Node>& nodes)
      : nodes_(nodes),
        users_(nodes.size()),
        steps_(nodes.size()),
        sums_(nodes.size()),
        left_out_(nodes.size()) {
    for (std::size_t id = 0; id < nodes.size(); ++id) {
      for (const std::size_t operand : nodes[id].operands) {
        users_[operand].push_back(id);
      }
    }
  }

  std::vector<Step> plan() {
    find_sums();
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      plan_node(id);
    }
    std::vector<Step> ordered;
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (steps_[id].nodes.empty()) {
        continue;
      }
      Step& step = ordered.emplace_back(std::move(steps_[id]));
      for (std::size_t& value : step.reads) {
        value = nodes_[value].op == Op::kHalf ? nodes_[value].operands[0] : value;
      }
      std::ranges::sort(step.reads);
      step.reads.erase(std::unique(step.reads.begin(), step.reads.end()), step.reads.end());
    }
    return ordered;
  }

 private:
  void plan_node(std::size_t id) {
    const Node& node = nodes_[id];
    if (node.op == Op::kInput || node.op == Op::kOutput || node.op == Op::kHalf || left_out_[id]) {
      return;
    }
    if (node.op == Op::kKeySwitch) {
      join(id, id, StepKind::kSwitches,
           {place_of(node.operands[0]), node.cut, node.sizes, node.extended, node.primes});
    } else if (node.op == Op::kKeyProduct) {
      const std::size_t result = divided(id);
      left_out_[result] = result != id;
      join(id, result, StepKind::kProducts,
           {place_of(node.operands[0]), {}, {}, {}, result == id ? Base() : nodes_[result].primes});
    } else if (node.op == Op::kAdd && sums_[id].products.size() > 1) {
      begin_sum(id);
    } else {
      begin(id, id, StepKind::kNode);
    }
  }

  Step& begin(std::size_t id, std::size_t result, StepKind kind) {
    Step& step = steps_[id];
    step.kind = kind;
    add_to(step, id, result);
    return step;
  }

  void add_to(Step& step, std::size_t id, std::size_t result) const {
    step.nodes.push_back(id);
    step.results.push_back(result);
    const auto& operands = nodes_[id].operands;
    step.reads.insert(step.reads.end(), operands.begin(), operands.end());
  }

  // A value, or a pair and which half of it.
  using Place = std::pair<std::size_t, std::size_t>;
  [[nodiscard]] Place place_of(std::size_t id) const {
    const Node& node = nodes_[id];
    return node.op == Op::kHalf ? Place(node.operands[0], 1 + node.half) : Place(id, 0);
  }

  // What key switchings that one step may compute have in common: the operand, then how it is cut,
  // and the primes that are dropped.
  using Likeness = std::tuple<Place, DigitVariant, std::vector<std::size_t>, Base, Base>;

  // Adds a key switching to the last step of its likeness, where what it adds is there before that
  // step; else it begins a step.
  void join(std::size_t id, std::size_t result, StepKind kind, const Likeness& likeness) {
    const auto found = together_.find(likeness);
    // The digits of other variants are of each automorphism of the polynomial.
    const bool shares = kind == StepKind::kProducts ||
                        std::get<DigitVariant>(likeness) == DigitVariant::kFastBaseConv;
    if (shares && found != together_.end() && steps_[found->second].nodes.size() < kMostTogether &&
        std::ranges::all_of(nodes_[id].operands,
                            [&](std::size_t operand) { return operand < found->second; })) {
      add_to(steps_[found->second], id, result);
      return;
    }
    together_[likeness] = id;
    begin(id, result, kind);
  }

  // The mod_down that alone reads a key_product, or the key_product itself.
  [[nodiscard]] std::size_t divided(std::size_t id) const {
    const auto& users = users_[id];
    return users.size() == 1 && nodes_[users[0]].op == Op::kModDown ? users[0] : id;
  }

  // An addition, with all additions and products that it alone reads.
  struct Sum {
    std::vector<std::size_t> products;  // mul nodes
    std::vector<std::size_t> addends;   // other values
    std::vector<std::size_t> inner;     // additions that are not stored
  };

  void find_sums() {
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].op == Op::kAdd) {
        for (const std::size_t operand : nodes_[id].operands) {
          add_term(sums_[id], operand);
        }
      }
    }
    for (std::size_t id = nodes_.size(); id-- > 0;) {
      Sum& sum = sums_[id];
      if (left_out_[id] || sum.products.size() < 2) {
        sum = {};
        continue;
      }
      for (const auto& nodes : {sum.products, sum.inner}) {
        for (const std::size_t node : nodes) {
          left_out_[node] = true;
        }
      }
    }
  }

  void add_term(Sum& sum, std::size_t id) const {
    const Sum& term = sums_[id];
    if (users_[id].size() == 1 && nodes_[id].op == Op::kMul && sum.products.size() < kMostSummed) {
      sum.products.push_back(id);
    } else if (users_[id].size() == 1 && !term.products.empty() &&
               sum.products.size() + term.products.size() <= kMostSummed) {
      sum.products.insert(sum.products.end(), term.products.begin(), term.products.end());
      sum.addends.insert(sum.addends.end(), term.addends.begin(), term.addends.end());
      sum.inner.insert(sum.inner.end(), term.inner.begin(), term.inner.end());
      sum.inner.push_back(id);
    } else {
      sum.addends.push_back(id);
    }
  }

  void begin_sum(std::size_t id) {
    Step& step = begin(id, id, StepKind::kSum);
    step.products = std::move(sums_[id].products);
    step.addends = std::move(sums_[id].addends);
    step.reads = step.addends;
    for (const std::size_t product : step.products) {
      const auto& factors = nodes_[product].operands;
      step.reads.insert(step.reads.end(), factors.begin(), factors.end());
    }
  }

  const std::vector<Node>& nodes_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<Step> steps_;  // by the first node
  std::vector<Sum> sums_;    // of each addition
  std::vector<bool> left_out_;
  std::map<Likeness, std::size_t> together_;  // the first node of the last such step
};

}  // namespace

std::vector<Step> plan_of(const std::vector<Node>& nodes) { return Planner(nodes).plan(); }

}  // namespace ringsmith
