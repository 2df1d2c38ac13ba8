// The reference interpreter of the subroutine graph.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "graph_limbwise.h"
#include "graph_plan.h"
#include "graph_switch.h"
#include "keyswitch/key_words.h"
#include "platform/parallel.h"
#include "platform/scratch.h"
#include "platform/text.h"
#include "ring/multiples.h"
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
        steps_(plan_of(nodes_, made_inputs())),
        checked_late_(nodes_.size()),
        values_(nodes_.size()),
        given_(nodes_.size()),
        uses_left_(nodes_.size()) {
    for (const Step& step : steps_) {
      for (const std::size_t value : step.reads) {
        ++uses_left_[value];
      }
    }
    find_late_checks();
    check_arguments();
    for (const Node& node : nodes_) {
      if (node.op != Op::kOutput) {
        continue;
      }
      const std::size_t value = node.operands[0];
      if (nodes_[value].op == Op::kInput) {
        ++uses_left_[value];  // it is copied at the end
      } else {
        const auto [id, part] = stored(value);
        given_[id][part] = outputs_.find(node.name)->second;
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
        for (const std::size_t value : whole_reads(*step)) {
          fetch(value);
        }
      }
      parallel_for(ready.size(), kTransformPasses * rns_.degree(),
                   [&](std::size_t i) { compute_step(*ready[i]); });
      for (const Step* const step : ready) {
        for (const std::size_t value : step->results) {
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
  // What a step reads of which all words must be in memory: a limbwise step repeats the words of
  // shortened inputs a run at a time.
  [[nodiscard]] std::vector<std::size_t> whole_reads(const Step& step) const {
    if (step.kind != StepKind::kLimbwise) {
      return step.reads;
    }
    std::set<std::size_t> whole;
    for (const Step& part : step.parts) {
      for (const std::size_t value : part.reads) {
        if (repeats(value) == 1 || reads_whole(nodes_, part)) {
          whole.insert(value);
        }
      }
    }
    return {whole.begin(), whole.end()};
  }

  // For how many equal words each word of an input stands that is shortened; 1: it is not.
  [[nodiscard]] std::size_t repeats(std::size_t id) const {
    const Node& node = nodes_[id];
    const auto given = node.op == Op::kInput ? inputs_.find(node.name) : inputs_.end();
    return given == inputs_.end() ? 1 : words_of(rns_, node.type) / given->second.data.size();
  }

  // Of each node, whether it is an input that was not given.
  [[nodiscard]] std::vector<bool> made_inputs() const {
    std::vector<bool> made(nodes_.size());
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      made[id] = nodes_[id].op == Op::kInput && !inputs_.contains(nodes_[id].name);
    }
    return made;
  }

  // Inputs that one limbwise step alone reads, which checks each run of words as well: they are
  // then read from memory once.
  void find_late_checks() {
    for (const Step& step : steps_) {
      for (const Step& part : step.parts) {
        for (const std::size_t value : reads_whole(nodes_, part) ? Base() : part.reads) {
          checked_late_[value] = nodes_[value].op == Op::kInput && uses_left_[value] == 1 &&
                                 inputs_.contains(nodes_[value].name) && repeats(value) == 1;
        }
      }
    }
    for (const Node& node : nodes_) {
      if (node.op == Op::kOutput) {
        checked_late_[node.operands[0]] = false;
      }
    }
    for (const Step& step : steps_) {
      for (const Step& part : step.parts) {
        for (const std::size_t value : reads_whole(nodes_, part) ? part.reads : Base()) {
          checked_late_[value] = false;
        }
      }
    }
  }

  void check_arguments() const {
    Names inputs;
    Names keys;
    Names outputs;
    for (const Node& node : nodes_) {
      if (node.op == Op::kInput) {
        inputs.insert(node.name);
      } else if (node.op == Op::kOutput) {
        outputs.insert(node.name);
      } else if (has_key(node)) {
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
      } else if (has_key(node)) {
        check_key(node);
      }
    }
  }

  static bool has_key(const Node& node) {
    return node.op == Op::kKskInnerProduct || node.op == Op::kKeyProduct ||
           node.op == Op::kKeySwitch;
  }

  // How many of the key's digits, from the first one on, contain all that a node reads.
  [[nodiscard]] std::size_t key_digits(const Node& node) const {
    if (node.op == Op::kKskInnerProduct) {
      return std::ranges::max(node.digits) + 1;
    }
    return node.op == Op::kKeySwitch ? node.sizes.size() : nodes_[node.operands[0]].type.count;
  }

  void check_input(const Node& node) const {
    const PolynomialView& given = inputs_.find(node.name)->second;
    const std::size_t limbs = node.type.base.size();
    const std::size_t words = given.limbs == 0 ? 0 : given.data.size() / given.limbs;
    const bool fits = given.limbs == limbs && given.data.size() == limbs * words &&
                      std::has_single_bit(words) && words <= rns_.degree() &&
                      (words == rns_.degree() || node.type.form == Form::kNtt);
    if (!fits) {
      throw GraphError(text("input '", node.name, "' has ", given.limbs, " limbs and ",
                            given.data.size(), " words; the graph expects ", limbs,
                            " limbs of N = ", rns_.degree(),
                            ", or, in NTT form, of a power of two below"));
    }
    if (words < rns_.degree()) {
      check_shortened(node, given.data);
    } else if (!checked_late_[static_cast<std::size_t>(&node - nodes_.data())]) {
      check_residues(node, given.data);
    }
  }

  void check_residues(const Node& input, std::span<const u64> words) const {
    rns_.check_canonical(words, input.type.base, text("input '", input.name, "'"));
  }

  void check_shortened(const Node& input, std::span<const u64> words) const {
    const std::size_t limbs = input.type.base.size();
    for (std::size_t limb = 0; limb < limbs; ++limb) {
      kernels::check_key_limb(limb_of(words, limb, words.size() / limbs), input.type.base[limb],
                              rns_.modulus(input.type.base[limb]),
                              text("input '", input.name, "'"));
    }
  }

  void check_output(const Node& node) const {
    const std::size_t wanted = node.type.base.size() * rns_.degree();
    const std::size_t given = outputs_.find(node.name)->second.size();
    if (given != wanted) {
      throw GraphError(
          text("output '", node.name, "' has ", given, " words and the graph writes ", wanted));
    }
  }

  // Refuses a key that has not the digits and limbs that a node reads.
  void check_key(const Node& node) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    const std::size_t needed = key_digits(node);
    if (key.precomputed != nullptr &&
        (key.digits < needed || !key.precomputed->is_of(rns_, key_primes_))) {
      throw GraphError(text("the precomputed key '", node.name, "' is of ", key.digits,
                            " digits, and not of the graph's degree and primes with at least ",
                            needed, " digits: precompute one of the graph's parameters"));
    }
    check_key_base(node, key);
    const std::size_t limbs = key.base.empty() ? key_primes_ : key.base.size();
    if (key.digits < needed ||
        key.data.size() != key.digits * key.halves() * limbs * rns_.degree()) {
      throw GraphError(text("key '", node.name, "' has ", key.digits, " digits and ",
                            key.data.size(), " words; the graph expects at least ", needed,
                            " digits of ", key.halves() == 2 ? "2 halves" : "half 0", " of ", limbs,
                            " limbs of N = ", rns_.degree()));
    }
  }

  void check_key_base(const Node& node, const KeySwitchKeyView& key) const {
    if (key.base.empty()) {
      return;
    }
    if (std::ranges::adjacent_find(key.base, std::greater_equal()) != key.base.end() ||
        key.base.back() >= key_primes_) {
      throw GraphError(text("key '", node.name, "' has limbs of primes that are not ascending in 0",
                            " ... ", key_primes_ - 1, ": name the primes of its limbs"));
    }
    const Base& base = node.op == Op::kKeySwitch ? node.extended : node.type.base;
    for (const std::size_t prime : base) {
      if (!std::ranges::binary_search(key.base, prime)) {
        throw GraphError(text("key '", node.name, "' has no limb of prime ", prime,
                              ", which the graph uses it at: give a key of more limbs, or the full "
                              "key"));
      }
    }
  }

  // The value that a node's is part of, and which of its polynomials it is: a half of a pair is
  // read where the pair is.
  [[nodiscard]] std::pair<std::size_t, std::size_t> stored(std::size_t id) const {
    const Node& node = nodes_[id];
    return node.op == Op::kHalf ? std::pair(node.operands[0], node.half)
                                : std::pair(id, std::size_t{0});
  }

  // A polynomial, one of a pair, or digits.
  std::span<const u64> value(std::size_t of, std::size_t half = 0) const {
    const auto [id, first] = stored(of);
    if (nodes_[id].op == Op::kInput && values_[id][0].empty()) {
      const auto given = inputs_.find(nodes_[id].name);
      if (given != inputs_.end()) {
        return given->second.data;
      }
    }
    const std::size_t part = first + half;
    return given_[id][part].empty() ? std::span<const u64>(values_[id][part]) : given_[id][part];
  }

  // Where that is written: where an output of it was asked for, else in memory of its own.
  std::span<u64> memory(std::size_t id, std::size_t part = 0) {
    if (!given_[id][part].empty()) {
      return given_[id][part];
    }
    values_[id][part].resize(words_of(rns_, nodes_[id].type));
    return values_[id][part];
  }

  // Has an input made that was not given, or one in memory that is shortened, unless that was done.
  void fetch(std::size_t id) {
    const Node& node = nodes_[id];
    if (node.op != Op::kInput || !values_[id][0].empty()) {
      return;
    }
    const auto given = inputs_.find(node.name);
    const std::size_t each = repeats(id);
    if (given != inputs_.end() && each == 1) {
      return;
    }
    ScratchVector& words = values_[id][0];
    words.resize(words_of(rns_, node.type));
    if (given == inputs_.end()) {
      source_(node.name, words);
      check_residues(node, words);
      return;
    }
    for (std::size_t i = 0; i < given->second.data.size(); ++i) {
      std::fill_n(&words[i * each], each, given->second.data[i]);
    }
  }

  std::span<const u64> operand(const Node& node, std::size_t index, std::size_t part = 0) const {
    return value(node.operands[index], part);
  }

  const Base& operand_base(const Node& node) const { return nodes_[node.operands[0]].type.base; }

  // The limb of one prime in a polynomial of the first operand.
  std::span<const u64> operand_limb(const Node& node, std::span<const u64> polynomial,
                                    std::size_t prime) const {
    const Base& base = operand_base(node);
    const auto position = std::find(base.begin(), base.end(), prime) - base.begin();
    return limb_of(polynomial, static_cast<std::size_t>(position), rns_.degree());
  }

  // A node that does the same to each polynomial of a pair, or has no pairs.
  void compute(std::size_t id) {
    const Node& node = nodes_[id];
    for (std::size_t part = 0; part < parts_of(id); ++part) {
      const std::span<u64> out = memory(id, part);
      if (node.op == Op::kKskInnerProduct) {
        compute_inner_product(node, out);
        continue;
      }
      if (node.op == Op::kDigits) {
        store_digits(rns_, node, nodes_[node.operands[0]].type, operand(node, 0), out);
        continue;
      }
      std::vector<std::span<const u64>> operands;
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        const bool pair = parts_of(node.operands[i]) > 1;  // else it is a pair's factor
        operands.push_back(operand(node, i, pair ? part : 0));
      }
      compute_polynomial(node, operands, out);
    }
  }

  // Into how many parts a value is divided in memory.
  [[nodiscard]] std::size_t parts_of(std::size_t id) const {
    return nodes_[id].type.kind == Kind::kPair ? 2 : 1;
  }

  void compute_polynomial(const Node& node, std::span<const std::span<const u64>> operands,
                          std::span<u64> out) const {
    const Base& base = node.type.base;
    const std::span<const u64> first = operands[0];
    switch (node.op) {
      case Op::kAdd:
        kernels::add(rns_, base, first, operands[1], out);
        break;
      case Op::kSub:
        kernels::subtract(rns_, base, first, operands[1], out);
        break;
      case Op::kNeg:
        kernels::negate(rns_, base, first, out);
        break;
      case Op::kMul:
        kernels::multiply(rns_, base, first, operands[1], out);
        break;
      case Op::kAutomorph:
        kernels::automorph(rns_, base, node.type.form, node.element, first, out);
        break;
      case Op::kNtt:
      case Op::kIntt:
        transform(node, first, out);
        break;
      case Op::kModUp:
        compute_mod_up(node, first, out);
        break;
      case Op::kModDown:
        kernels::mod_down(rns_, operand_base(node), node.primes, node.type.form, first, out);
        break;
      case Op::kDropLimbs:
        parallel_for(base.size(), rns_.degree(), [&](std::size_t i) {
          std::ranges::copy(operand_limb(node, first, base[i]),
                            limb_of(out, i, rns_.degree()).begin());
        });
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
      case Op::kMulScalar:
        kernels::multiply_scalar(rns_, base, first, node.scalars, out);
        break;
      case Op::kAddScalar:
        kernels::add_scalar(rns_, base, node.type.form, first, node.scalars, out);
        break;
      default:
        break;  // an input is read where the caller has it, outputs are taken last
    }
  }

  void transform(const Node& node, std::span<const u64> in, std::span<u64> out) const {
    const Base& base = node.type.base;
    parallel_for(base.size(), kTransformPasses * rns_.degree(), [&](std::size_t i) {
      const NttTables& tables = rns_.ntt(base[i]);
      const std::span<const u64> from = limb_of(in, i, rns_.degree());
      const std::span<u64> to = limb_of(out, i, rns_.degree());
      if (node.op == Op::kNtt) {
        tables.forward(from, tables.modulus().value(), 0, to);
      } else {
        tables.inverse(from, to);
      }
    });
  }

  void compute_mod_up(const Node& node, std::span<const u64> in, std::span<u64> out) const {
    if (node.scaled) {
      kernels::mod_up_scaled(rns_, node.primes, node.type.base, in, out);
      return;
    }
    std::vector<u64> digit;
    for (const std::size_t prime : node.primes) {
      const std::span<const u64> limb = operand_limb(node, in, prime);
      digit.insert(digit.end(), limb.begin(), limb.end());
    }
    if (node.centred) {
      kernels::lift_digit(rns_, node.primes, node.type.base, digit, out);
    } else {
      kernels::mod_up(rns_, node.primes, node.type.base, digit, out);
    }
  }

  void compute_inner_product(const Node& node, std::span<u64> out) const {
    const KeySwitchKeyView& key = keys_.find(node.name)->second;
    std::vector<std::span<const u64>> digits;
    for (std::size_t i = 0; i < node.digits.size(); ++i) {
      digits.push_back(operand(node, i));
      if (node.half < key.halves()) {
        rns_.check_canonical(key.half(node.digits[i], node.half),
                             key.base.empty() ? consecutive_base(key_primes_)
                                              : Base(key.base.begin(), key.base.end()),
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

  void compute_step(const Step& step) {
    switch (step.kind) {
      case StepKind::kNode:
        compute(step.nodes[0]);
        break;
      case StepKind::kSum:
        compute_sum(step);
        break;
      case StepKind::kSwitches:
        compute_switches(step);
        break;
      case StepKind::kProducts:
        compute_products(step);
        break;
      case StepKind::kLimbwise:
        compute_limbwise(step);
        break;
    }
  }

  void compute_sum(const Step& step) {
    const std::size_t sum = step.nodes[0];
    const Base& base = nodes_[sum].type.base;
    std::array<std::span<u64>, 2> outs;
    std::array<std::vector<std::span<const u64>>, 2> parts;
    std::vector<std::span<const u64>> factors;
    for (const std::size_t product : step.products) {
      factors.push_back(operand(nodes_[product], 1));
    }
    for (std::size_t part = 0; part < parts_of(sum); ++part) {
      outs[part] = memory(sum, part);
      for (const std::size_t product : step.products) {
        parts[part].push_back(operand(nodes_[product], 0, part));
      }
    }
    if (!factors.empty() && parts_of(sum) == 2) {
      kernels::sums_of_products(rns_, base, factors, {parts[0], parts[1]}, outs);
    } else if (!factors.empty()) {
      kernels::sum_of_products(rns_, base, factors, parts[0], outs[0]);
    }
    for (std::size_t part = 0; part < parts_of(sum); ++part) {
      add_multiples(step, part, outs[part]);
    }
  }

  // A polynomial of a sum's multiples and addends, and of its products, which are in `out`.
  void add_multiples(const Step& step, std::size_t part, std::span<u64> out) const {
    std::vector<kernels::Multiple> terms;
    for (const std::size_t multiple : step.multiples) {
      terms.push_back({operand(nodes_[multiple], 0, part), nodes_[multiple].scalars});
    }
    for (const std::size_t addend : step.addends) {
      terms.push_back({value(addend, part), {}});
    }
    if (!step.products.empty() && !terms.empty()) {
      terms.push_back({out, {}});
    }
    kernels::sum_of_multiples(rns_, nodes_[step.nodes[0]].type.base, terms, out);
  }

  // Where a polynomial of each value is that a limbwise step has in a slot or writes.
  using Places = std::map<std::size_t, std::array<Place, 2>>;

  void compute_limbwise(const Step& step) {
    Limbwise limbwise(rns_, nodes_[step.parts[0].results[0]].type.base);
    std::map<std::size_t, std::size_t> last_part;  // that reads a value
    for (std::size_t i = 0; i < step.parts.size(); ++i) {
      for (const std::size_t value : step.parts[i].reads) {
        last_part[value] = i;
      }
    }
    Places places;
    std::vector<bool> seen(nodes_.size());
    for (std::size_t i = 0; i < step.parts.size(); ++i) {
      const Step& part = step.parts[i];
      for (const std::size_t value : part.results) {
        const bool is_result = std::ranges::find(step.results, value) != step.results.end();
        for (std::size_t half = 0; half < parts_of(value); ++half) {
          places[value][half] =
              is_result ? Place::of_result(memory(value, half)) : limbwise.take_slot();
        }
      }
      for (const std::size_t value : reads_whole(nodes_, part) ? Base() : part.reads) {
        if (const std::size_t each = repeats(value);
            each > 1 && values_[value][0].empty() && !places.contains(value)) {
          places[value][0] = limbwise.take_slot();
          limbwise.add_shortened(this->value(value), each, places[value][0]);
        }
      }
      add_part(limbwise, part, places);
      for (const std::size_t value : part.reads) {
        if (checked_late_[value] && !seen[value]) {
          seen[value] = true;
          limbwise.add_check(this->value(value), text("input '", nodes_[value].name, "'"));
        }
      }
      for (const std::size_t value : part.reads) {
        const auto found = places.find(value);
        for (std::size_t half = 0;
             found != places.end() && last_part[value] == i && half < parts_of(value); ++half) {
          limbwise.give_back(found->second[half]);
        }
      }
    }
    limbwise.run();
  }

  [[nodiscard]] Place place_of(const Places& places, std::size_t of, std::size_t half) const {
    const auto [id, first] = stored(of);
    const auto found = places.find(id);
    return found == places.end() ? Place::of(value(of, half)) : found->second[first + half];
  }

  void add_part(Limbwise& limbwise, const Step& part, const Places& places) {
    const std::size_t id = part.nodes[0];
    const Node& node = nodes_[id];
    if (part.kind == StepKind::kProducts) {
      std::vector<std::array<Place, 2>> outs;
      for (const std::size_t product : part.results) {
        outs.push_back(places.at(product));
      }
      const std::size_t digits = node.operands[0];
      limbwise.add_products(nodes_[digits].type, value(digits), key_uses(part, false), outs);
      return;
    }
    if (part.kind == StepKind::kSum) {
      add_sum(limbwise, part, places);
      return;
    }
    for (std::size_t half = 0; half < parts_of(id); ++half) {
      if (node.op == Op::kModUp) {
        limbwise.add_raised(operand_base(node), operand(node, 0, half), places.at(id)[half]);
        continue;
      }
      std::vector<Place> operands;
      for (const std::size_t of : node.operands) {
        operands.push_back(place_of(places, of, parts_of(of) > 1 ? half : 0));
      }
      limbwise.add_node(node, operands, places.at(id)[half]);
    }
  }

  void add_sum(Limbwise& limbwise, const Step& part, const Places& places) const {
    const std::size_t id = part.nodes[0];
    std::vector<Place> factors;
    for (const std::size_t product : part.products) {
      factors.push_back(place_of(places, nodes_[product].operands[1], 0));
    }
    std::vector<std::vector<Place>> values(parts_of(id));
    std::vector<std::vector<Multiple>> terms(parts_of(id));
    std::vector<Place> outs;
    for (std::size_t half = 0; half < parts_of(id); ++half) {
      outs.push_back(places.at(id)[half]);
      for (const std::size_t product : part.products) {
        values[half].push_back(place_of(places, nodes_[product].operands[0], half));
      }
      for (const std::size_t multiple : part.multiples) {
        const Node& node = nodes_[multiple];
        terms[half].push_back({place_of(places, node.operands[0], half), node.scalars});
      }
      for (const std::size_t addend : part.addends) {
        terms[half].push_back({place_of(places, addend, half), {}});
      }
    }
    if (!factors.empty()) {
      limbwise.add_products(std::move(factors), std::move(values), outs);
    }
    for (std::size_t half = 0; half < parts_of(id); ++half) {
      if (!part.products.empty() && !terms[half].empty()) {
        terms[half].push_back({outs[half], {}});
      }
      limbwise.add_multiples(std::move(terms[half]), outs[half]);
    }
  }

  // The nodes of a step and their values, except for their first operand.
  // @param writes whether results are stored as they are
  [[nodiscard]] std::vector<KeyUse> key_uses(const Step& step, bool writes = true) {
    std::vector<KeyUse> uses;
    for (std::size_t i = 0; i < step.nodes.size(); ++i) {
      const Node& node = nodes_[step.nodes[i]];
      KeyUse& use = uses.emplace_back();
      use.node = &node;
      use.key = keys_.find(node.name)->second;
      if (writes) {
        use.out = {memory(step.results[i], 0), memory(step.results[i], 1)};
      }
      for (std::size_t added = 1; added < node.operands.size(); ++added) {
        use.added[added - 1] = operand(node, added);
        use.added_type = nodes_[node.operands[added]].type;
      }
    }
    return uses;
  }

  void compute_switches(const Step& step) {
    const std::size_t source = nodes_[step.nodes[0]].operands[0];
    switch_keys(rns_, nodes_[source].type, value(source), key_uses(step));
  }

  void compute_products(const Step& step) {
    const std::size_t digits = nodes_[step.nodes[0]].operands[0];
    const Node& result = nodes_[step.results[0]];
    multiply_digits(rns_, nodes_[digits].type, value(digits),
                    result.op == Op::kModDown ? result.primes : Base(), key_uses(step));
  }

  // Frees a value that nothing later reads.
  void release(std::size_t id) {
    if (--uses_left_[id] == 0) {
      values_[id] = {ScratchVector(), ScratchVector()};
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
  std::vector<bool> checked_late_;  // inputs that limbwise steps check
  // Of each node; a pair has two parts.
  std::vector<std::array<ScratchVector, 2>> values_;
  std::vector<std::array<std::span<u64>, 2>> given_;  // where outputs are written; else empty
  std::vector<std::size_t> uses_left_;                // steps that have not read a value yet
};

}  // namespace

void Graph::run(const GraphInputs& inputs, const GraphKeys& keys, const GraphOutputs& outputs,
                const InputSource& source) const {
  Interpreter(*this, inputs, keys, outputs, source).run();
}

}  // namespace ringsmith
