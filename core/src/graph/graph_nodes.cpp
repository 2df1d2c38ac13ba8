#include "graph_nodes.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/bfv.h"
#include "ringsmith/error.h"

namespace ringsmith {
namespace {

// Builds one node of a graph from its operands and attributes, and says what is wrong with them.
class NodeBuilder {
 public:
  NodeBuilder(const Graph& graph, std::string_view op, std::vector<std::size_t> operands,
              const Attributes& attributes)
      : rns_(graph.rns()),
        key_primes_(graph.key_primes()),
        nodes_(graph.nodes()),
        op_(op),
        attributes_(attributes) {
    const std::optional<Op> named = op_of(op);
    if (!named) {
      fail("is an unknown operation");
    }
    node_.op = *named;
    node_.operands = std::move(operands);
    for (const std::size_t operand : node_.operands) {
      if (operand >= nodes_.size()) {
        fail("has operand ", operand, ", which does not exist: operands come before their users");
      }
      if (nodes_[operand].op == Op::kOutput) {
        fail("has operand ", operand, ", an output: use the output's own operand");
      }
    }
  }

  Node build() {
    switch (node_.op) {
      case Op::kInput:
        build_input();
        break;
      case Op::kOutput:
        take_polynomials(1);
        node_.name = unique_name();
        break;
      case Op::kAdd:
      case Op::kSub:
        take_operands(2);
        break;
      case Op::kNeg:
        take_operands(1);
        break;
      case Op::kMul:
        build_mul();
        break;
      case Op::kAutomorph:
        take_operands(1);
        build_automorph();
        break;
      case Op::kNtt:
        take_operands(1);
        require_form(Form::kCoeff);
        node_.type.form = Form::kNtt;
        break;
      case Op::kIntt:
        take_operands(1);
        require_form(Form::kNtt);
        node_.type.form = Form::kCoeff;
        break;
      case Op::kModUp:
        take_operands(1);
        build_mod_up();
        break;
      case Op::kKskInnerProduct:
        build_ksk_inner_product();
        break;
      case Op::kModDown:
        take_operands(1);
        build_mod_down();
        break;
      case Op::kDropLimbs:
        take_operands(1);
        build_drop_limbs();
        break;
      case Op::kLift:
        take_polynomials(1);
        build_lift();
        break;
      case Op::kScale:
        take_polynomials(1);
        build_scale();
        break;
      case Op::kDecompose:
        take_polynomials(1);
        build_decompose();
        break;
      case Op::kDigits:
        take_polynomials(1);
        build_digits();
        break;
      case Op::kKeyProduct:
        build_key_product();
        break;
      case Op::kKeySwitch:
        build_key_switch();
        break;
      case Op::kHalf:
        build_half();
        break;
      case Op::kMulScalar:
        take_operands(1);
        take_scalars();
        break;
      case Op::kAddScalar:
        take_polynomials(1);
        take_scalars();
        break;
    }
    for (const auto& [name, value] : attributes_) {
      if (!used_.contains(name)) {
        fail("has an attribute '", name, "' that it does not know");
      }
    }
    return std::move(node_);
  }

 private:
  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw GraphError(text("node ", nodes_.size(), " (", op_, ") ", parts...));
  }

  template <typename Value>
  const Value& attribute(const std::string& name, const char* kind) {
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) {
      fail("lacks its attribute '", name, "' (", kind, ")");
    }
    const Value* const value = std::get_if<Value>(&found->second);
    if (value == nullptr) {
      fail("needs ", kind, " as its attribute '", name, "'");
    }
    used_.insert(name);
    return *value;
  }

  const std::string& text_attribute(const std::string& name) {
    return attribute<std::string>(name, "a text");
  }

  const std::vector<u64>& list_attribute(const std::string& name, const char* kind) {
    return attribute<std::vector<u64>>(name, kind);
  }

  // Distinct indices, at least one unless `optional`.
  std::vector<std::size_t> indices_attribute(const std::string& name, bool optional = false) {
    const auto& list = list_attribute(name, "a list of indices");
    if (optional && list.empty()) {
      return {};
    }
    if (list.empty() || std::set<u64>(list.begin(), list.end()).size() != list.size()) {
      fail("needs at least one index, and none twice, in '", name, "'");
    }
    return {list.begin(), list.end()};
  }

  Base base_attribute(const std::string& name, bool optional = false) {
    Base base = indices_attribute(name, optional);
    for (const std::size_t prime : base) {
      if (prime >= rns_.size()) {
        fail("names prime ", prime, " in '", name, "', but the graph has ", rns_.size(), " primes");
      }
    }
    return base;
  }

