// The reference interpreter of the subroutine graph.
#include <algorithm>
#include <array>
#include <list>
#include <set>

#include "graph_plan.h"
#include "keyswitch/digit_products.h"
#include "keyswitch/divided_products.h"
#include "keyswitch/key_words.h"
#include "platform/parallel.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/graph.h"
#include "ringsmith/kernels.h"
#include "ringsmith/lift_scale.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/threads.h"

namespace ringsmith {
namespace {

using Names = std::set<std::string, std::less<>>;

// Every name of `given` must be among `wanted` and, unless the rest comes later, the other way
// round.
template <typename Given>
void check_names(const Given& given, const Names& wanted, const char* kind,
                 bool rest_later = false) {
  for (const std::string& name : wanted) {
    if (!rest_later && !given.contains(name)) {
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
  Interpreter(const Graph& graph, const GraphInputs& inputs, const GraphKeys& keys,
              const GraphOutputs& outputs, const InputSource& source)
      : rns_(graph.rns()),
        key_primes_(graph.key_primes()),
        nodes_(graph.nodes()),
        inputs_(inputs),
        keys_(keys),
        outputs_(outputs),
        source_(source),
        steps_(plan_of(nodes_)),
        values_(nodes_.size()),
        given_(nodes_.size()),
        uses_left_(nodes_.size()) {
    check_arguments();
    for (const Step& step : steps_) {
      for (const std::size_t value : step.reads) {
        ++uses_left_[value];
      }
    }
    for (const Node& node : nodes_) {
      if (node.op != Op::kOutput) {
        continue;
      }
      const std::size_t value = node.operands[0];
      if (nodes_[value].op == Op::kInput) {
        ++uses_left_[value];  // it is copied at the end
      } else {
        given_[value] = outputs_.find(node.name)->second;
      }
    }
  }

  void run() {
    std::vector<bool> there(nodes_.size());  // values that steps may read
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      there[id] = nodes_[id].op == Op::kInput;
    }
    std::list<const Step*> waiting;
    for (const Step& step : steps_) {
      waiting.push_back(&step);
    }
    while (!waiting.empty()) {
      const std::vector<const Step*> ready = take_ready(waiting, there);
      for (const Step* const step : ready) {
        for (const std::size_t value : step->reads) {
          fetch(value);
        }
      }
      parallel_for(ready.size(), kTransformPasses * rns_.degree(),
                   [&](std::size_t i) { compute_step(*ready[i]); });
      for (const Step* const step : ready) {
        for (const std::size_t value : written_by(*step)) {
          there[value] = true;
        }
        for (const std::size_t value : step->reads) {
          release(value);
        }
      }
    }
    copy_outputs();
  }

 private:
  void check_arguments() const {
    Names inputs;
    Names keys;
    Names outputs;
    for (const Node& node : nodes_) {
      if (node.op == Op::kInput) {
        inputs.insert(node.name);
      } else if (node.op == Op::kOutput) {
        outputs.insert(node.name);
      } else if (node.op == Op::kKskInnerProduct) {
        keys.insert(node.name);
      }
    }
    check_names(inputs_, inputs, "input", source_ != nullptr);
    check_names(keys_, keys, "key");
    check_names(outputs_, outputs, "output");
    for (const Node& node : nodes_) {
      if (node.op == Op::kInput && inputs_.contains(node.name)) {
        check_input(node);
      } else if (node.op == Op::kOutput) {
        check_output(node);
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
    check_residues(node, given.data);
  }

  void check_residues(const Node& input, std::span<const u64> words) const {
    rns_.check_canonical(words, input.type.base, text("input '", input.name, "'"));
  }

  void check_output(const Node& node) const {
    const std::size_t wanted = node.type.base.size() * rns_.degree();
    const std::size_t given = outputs_.find(node.name)->second.size();
    if (given != wanted) {
      throw GraphError(
          text("output '", node.name, "' has ", given, " words and the graph writes ", wanted));
    }
  }

  void check_key(const Node& node) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    const std::size_t needed = *std::max_element(node.digits.begin(), node.digits.end()) + 1;
    if (key.precomputed != nullptr &&
        (key.digits < needed || !key.precomputed->is_of(rns_, key_primes_))) {
      throw GraphError(text("the precomputed key '", node.name, "' is of ", key.digits,
                            " digits, and not of the graph's degree and primes with at least ",
                            needed, " digits: precompute one of the graph's parameters"));
    }
    if (key.digits < needed ||
        key.data.size() != key.digits * key.halves() * key_primes_ * rns_.degree()) {
      throw GraphError(text("key '", node.name, "' has ", key.digits, " digits and ",
                            key.data.size(), " words; the graph expects at least ", needed,
                            " digits of ", key.halves() == 2 ? "2 halves" : "half 0", " of ",
                            key_primes_, " limbs of N = ", rns_.degree()));
    }
  }

  std::span<const u64> value(std::size_t id) const {
    if (nodes_[id].op == Op::kInput) {
      const auto given = inputs_.find(nodes_[id].name);
      if (given != inputs_.end()) {
        return given->second.data;
      }
    }
    return given_[id].empty() ? std::span<const u64>(values_[id]) : given_[id];
  }

  // Where a value is written: where an output of it was asked for, else in memory of its own.
  std::span<u64> memory(std::size_t id) {
    if (!given_[id].empty()) {
      return given_[id];
    }
    values_[id].resize(nodes_[id].type.base.size() * rns_.degree());
    return values_[id];
  }

  // Has an input made that was not given, unless that was done.
  void fetch(std::size_t id) {
    const Node& node = nodes_[id];
    if (node.op == Op::kInput && !inputs_.contains(node.name) && values_[id].empty()) {
      values_[id].resize(node.type.base.size() * rns_.degree());
      source_(node.name, values_[id]);
      check_residues(node, values_[id]);
    }
  }

  std::span<const u64> operand(const Node& node, std::size_t index) const {
    return value(node.operands[index]);
  }

  const Base& operand_base(const Node& node) const { return nodes_[node.operands[0]].type.base; }

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
        break;  // an input is read where the caller has it, outputs are taken last
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
    if (node.centred) {
      kernels::lift_digit(rns_, node.primes, node.type.base, digit, out);
    } else {
      kernels::mod_up(rns_, node.primes, node.type.base, digit, out);
    }
  }

  static std::string key_name(const Node& node) { return text("key '", node.name, "'"); }

  void compute_inner_product(const Node& node, std::span<u64> out) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    std::vector<std::span<const u64>> digits;
    for (std::size_t i = 0; i < node.digits.size(); ++i) {
      digits.push_back(operand(node, i));
      if (node.half < key.halves()) {
        rns_.check_canonical(key.half(node.digits[i], node.half), consecutive_base(key_primes_),
                             key_name(node));
      }
    }
    kernels::key_inner_product(rns_, node.type.base, digits, key, node.digits, node.half, out);
  }

  // The next steps whose operands are there: one, or with several threads as many as keep them busy
  // without looking far ahead, so that not much more is in memory.
  static std::vector<const Step*> take_ready(std::list<const Step*>& waiting,
                                             const std::vector<bool>& there) {
    constexpr std::size_t kWindow = 64;
    const std::size_t most = threads() == 1 ? 1 : 2 * threads();
    std::vector<const Step*> ready;
    auto next = waiting.begin();
    for (std::size_t seen = 0; seen < kWindow && next != waiting.end() && ready.size() < most;
         ++seen) {
      const auto& reads = (*next)->reads;
      if (std::ranges::all_of(reads, [&there](std::size_t value) { return there[value]; })) {
        ready.push_back(*next);
        next = waiting.erase(next);
      } else {
        ++next;
      }
    }
    return ready;
  }

  static std::vector<std::size_t> written_by(const Step& step) {
    if (step.switches.empty()) {
      return {step.node};
    }
    std::vector<std::size_t> written;
    for (const PlannedSwitch& one : step.switches) {
      written.insert(written.end(), one.results.begin(), one.results.end());
    }
    return written;
  }

  void compute_step(const Step& step) {
    if (step.sums_products) {
      compute_sum_of_products(nodes_[step.node], memory(step.node));
    } else if (step.switches.empty()) {
      compute(nodes_[step.node], memory(step.node));
    } else {
      compute_switches(step);
    }
  }

  void compute_sum_of_products(const Node& sum, std::span<u64> out) const {
    const Node& first = nodes_[sum.operands[0]];
    const Node& second = nodes_[sum.operands[1]];
    const std::array a = {operand(first, 0), operand(second, 0)};
    const std::array b = {operand(first, 1), operand(second, 1)};
    kernels::sum_of_products(rns_, sum.type.base, a, b, out);
  }

  void compute_switches(const Step& step) {
    std::vector<kernels::Switching> switchings;
    std::vector<kernels::DividedPair> pairs;
    for (const PlannedSwitch& one : step.switches) {
      kernels::Switching& switching = switchings.emplace_back();
      kernels::DividedPair& pair = pairs.emplace_back();
      const Node& product = nodes_[one.products[0]];  // the other one's key and digits are the same
      switching.element = one.element;
      switching.name = key_name(product);
      switching.key = keys_.find(product.name)->second;
      switching.digits = product.digits;
      for (std::size_t half = 0; half < 2; ++half) {
        pair.out[half] = memory(one.results[half]);
        if (one.raised) {
          pair.raised[half] = value((*one.raised)[half]);
        }
        if (one.added[half]) {
          pair.added[half] = value(*one.added[half]);
        }
      }
      pair.element = one.added_element;
    }
    const ValueType& source = nodes_[step.source].type;
    const kernels::DigitProducts products(rns_, source.base, source.form, value(step.source),
                                          step.digits, std::move(switchings));
    const Base& base = nodes_[step.switches[0].products[0]].type.base;
    if (step.divided) {
      const ValueType& result = nodes_[step.switches[0].results[0]].type;
      kernels::divided_products(rns_, products, base, result.base.size(), result.form, pairs);
      return;
    }
    parallel_for(base.size(), products.words_at_prime(), [&](std::size_t i) {
      const kernels::LimbPair sums = {limb_of(pairs[0].out[0], i, rns_.degree()),
                                      limb_of(pairs[0].out[1], i, rns_.degree())};
      products.at(BaseView(base).subspan(i, 1), {&sums, 1});
    });
  }

  // Frees a value that nothing later reads.
  void release(std::size_t id) {
    if (--uses_left_[id] == 0) {
      values_[id] = Words();  // `= {}` would keep the memory: it assigns an empty list
    }
  }

  // Outputs that are inputs, and all but one of those of the same value.
  void copy_outputs() {
    for (const Node& node : nodes_) {
      if (node.op == Op::kOutput) {
        fetch(node.operands[0]);
        const std::span<const u64> words = value(node.operands[0]);
        const std::span<u64> out = outputs_.find(node.name)->second;
        if (words.data() != out.data()) {
          std::ranges::copy(words, out.begin());
        }
      }
    }
  }

  const RnsContext& rns_;
  std::size_t key_primes_;
  const std::vector<Node>& nodes_;
  const GraphInputs& inputs_;
  const GraphKeys& keys_;
  const GraphOutputs& outputs_;
  const InputSource& source_;
  std::vector<Step> steps_;
  std::vector<Words> values_;
  std::vector<std::span<u64>> given_;   // where values are written that are outputs; else empty
  std::vector<std::size_t> uses_left_;  // steps that have not read a value yet
};

}  // namespace

void Graph::run(const GraphInputs& inputs, const GraphKeys& keys, const GraphOutputs& outputs,
                const InputSource& source) const {
  Interpreter(*this, inputs, keys, outputs, source).run();
}

}  // namespace ringsmith
