#include "graph_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ringsmith {
namespace {

// Key switchings that one step computes: their results are all in memory until they are read.
constexpr std::size_t kMostTogether = 16;

// Products that one step adds up, and values that are made before steps are joined which read them:
// they are all in memory until then.
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
    } else if (node.op == Op::kAdd && sums_[id].is_kept()) {
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
    std::vector<std::size_t> products;   // mul nodes
    std::vector<std::size_t> multiples;  // mul_scalar nodes
    std::vector<std::size_t> addends;    // other values
    std::vector<std::size_t> inner;      // additions that are not stored

    [[nodiscard]] std::size_t terms() const { return products.size() + multiples.size(); }
    [[nodiscard]] bool is_kept() const { return products.size() > 1 || !multiples.empty(); }
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
      if (left_out_[id] || !sum.is_kept()) {
        sum = {};
        continue;
      }
      if (sum.products.size() == 1) {
        sum.addends.push_back(std::exchange(sum.products, {})[0]);
      }
      for (const auto& nodes : {sum.products, sum.multiples, sum.inner}) {
        for (const std::size_t node : nodes) {
          left_out_[node] = true;
        }
      }
    }
  }

  void add_term(Sum& sum, std::size_t id) const {
    const Sum& term = sums_[id];
    if (users_[id].size() != 1) {
      sum.addends.push_back(id);
    } else if (nodes_[id].op == Op::kMul && sum.terms() < kMostSummed) {
      sum.products.push_back(id);
    } else if (nodes_[id].op == Op::kMulScalar && sum.terms() < kMostSummed) {
      sum.multiples.push_back(id);
    } else if (term.terms() > 0 &&
               term.terms() < kMostSummed &&  // a chain goes on with a new sum then
               sum.terms() + term.terms() <= kMostSummed) {
      sum.products.insert(sum.products.end(), term.products.begin(), term.products.end());
      sum.multiples.insert(sum.multiples.end(), term.multiples.begin(), term.multiples.end());
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
    step.multiples = std::move(sums_[id].multiples);
    step.addends = std::move(sums_[id].addends);
    step.reads = step.addends;
    for (const auto& terms : {step.products, step.multiples}) {
      for (const std::size_t term : terms) {
        const auto& factors = nodes_[term].operands;
        step.reads.insert(step.reads.end(), factors.begin(), factors.end());
      }
    }
  }

  const std::vector<Node>& nodes_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<Step> steps_;  // by the first node
  std::vector<Sum> sums_;    // of each addition
  std::vector<bool> left_out_;
  std::map<Likeness, std::size_t> together_;  // the first node of the last such step
};