  // Primes of the operand; exactly one where the variant is `single`.
  void take_primes(const std::string& name, std::string_view single) {
    node_.primes = base_attribute(name);
    if (text_attribute("variant") == single && node_.primes.size() != 1) {
      fail("has ", node_.primes.size(), " primes in '", name, "': variant '", single,
           "' takes one");
    }
    for (const std::size_t prime : node_.primes) {
      require_in_base(prime);
    }
  }

  void require_variant(std::initializer_list<std::string_view> variants) {
    const std::string& variant = text_attribute("variant");
    if (std::find(variants.begin(), variants.end(), variant) != variants.end()) {
      return;
    }
    std::string known;
    for (const std::string_view name : variants) {
      known += text(known.empty() ? "'" : ", '", name, "'");
    }
    fail("has variant '", variant, "'; known is ", known);
  }

  void require_operands(std::size_t least, std::size_t most) const {
    const std::size_t count = node_.operands.size();
    if (count < least || count > most) {
      fail("has ", count, " operands and takes ", least,
           least == most ? "" : text(" to ", most).c_str());
    }
  }

  [[nodiscard]] const ValueType& type_of(std::size_t position) const {
    return nodes_[node_.operands[position]].type;
  }

  // The operands from `first` on have one type: they are polynomials, or pairs where allowed.
  void require_one_type(std::size_t first, bool pairs) const {
    for (std::size_t i = first; i < node_.operands.size(); ++i) {
      const ValueType& type = type_of(i);
      if (type.kind == Kind::kDigits || (type.kind == Kind::kPair && !pairs)) {
        fail("has operand ", node_.operands[i], ", ", kind_name(type.kind), ": it takes ",
             pairs ? "polynomials or pairs" : "polynomials",
             type.kind == Kind::kPair ? "; take a half of the pair first" : "");
      }
      if (type.kind != type_of(first).kind) {
        fail("has a polynomial and a pair as operands: both must be of one kind");
      }
      if (type != type_of(first)) {
        fail("has operands of different bases or forms: bring them to one level and form first");
      }
    }
  }

  // All operands have one type, which is the node's until the operation changes it.
  void take_operands(std::size_t count) {
    require_operands(count, count);
    require_one_type(0, true);
    node_.type = type_of(0);
  }

  // The same for operations that take no pairs.
  void take_polynomials(std::size_t count) {
    require_operands(count, count);
    require_one_type(0, false);
    node_.type = type_of(0);
  }

  void require_form(Form form) const {
    if (node_.type.form != form) {
      fail("needs its operands in ", form == Form::kNtt ? "NTT" : "coefficient", " form");
    }
  }

  static bool contains(const Base& base, std::size_t prime) {
    return std::find(base.begin(), base.end(), prime) != base.end();
  }

  static bool contains_all(const Base& base, const Base& part) {
    return std::ranges::all_of(part, [&base](std::size_t prime) { return contains(base, prime); });
  }

  void require_in_base(std::size_t prime) const {
    if (!contains(node_.type.base, prime)) {
      fail("needs prime ", prime, " in its operand's base");
    }
  }

  const std::string& unique_name() {
    const std::string& name = text_attribute("name");
    for (const Node& other : nodes_) {
      if (other.op == node_.op && other.name == name) {
        fail("has the name '", name, "' of an earlier ", op_, ": names must be unique");
      }
    }
    return name;
  }

  void build_input() {
    if (!node_.operands.empty()) {
      fail("takes no operands");
    }
    node_.name = unique_name();
    node_.type.base = base_attribute("base");
    const std::string& form = text_attribute("form");
    if (form != "ntt" && form != "coeff") {
      fail("has form '", form, "'; known are 'ntt' and 'coeff'");
    }
    node_.type.form = form == "ntt" ? Form::kNtt : Form::kCoeff;
  }

  void build_mul() {
    require_operands(2, 2);
    if (type_of(0).kind == Kind::kPair && type_of(1).kind == Kind::kPolynomial) {
      if (type_of(0).base != type_of(1).base || type_of(0).form != type_of(1).form) {
        fail("has operands of different bases or forms: bring them to one level and form first");
      }
      node_.type = type_of(0);
    } else if (type_of(0).kind == Kind::kPolynomial && type_of(1).kind == Kind::kPair) {
      fail("has a polynomial and then a pair: name the pair first");
    } else {
      take_polynomials(2);
    }
    require_form(Form::kNtt);
  }

  void build_automorph() {
    node_.element = attribute<u64>("element", "an integer");
    if (node_.element % 2 == 0 || node_.element >= 2 * rns_.degree()) {
      fail("has Galois element ", node_.element,
           ", which is not odd and below 2N = ", 2 * rns_.degree());
    }
  }

