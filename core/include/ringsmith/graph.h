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
};

/// Returns an operation's name in a subroutine-graph file, such as "ksk_inner_product".
[[nodiscard]] std::string_view op_name(Op op);

/// A node's attributes as in a file: integers, strings and lists of prime indices.
using AttributeValue = std::variant<u64, std::string, std::vector<u64>>;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// The static type of a value.
struct ValueType {
  Base base;
  Form form = Form::kNtt;

  [[nodiscard]] bool operator==(const ValueType&) const = default;
};

/// One validated node. The operation determines which of the lower fields apply.
struct Node {
  Op op = Op::kInput;
  std::vector<std::size_t> operands;
  ValueType type;                   // of the result; of the operand for an output
  std::string name;                 // input, output: its name; ksk_inner_product: the key's
  u64 element = 0;                  // automorph
  Base primes;                      // mod_up: the digit's primes; mod_down: the dropped primes
  bool scaled = false;              // mod_up: variant "scaled"
  bool centred = false;             // mod_up: variant "centred_digit"
  std::size_t half = 0;             // ksk_inner_product: 0: the key's b part, 1: its a part
  std::vector<std::size_t> digits;  // ksk_inner_product: the key's digit for each operand
  Multiplication variant = Multiplication::kBehz;  // lift, scale
  u64 plain_modulus = 0;                           // scale
  std::size_t digit = 0;                           // decompose: which word
  std::size_t word_bits = 0;                       // decompose
};

/// A non-owning view of a polynomial: `limbs` limbs of N words.
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
  /// Operations and attributes (all required, no others allowed):
  ///   input   name, base, form ("ntt" or "coeff")
  ///   output  name; one operand
  ///   add sub two operands of one type;  neg  one operand
  ///   mul     two operands of one base, both in NTT form
  ///   automorph          element; one operand
  ///   ntt, intt          one operand of the other form
  ///   mod_up             digit, base, variant; one operand that has the digit's limbs.
  ///                      "rns_digit": a digit of one prime; "fast_base_conv": of any number; both
  ///                      in coefficient form (kernels::mod_up). "centred_digit": the same,
  ///                      exact and centred (kernels::lift_digit). "scaled": the digit is the
  ///                      operand's base, part of `base`; either form (kernels::mod_up_scaled)
  ///   ksk_inner_product  key, half (0 or 1), digits, base; for each digit an NTT-form operand over
  ///                      `base`
  ///   mod_down           drop, variant; one operand (kernels::mod_down). "rounded": of one prime;
  ///                      "centred_base_conv": of any number
  ///   drop_limbs         base, part of the operand's base in its order; one operand
  ///   lift               base, variant ("behz" or "hps"); one operand in coefficient form, whose
  ///                      base the other begins with (kernels::lift)
  ///   scale              base, plain_modulus, variant; one operand in coefficient form, whose base
  ///                      begins with the other (kernels::scale)
  ///   decompose          digit, word_bits, base; one operand in coefficient form
  ///                      (kernels::decompose)
  ///
  /// @return the node's id; ids count from 0
  /// @throws GraphError, which names node, operation and reason; the graph then stays unchanged
  std::size_t add_node(std::string_view op, std::vector<std::size_t> operands,
                       const Attributes& attributes);

  /// Computes every output.
  ///
  /// @param inputs one polynomial for each input node, canonical, in the node's base and form
  /// @param keys   one key-switching key for each key name, over all key_primes(), NTT form, full
  ///               or seed-compressed
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
