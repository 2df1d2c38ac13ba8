// The subroutine graph: its validation, and the reference interpreter, which defines every bit.
//
// docs/reference/subroutine-graph.md, "The subroutine graph", is the specification.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/lift_scale.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A node's operation. op_name gives its name in files.
enum class Op {
  kInput,
  kOutput,
  kAdd,
  kSub,
  kNeg,
  kMul,
  kAutomorph,
  kNtt,
  kIntt,
  kModUp,
  kKskInnerProduct,
  kModDown,
  kDropLimbs,
  kLift,
  kScale,
  kDecompose,
  kDigits,
  kKeyProduct,
  kKeySwitch,
  kHalf,
  kMulScalar,
  kAddScalar,
};

/// Returns an operation's name in a subroutine-graph file, such as "ksk_inner_product".
[[nodiscard]] std::string_view op_name(Op op);

/// A node's attributes as in a file: integers, texts and lists of integers.
using AttributeValue = std::variant<u64, std::string, std::vector<u64>>;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// What a value consists of.
enum class Kind {
  kPolynomial,
  kDigits,  ///< the digits of a polynomial, each over the value's base, in NTT form
  kPair,    ///< two polynomials
};

/// The static type of a value: `count` polynomials of one base and form.
struct ValueType {
  Base base;
  Form form = Form::kNtt;
  Kind kind = Kind::kPolynomial;
  std::size_t count = 1;  ///< digits: how many; a pair: 2

  [[nodiscard]] bool operator==(const ValueType&) const = default;
};

/// How a polynomial is cut into digits (Graph::add_node, `digits`).
enum class DigitVariant { kFastBaseConv, kCentredDigit, kWords };

/// One validated node. The operation determines which of the lower fields apply.
struct Node {
  Op op = Op::kInput;
  std::vector<std::size_t> operands;
  ValueType type;        // of the result; of the operand for an output
  std::string name;      // input, output: its name; of an operation with a key: the key's
  u64 element = 1;       // automorph, key_product, key_switch
  Base primes;           // mod_up: the digit's primes; mod_down, key_switch: the dropped
  bool scaled = false;   // mod_up: variant "scaled"
  bool centred = false;  // mod_up: variant "centred_digit"
  std::size_t half = 0;  // ksk_inner_product, half: 0: the b part, 1: the a part
  std::vector<std::size_t> digits;  // ksk_inner_product: the key's digit for each operand
  Multiplication variant = Multiplication::kBehz;  // lift, scale
  u64 plain_modulus = 0;                           // scale
  std::size_t digit = 0;                           // decompose: which word
  std::size_t word_bits = 0;                       // decompose
  std::vector<std::size_t> sizes;  // digits, key_switch: of each digit, in primes or bits
  DigitVariant cut = DigitVariant::kFastBaseConv;  // digits, key_switch
  Base extended;                                   // key_switch: the base of digits and key
  std::vector<u64> scalars;                        // mul_scalar, add_scalar
};

/// A non-owning view of a polynomial: `limbs` limbs of N words. One in NTT form may be shortened:
/// with N / r words a limb, r a power of two, each of which stands for r equal ones in a row.
struct PolynomialView {
  std::span<const u64> data;
  std::size_t limbs = 0;
};

using GraphInputs = std::map<std::string, PolynomialView, std::less<>>;
using GraphKeys = std::map<std::string, KeySwitchKeyView, std::less<>>;
/// Writes the words of a named input, for inputs that are produced on demand.
using InputSource = std::function<void(const std::string&, std::span<u64>)>;
using GraphOutputs = std::map<std::string, std::span<u64>, std::less<>>;

/// A directed acyclic graph of subroutines over one ring, built node by node.
class Graph {
 public:
  /// @param primes    data primes, then special primes, then extension primes
  /// @param roots     a primitive 2N-th root for each prime
  /// @param extension number of extension primes, for which keys have no limbs
  /// @throws ParameterError as RnsContext does, or if there are no other primes
  Graph(std::size_t degree, std::span<const u64> primes, std::span<const u64> roots,
        std::size_t extension = 0);