  void build_mod_up() {
    require_variant({"rns_digit", "fast_base_conv", "centred_digit", "scaled"});
    take_primes("digit", "rns_digit");
    Base target = base_attribute("base");
    node_.scaled = text_attribute("variant") == "scaled";
    node_.centred = text_attribute("variant") == "centred_digit";
    if (!node_.scaled) {
      require_one_type(0, false);
      require_form(Form::kCoeff);
    } else if (node_.primes != node_.type.base) {
      fail("scales all limbs: 'digit' must be the operand's base");
    } else if (!contains_all(target, node_.primes)) {
      fail("scales into a base that lacks a prime of its operand's");
    }
    node_.type.base = std::move(target);
  }

  void build_ksk_inner_product() {
    node_.name = text_attribute("key");
    node_.half = attribute<u64>("half", "an integer");
    if (node_.half > 1) {
      fail("has half ", node_.half, "; a key has the halves 0 and 1");
    }
    node_.digits = indices_attribute("digits");
    constexpr int kMostBits = 32;  // so that one more is a number, too
    if (const std::size_t last = std::ranges::max(node_.digits); last >> kMostBits != 0) {
      fail("names digit ", last, " of the key: name digits below 2^", kMostBits);
    }
    take_polynomials(node_.digits.size());
    require_form(Form::kNtt);
    if (node_.type.base != base_attribute("base")) {
      fail("has operands over another base than its own");
    }
    require_key_base(node_.type.base);
  }

  void require_key_base(const Base& base) const {
    if (std::ranges::max(base) >= key_primes_) {
      fail("is over an extension prime, which keys have no limbs of");
    }
  }

  void build_mod_down() {
    require_variant({"rounded", "centred_base_conv"});
    take_primes("drop", "rounded");
    for (const std::size_t prime : node_.primes) {
      std::erase(node_.type.base, prime);
    }
    if (node_.type.base.empty()) {
      fail("drops all primes of its operand");
    }
  }

  void build_drop_limbs() {
    Base kept = base_attribute("base");
    const Base& base = node_.type.base;
    auto position = base.begin();
    for (const std::size_t prime : kept) {
      position = std::find(position, base.end(), prime);
      if (position == base.end()) {
        fail("keeps prime ", prime, ", which its operand's base does not have (in this order)");
      }
      ++position;
    }
    node_.type.base = std::move(kept);
  }

  void take_multiplication() {
    require_form(Form::kCoeff);
    require_variant({"behz", "hps"});
    node_.variant =
        text_attribute("variant") == "hps" ? Multiplication::kHps : Multiplication::kBehz;
  }

  // `larger` is `smaller` and `count` more primes, or more than that.
  void require_extension(const Base& smaller, const Base& larger, std::size_t count) const {
    if (larger.size() < smaller.size() + count ||
        !std::equal(smaller.begin(), smaller.end(), larger.begin())) {
      fail("goes between a base of ", smaller.size(), " primes and one of ", larger.size(),
           ": the larger has those of the smaller first, then ", count,
           " or more of the extension");
    }
  }

  void build_lift() {
    take_multiplication();
    Base target = base_attribute("base");
    require_extension(node_.type.base, target, 1);
    node_.type.base = std::move(target);
  }

  void build_scale() {
    take_multiplication();
    node_.plain_modulus = attribute<u64>("plain_modulus", "an integer");
    if (node_.plain_modulus < 2 || node_.plain_modulus >> BfvContext::kMaxPlainBits != 0) {
      fail("has plain modulus ", node_.plain_modulus, ", which is outside 2 ... 2^",
           BfvContext::kMaxPlainBits, " - 1");
    }
    Base target = base_attribute("base");
    require_extension(target, node_.type.base, node_.variant == Multiplication::kBehz ? 2 : 1);
    node_.type.base = std::move(target);
  }

  void build_decompose() {
    require_form(Form::kCoeff);
    node_.digit = attribute<u64>("digit", "an integer");
    node_.word_bits = attribute<u64>("word_bits", "an integer");
    const std::size_t bits = product_of(rns_, node_.type.base).bits();
    if (node_.word_bits < 1 || node_.digit > bits / node_.word_bits ||
        node_.digit * node_.word_bits >= bits) {
      fail("has digit ", node_.digit, " of ", node_.word_bits,
           " bits, and its operand's coefficients have ", bits, " bits");
    }
    node_.type.base = base_attribute("base");
  }

  // How the operand is cut into digits over `base`, which is returned.
  Base take_cut() {
    require_variant({"fast_base_conv", "centred_digit", "words"});
    const std::string& variant = text_attribute("variant");
    const auto& sizes = list_attribute("sizes", "a list of integers");
    Base base = base_attribute("base");
    require_key_base(base);
    if (variant == "words") {
      node_.cut = DigitVariant::kWords;
      check_words(sizes);
    } else {
      node_.cut =
          variant == "centred_digit" ? DigitVariant::kCentredDigit : DigitVariant::kFastBaseConv;
      check_digit_sizes(sizes);
      if (!contains_all(base, type_of(0).base)) {
        fail("cuts digits over a base that lacks a prime of its operand's");
      }
    }
    node_.sizes = {sizes.begin(), sizes.end()};
    return base;
  }

