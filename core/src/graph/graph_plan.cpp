#include "graph_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ringsmith {
namespace {

// Key switchings that one step computes: their results are all in memory until they are read.
constexpr std::size_t kMostHoisted = 16;

// Whether `part` is contiguous in the base: its limbs are then one span.
bool contiguous(const Base& base, const Base& part) {
  return std::search(base.begin(), base.end(), part.begin(), part.end()) != base.end();
}

class Planner {
 public:
  explicit Planner(const std::vector<Node>& nodes)
      : nodes_(nodes), users_(nodes.size()), left_out_(nodes.size()) {
    for (std::size_t id = 0; id < nodes.size(); ++id) {
      for (const std::size_t operand : nodes[id].operands) {
        users_[operand].push_back(id);
      }
    }
  }

  std::vector<Step> plan() {
    std::map<std::size_t, Step> steps;  // by the node that they take the place of
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].op == Op::kKskInnerProduct && !left_out_[id]) {
        if (auto step = key_switch(id)) {
          steps.emplace(id, std::move(*step));
        }
      }
    }
    hoist(steps);
    for (auto& [id, step] : steps) {
      add_to_results(step, id);
    }
    sum_products(steps);
    std::vector<Step> ordered;
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (const auto found = steps.find(id); found != steps.end()) {
        ordered.push_back(std::move(found->second));
      } else if (!left_out_[id] && nodes_[id].op != Op::kInput && nodes_[id].op != Op::kOutput) {
        ordered.emplace_back().node = id;
        ordered.back().reads = nodes_[id].operands;
      }
    }
    for (Step& step : ordered) {
      std::ranges::sort(step.reads);
      step.reads.erase(std::unique(step.reads.begin(), step.reads.end()), step.reads.end());
    }
    return ordered;
  }

 private:
  // Key switching that begins with the inner product `first`, if it can be computed in one pass.
  // Leaves out the nodes that it needs no longer.
  std::optional<Step> key_switch(std::size_t first) {
    const Node& product = nodes_[first];
    const auto second = std::ranges::find_if(users_[product.operands[0]], [&](std::size_t id) {
      const Node& other = nodes_[id];
      return other.op == Op::kKskInnerProduct && other.name == product.name &&
             other.half != product.half && other.operands == product.operands &&
             other.digits == product.digits && other.type == product.type;
    });
    if (second == users_[product.operands[0]].end()) {
      return std::nullopt;
    }
    Step step;
    std::vector<std::size_t> inner;  // nodes that are not stored
    const auto coefficients = raised_from(product, step.digits, inner);
    if (!coefficients) {
      return std::nullopt;
    }
    PlannedSwitch& wanted = step.switches.emplace_back();
    wanted.products = {first, *second};
    if (product.half != 0) {
      std::swap(wanted.products[0], wanted.products[1]);
    }
    wanted.results = wanted.products;
    step.divided = divide(wanted, inner);
    inner.push_back(first);
    inner.push_back(*second);
    for (const std::size_t id : inner) {
      left_out_[id] = true;
    }
    for (const std::size_t id : wanted.results) {
      left_out_[id] = true;
    }
    step.source = *coefficients;
    if (nodes_[step.source].op == Op::kIntt) {  // its operand's limbs are digits' transforms
      leave_out_if_unread(step.source);
      step.source = nodes_[step.source].operands[0];
    }
    set_reads(step);
    return step;
  }

  // The value from which all digits of an inner product are made by ModUp.
  std::optional<std::size_t> raised_from(const Node& product, std::vector<Base>& digits,
                                         std::vector<std::size_t>& inner) const {
    std::optional<std::size_t> source;
    for (const std::size_t operand : product.operands) {
      const Node& digit = nodes_[operand];
      if (digit.op != Op::kNtt || users_[operand].size() != 2) {
        return std::nullopt;
      }
      const std::size_t raised = digit.operands[0];
      const Node& mod_up = nodes_[raised];
      if (mod_up.op != Op::kModUp || mod_up.scaled || mod_up.centred ||
          users_[raised].size() != 1 || (source && *source != mod_up.operands[0]) ||
          !contiguous(nodes_[mod_up.operands[0]].type.base, mod_up.primes)) {
        return std::nullopt;
      }
      source = mod_up.operands[0];
      digits.push_back(mod_up.primes);
      inner.push_back(operand);
      inner.push_back(raised);
    }
    return source;
  }

  // Takes the mod_downs of both inner products in, and what is added before them.
  bool divide(PlannedSwitch& wanted, std::vector<std::size_t>& inner) const {
    std::array<std::size_t, 2> ends{};
    std::array<std::size_t, 2> raised{};
    std::array<std::vector<std::size_t>, 2> between;
    for (std::size_t half = 0; half < 2; ++half) {
      std::size_t last = wanted.products[half];
      raised[half] = last;  // none
      if (const auto added = added_to(last, wanted.products)) {
        raised[half] = nodes_[added->second].operands[0];
        between[half] = {added->first, added->second};
        last = added->first;
      } else if (only_user(last, Op::kIntt)) {
        last = users_[last][0];
        between[half] = {last};
      }
      if (!only_user(last, Op::kModDown)) {
        return false;
      }
      ends[half] = users_[last][0];
      const Base& base = nodes_[wanted.products[half]].type.base;
      const Base& drop = nodes_[ends[half]].primes;
      if (!std::equal(drop.rbegin(), drop.rend(), base.rbegin())) {
        return false;
      }
    }
    const bool raises = raised[0] != wanted.products[0];
    if (raises != (raised[1] != wanted.products[1]) ||
        nodes_[ends[0]].type != nodes_[ends[1]].type ||
        (raises && nodes_[raised[0]].type != nodes_[raised[1]].type)) {
      return false;
    }
    wanted.results = ends;
    if (raises) {
      wanted.raised = raised;
    }
    for (const auto& nodes : between) {
      inner.insert(inner.end(), nodes.begin(), nodes.end());
    }
    return true;
  }

  // Takes in what is added to a step's results where it is there before the first of its inner
  // products, and so needs no result of the step.
  void add_to_results(Step& step, std::size_t first) {
    if (!step.divided) {
      return;
    }
    for (PlannedSwitch& one : step.switches) {
      for (std::size_t half = 0; half < 2; ++half) {
        const std::size_t divided = one.results[half];
        if (!only_user(divided, Op::kAdd) || left_out_[users_[divided][0]]) {
          continue;
        }
        const std::size_t sum = users_[divided][0];
        const auto& terms = nodes_[sum].operands;
        const std::size_t other = terms[0] == divided ? terms[1] : terms[0];
        const bool moved = is_moved_for_one(other) && !one.added[1 - half];
        const std::size_t added = moved ? nodes_[other].operands[0] : other;
        if (added >= first || one.added_element != 1) {
          continue;
        }
        if (moved) {
          one.added_element = nodes_[other].element;
          left_out_[other] = true;
        }
        one.added[half] = added;
        one.results[half] = sum;
        left_out_[sum] = true;
      }
    }
    set_reads(step);
  }

  // Whether a node is an automorphism that one node alone reads.
  [[nodiscard]] bool is_moved_for_one(std::size_t id) const {
    return nodes_[id].op == Op::kAutomorph && users_[id].size() == 1;
  }

  // The add that alone reads an inner product, and its other operand: a scaled mod_up of the first
  // primes of the base, which only the add reads, of a value that is there before the products.
  std::optional<std::pair<std::size_t, std::size_t>> added_to(
      std::size_t product, const std::array<std::size_t, 2>& products) const {
    if (!only_user(product, Op::kAdd)) {
      return std::nullopt;
    }
    const std::size_t sum = users_[product][0];
    const auto& terms = nodes_[sum].operands;
    const std::size_t other = terms[0] == product ? terms[1] : terms[0];
    const Node& scaled = nodes_[other];
    const Base& base = nodes_[product].type.base;
    if (scaled.op != Op::kModUp || !scaled.scaled || users_[other].size() != 1 ||
        scaled.operands[0] > std::min(products[0], products[1]) ||
        !std::equal(scaled.primes.begin(), scaled.primes.end(), base.begin())) {
      return std::nullopt;
    }
    return std::pair(sum, other);
  }

  [[nodiscard]] bool only_user(std::size_t id, Op op) const {
    return users_[id].size() == 1 && nodes_[users_[id][0]].op == op;
  }

  // Whether all users of a node are left out.
  [[nodiscard]] bool is_unread(std::size_t id) const {
    return std::ranges::all_of(users_[id], [this](std::size_t user) { return left_out_[user]; });
  }

  // A node that no step reads need not be computed if all its users are left out.
  void leave_out_if_unread(std::size_t id) { left_out_[id] = is_unread(id); }

  static void set_reads(Step& step) {
    step.reads = {step.source};
    for (const PlannedSwitch& one : step.switches) {
      if (one.raised) {
        step.reads.insert(step.reads.end(), one.raised->begin(), one.raised->end());
      }
      for (const std::optional<std::size_t>& added : one.added) {
        if (added) {
          step.reads.push_back(*added);
        }
      }
    }
  }

  // Joins steps that switch automorphisms of one value.
  void hoist(std::map<std::size_t, Step>& steps) {
    // Source, digits, their numbers in the key, the primes before and after the division.
    using Likeness =
        std::tuple<std::size_t, std::vector<Base>, std::vector<std::size_t>, Base, Base>;
    std::map<Likeness, std::vector<std::size_t>> alike;
    for (const auto& [id, step] : steps) {
      const Node& moved = nodes_[step.source];
      if (moved.op == Op::kAutomorph && step.divided && !step.switches[0].raised) {
        alike[{moved.operands[0], step.digits, nodes_[id].digits, nodes_[id].type.base,
               nodes_[step.switches[0].results[0]].type.base}]
            .push_back(id);
      }
    }
    std::set<std::size_t> replaced;  // automorphisms that a step computes on the digits instead
    for (const auto& [likeness, members] : alike) {
      for (std::size_t begin = 0; begin < members.size(); begin += kMostHoisted) {
        const std::size_t end = std::min(members.size(), begin + kMostHoisted);
        // One alone is a step of the value that is moved, too, where nothing else reads it moved.
        if (end - begin > 1 || is_unread(steps.at(members[begin]).source)) {
          join(steps, {members.begin() + begin, members.begin() + end}, replaced);
        }
      }
    }
    for (const auto& [id, step] : steps) {  // some may be switched otherwise too
      for (const std::size_t value : step.reads) {
        replaced.erase(value);
      }
    }
    for (const std::size_t moved : replaced) {
      leave_out_if_unread(moved);
    }
  }

  void join(std::map<std::size_t, Step>& steps, const std::vector<std::size_t>& members,
            std::set<std::size_t>& replaced) const {
    Step joined = steps.at(members[0]);
    joined.switches.clear();
    for (const std::size_t id : members) {
      const std::size_t moved = steps.at(id).source;
      PlannedSwitch& one = joined.switches.emplace_back(steps.at(id).switches[0]);
      one.element = nodes_[moved].element;
      joined.source = nodes_[moved].operands[0];
      steps.erase(id);
      replaced.insert(moved);
    }
    set_reads(joined);
    steps.emplace(members[0], std::move(joined));
  }

  // Makes one step of each sum of two products that nothing else reads.
  void sum_products(std::map<std::size_t, Step>& steps) {
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const auto& terms = nodes_[id].operands;
      if (left_out_[id] || nodes_[id].op != Op::kAdd || !is_own_product(terms[0]) ||
          !is_own_product(terms[1])) {
        continue;
      }
      Step& step = steps[id];
      step.node = id;
      step.sums_products = true;
      for (const std::size_t product : terms) {
        left_out_[product] = true;
        const auto& factors = nodes_[product].operands;
        step.reads.insert(step.reads.end(), factors.begin(), factors.end());
      }
    }
  }

  [[nodiscard]] bool is_own_product(std::size_t id) const {
    return nodes_[id].op == Op::kMul && users_[id].size() == 1;
  }

  const std::vector<Node>& nodes_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<bool> left_out_;
};

}  // namespace

std::vector<Step> plan_of(const std::vector<Node>& nodes) { return Planner(nodes).plan(); }

}  // namespace ringsmith