  /// Validates a node and appends it.
  ///
  /// Operations and attributes (all required, no others allowed). Operands are polynomials; those
  /// with * take a pair too, and do the same to both halves.
  ///   input   name, base, form ("ntt" or "coeff")
  ///   output  name; one operand
  ///   add* sub* two operands of one type;  neg*  one operand
  ///   mul*    two operands of one base, both in NTT form: two polynomials, or a pair and then a
  ///           polynomial
  ///   automorph*         element; one operand
  ///   ntt*, intt*        one operand of the other form
  ///   mod_up             digit, base, variant; one operand that has the digit's limbs.
  ///                      "rns_digit": a digit of one prime; "fast_base_conv": of any number; both
  ///                      in coefficient form (kernels::mod_up). "centred_digit": the same, exact
  ///                      and centred (kernels::lift_digit). "scaled"*: the digit is the operand's
  ///                      base, part of `base`; either form (kernels::mod_up_scaled)
  ///   ksk_inner_product  key, half (0 or 1), digits, base; for each digit an NTT-form operand over
  ///                      `base`
  ///   mod_down*          drop, variant; one operand (kernels::mod_down). "rounded": of one prime;
  ///                      "centred_base_conv": of any number
  ///   drop_limbs*        base, part of the operand's base in its order; one operand
  ///   lift               base, variant ("behz" or "hps"); one operand in coefficient form, whose
  ///                      base the other begins with (kernels::lift)
  ///   scale              base, plain_modulus, variant; one operand in coefficient form, whose base
  ///                      begins with the other (kernels::scale)
  ///   decompose          digit, word_bits, base; one operand in coefficient form
  ///                      (kernels::decompose)
  ///   digits             sizes, variant, base; one operand in either form. The digits of its
  ///                      integers over `base`, in NTT form. "fast_base_conv", "centred_digit":
  ///                      digit J is the next sizes[J] primes of the operand's base, all of which
  ///                      `base` has, brought to `base` by mod_up of this variant. "words": digit J
  ///                      is word J of sizes[J] bits, all of equal size, as many as the integers
  ///                      have (kernels::decompose)
  ///   key_product        key, element; digits d and up to two polynomials b0, b1 of one base, part
  ///                      of d's, in NTT form. The pair (sum over J of g(d_J) * key_J[h] + P *
  ///                      g(b_h)), h = 0, 1, over d's base: g is X -> X^element, P the product of
  ///                      the primes of d's base that b_h lacks, and P * b_h is 0 modulo those
  ///   key_switch         key, element, sizes, variant, base, drop (may be empty); a polynomial in
  ///                      either form and up to two of its type, b0 and b1. The key_product of
  ///                      `digits` of g(a), where g is done before the digits are cut, by the key,
  ///                      plus P * g(b_h), then mod_down by `drop`: a pair in a's form
  ///   half               half (0 or 1); a pair
  ///   mul_scalar*        values: for each prime of the operand's base a residue; one operand
  ///   add_scalar         values: likewise, of a constant polynomial that is added; one operand
  ///
  /// @return the node's id; ids count from 0
  /// @throws GraphError, which names node, operation and reason; the graph then stays unchanged
  std::size_t add_node(std::string_view op, std::vector<std::size_t> operands,
                       const Attributes& attributes);

  /// Computes every output.
  ///
  /// @param inputs one polynomial for each input node, canonical, in the node's base and form
  /// @param keys   one key-switching key for each key name, NTT form, in any form: over all
  ///               key_primes(), or truncated to a base that has all primes it is used at
  /// @param outputs for each output node, where to write its limbs of N words; no overlap with an
  ///                input or another output
  /// @param source  called once, by the calling thread, for each input that `inputs` lacks, before
  ///                its first read. Its words are freed after its last read. None: `inputs` has all
  /// @throws GraphError if an input, key or output is missing, unknown, or of another shape
  void run(const GraphInputs& inputs, const GraphKeys& keys, const GraphOutputs& outputs,
           const InputSource& source = {}) const;

  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  /// Number of primes for which keys have limbs: all but the extension primes.
  [[nodiscard]] std::size_t key_primes() const { return rns_.size() - extension_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  RnsContext rns_;
  std::size_t extension_;
  std::vector<Node> nodes_;
};

}  // namespace ringsmith