// Joins steps that need no other limb.
//
// A step's stage is how many steps that do need others are on the longest way to it. Steps of one
// stage that read each other limb by limb are joined: no way between two of them leads through
// another step.
class LimbwisePlanner {
 public:
  LimbwisePlanner(const std::vector<Node>& nodes, const std::vector<bool>& is_made,
                  std::vector<Step> steps)
      : nodes_(nodes),
        steps_(std::move(steps)),
        is_stored_(is_made),
        uses_(nodes.size()),
        makers_(nodes.size(), kNone),
        stages_(steps_.size()),
        groups_(steps_.size()) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      for (const std::size_t value : steps_[i].results) {
        makers_[value] = i;
        is_stored_[value] = true;
      }
      for (const std::size_t value : steps_[i].reads) {
        ++uses_[value];
      }
    }
    for (const Node& node : nodes) {
      if (node.op == Op::kOutput) {
        const std::size_t value = node.operands[0];
        ++uses_[nodes[value].op == Op::kHalf ? nodes[value].operands[0] : value];
      }
    }
  }

  std::vector<Step> plan() {
    std::vector<std::vector<std::size_t>> readers(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      groups_[i] = i;
      set_stage(i);
      for (const std::size_t value : steps_[i].reads) {
        if (makers_[value] != kNone) {
          readers[makers_[value]].push_back(i);
        }
      }
    }
    for (std::size_t i = steps_.size(); i-- > 0;) {
      delay(i, readers[i]);
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      join_makers(i);
    }
    std::map<std::size_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      members[group_of(i)].push_back(i);
    }
    std::map<std::size_t, Step> steps;  // by their last member: the others are waited for
    for (const auto& [group, own] : members) {
      Step step = own.size() > 1 ? joined(own) : Step();
      if (!step.parts.empty()) {
        steps[own.back()] = std::move(step);
        continue;
      }
      for (const std::size_t i : own) {
        steps[i] = std::move(steps_[i]);
      }
    }
    return in_order(std::move(steps));
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // Whether a step needs no other limb of what it reads, and is not better done where its operands
  // are made, as products of digits that take more memory than they do.
  [[nodiscard]] bool is_limbwise(const Step& step) const {
    if (step.kind == StepKind::kSum) {
      return true;
    }
    const Node& node = nodes_[step.nodes[0]];
    if (step.kind == StepKind::kProducts) {
      return step.results == step.nodes &&
             2 * step.nodes.size() >= nodes_[node.operands[0]].type.count;
    }
    return step.kind == StepKind::kNode &&
           (node.op == Op::kAdd || node.op == Op::kSub || node.op == Op::kNeg ||
            node.op == Op::kMul || node.op == Op::kMulScalar || reads_whole(nodes_, step));
  }

  // Whether the step reads what that one makes limb by limb.
  [[nodiscard]] bool continues(const Step& step, const Step& maker) const {
    return !reads_whole(nodes_, step) && is_limbwise(step) && is_limbwise(maker);
  }

  // The earliest stage.
  void set_stage(std::size_t i) {
    for (const std::size_t value : steps_[i].reads) {
      const std::size_t maker = makers_[value];
      if (maker != kNone) {
        stages_[i] =
            std::max(stages_[i], stages_[maker] + (continues(steps_[i], steps_[maker]) ? 0 : 1));
      }
    }
  }

  // A scaled mod_up waits for the first that reads it.
  void delay(std::size_t i, const std::vector<std::size_t>& readers) {
    const Step& step = steps_[i];
    if (step.kind != StepKind::kNode || !reads_whole(nodes_, step) ||
        readers.size() < uses_[step.results[0]]) {
      return;
    }
    std::size_t latest = kNone;
    for (const std::size_t reader : readers) {
      latest = std::min(latest, stages_[reader] - (continues(steps_[reader], step) ? 0 : 1));
    }
    stages_[i] = latest == kNone ? stages_[i] : latest;
  }

  void join_makers(std::size_t i) {
    for (const std::size_t value : steps_[i].reads) {
      const std::size_t maker = makers_[value];
      if (maker != kNone && stages_[maker] == stages_[i] && continues(steps_[i], steps_[maker])) {
        const std::size_t root = std::min(group_of(maker), group_of(i));
        groups_[group_of(maker)] = root;
        groups_[group_of(i)] = root;
      }
    }
  }

  std::size_t group_of(std::size_t i) {
    while (groups_[i] != i) {
      groups_[i] = groups_[groups_[i]];
      i = groups_[i];
    }
    return i;
  }

  // One step of these; without parts if it would keep no value out of memory, or more in it than it
  // keeps out.
  [[nodiscard]] Step joined(const std::vector<std::size_t>& members) const {
    std::map<std::size_t, std::size_t> reads;  // of each value, by members
    for (const std::size_t i : members) {
      for (const std::size_t value : steps_[i].reads) {
        ++reads[value];
      }
    }
    Step step;
    step.kind = StepKind::kLimbwise;
    std::size_t made = 0;
    for (const std::size_t i : members) {
      for (const std::size_t value : steps_[i].results) {
        ++made;
        if (uses_[value] > reads[value]) {
          step.results.push_back(value);
        }
        reads.erase(value);
      }
    }
    std::size_t stored = 0;
    for (const auto& [value, count] : reads) {
      step.reads.push_back(value);
      stored += is_stored_[value];
    }
    const std::size_t slots = made - step.results.size();
    if (slots > 0 && stored <= std::max(kMostSummed, slots)) {
      for (const std::size_t i : members) {
        step.parts.push_back(steps_[i]);
      }
    }
    return step;
  }

  // The steps, each as early as its place allows: where all that it reads is there.
  [[nodiscard]] std::vector<Step> in_order(std::map<std::size_t, Step> steps) const {
    std::vector<std::size_t> place_of(nodes_.size(), kNone);  // of the step that makes a value
    for (const auto& [place, step] : steps) {
      for (const std::size_t value : step.results) {
        place_of[value] = place;
      }
    }
    std::map<std::size_t, std::vector<std::size_t>> readers;  // of what a place makes
    std::map<std::size_t, std::size_t> missing;
    std::set<std::size_t> ready;
    for (const auto& [place, step] : steps) {
      for (const std::size_t value : step.reads) {
        if (place_of[value] != kNone) {
          readers[place_of[value]].push_back(place);
          ++missing[place];
        }
      }
      if (!missing.contains(place)) {
        ready.insert(place);
      }
    }
    std::vector<Step> ordered;
    while (!ready.empty()) {
      const std::size_t place = *ready.begin();
      ready.erase(ready.begin());
      ordered.push_back(std::move(steps.at(place)));
      for (const std::size_t reader : readers[place]) {
        if (--missing[reader] == 0) {
          ready.insert(reader);
        }
      }
    }
    return ordered;
  }

  const std::vector<Node>& nodes_;
  std::vector<Step> steps_;
  std::vector<bool> is_stored_;      // values that are in memory until they are read
  std::vector<std::size_t> uses_;    // of each value, by steps and outputs
  std::vector<std::size_t> makers_;  // of each value the step, or kNone
  std::vector<std::size_t> stages_;  // of each step
  std::vector<std::size_t> groups_;  // of each step another of its group; of the first itself
};

}  // namespace

bool reads_whole(const std::vector<Node>& nodes, const Step& part) {
  const Node& node = nodes[part.nodes[0]];
  return part.kind == StepKind::kProducts || (node.op == Op::kModUp && node.scaled);
}

std::vector<Step> plan_of(const std::vector<Node>& nodes, const std::vector<bool>& is_made) {
  return LimbwisePlanner(nodes, is_made, Planner(nodes).plan()).plan();
}

}  // namespace ringsmith