  void check_digit_sizes(const std::vector<u64>& sizes) const {
    u64 left = type_of(0).base.size();
    for (const u64 size : sizes) {
      if (size < 1 || size > left) {
        left = ~u64{0};
        break;
      }
      left -= size;
    }
    if (left != 0) {
      fail("has 'sizes' that do not add up to its operand's ", type_of(0).base.size(),
           " primes: name for each digit how many primes it has, at least one");
    }
  }

  void check_words(const std::vector<u64>& sizes) const {
    const std::size_t bits = product_of(rns_, type_of(0).base).bits();
    const u64 size = sizes.empty() ? 0 : sizes[0];
    if (size < 1 || std::ranges::count(sizes, size) != static_cast<std::ptrdiff_t>(sizes.size()) ||
        sizes.size() != (bits - 1) / size + 1) {
      fail("has ", sizes.size(), " words in 'sizes', and its operand's coefficients have ", bits,
           " bits: name equal sizes of at least 1 bit, as many as cover them");
    }
  }

  void build_digits() {
    Base base = take_cut();
    node_.type = {std::move(base), Form::kNtt, Kind::kDigits, node_.sizes.size()};
  }

  void build_key_product() {
    require_operands(1, 3);
    const ValueType& digits = type_of(0);
    if (digits.kind != Kind::kDigits) {
      fail("has operand ", node_.operands[0], ", ", kind_name(digits.kind),
           ": its first operand must be digits");
    }
    require_one_type(1, false);
    for (std::size_t i = 1; i < node_.operands.size(); ++i) {
      if (type_of(i).form != Form::kNtt) {
        fail("needs what it adds in NTT form");
      }
      if (!contains_all(digits.base, type_of(i).base)) {
        fail("adds a polynomial that has a prime which the digits' base lacks");
      }
    }
    node_.name = text_attribute("key");
    build_automorph();
    node_.type = {digits.base, Form::kNtt, Kind::kPair, 2};
  }

  void build_key_switch() {
    require_operands(1, 3);
    require_one_type(0, false);
    node_.name = text_attribute("key");
    build_automorph();
    node_.extended = take_cut();
    if (node_.operands.size() > 1 && !contains_all(node_.extended, type_of(0).base)) {
      fail("adds polynomials over primes that its 'base' lacks");
    }
    node_.primes = base_attribute("drop", true);
    Base kept;
    for (const std::size_t prime : node_.extended) {
      if (!contains(node_.primes, prime)) {
        kept.push_back(prime);
      }
    }
    if (kept.empty() || kept.size() + node_.primes.size() != node_.extended.size()) {
      fail(
          "has primes in 'drop' that are not in 'base', or all of 'base': drop some of its primes");
    }
    node_.type = {std::move(kept), type_of(0).form, Kind::kPair, 2};
  }

  void build_half() {
    require_operands(1, 1);
    if (type_of(0).kind != Kind::kPair) {
      fail("has operand ", node_.operands[0], ", ", kind_name(type_of(0).kind),
           ": it takes a half of a pair");
    }
    node_.half = attribute<u64>("half", "an integer");
    if (node_.half > 1) {
      fail("has half ", node_.half, "; a pair has the halves 0 and 1");
    }
    node_.type = {type_of(0).base, type_of(0).form};
  }

  void take_scalars() {
    const Base& base = node_.type.base;
    const auto& values = list_attribute("values", "a list of integers");
    if (values.size() != base.size()) {
      fail("has ", values.size(), " residues in 'values', and its operand's base has ", base.size(),
           " primes: name one for each");
    }
    for (std::size_t i = 0; i < base.size(); ++i) {
      const u64 prime = rns_.modulus(base[i]).value();
      if (values[i] >= prime) {
        fail("has the residue ", values[i], " in 'values', which is not below its prime ", prime);
      }
    }
    node_.scalars = values;
  }

  static std::string_view kind_name(Kind kind) {
    return kind == Kind::kPolynomial ? "a polynomial" : kind == Kind::kDigits ? "digits" : "a pair";
  }

  const RnsContext& rns_;
  std::size_t key_primes_;
  const std::vector<Node>& nodes_;
  std::string_view op_;
  const Attributes& attributes_;
  std::set<std::string> used_;
  Node node_;
};

}  // namespace

Node checked_node(const Graph& graph, std::string_view op, std::vector<std::size_t> operands,
                  const Attributes& attributes) {
  return NodeBuilder(graph, op, std::move(operands), attributes).build();
}

}  // namespace ringsmith
