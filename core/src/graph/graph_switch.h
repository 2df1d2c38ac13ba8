// Key switching as nodes of a graph.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "keyswitch/raised.h"
#include "keyswitch/stored_digits.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/graph.h"
#include "ringsmith/rns.h"

namespace ringsmith {

/// A key_switch or key_product node and its values, except for what it switches.
struct KeyUse {
  const Node* node;
  KeySwitchKeyView key;
  std::array<std::span<const u64>, 2> added;  ///< b0 and b1; empty: none
  ValueType added_type;
  std::array<std::span<u64>, 2> out;  ///< of both halves
};

/// What errors call a node's key.
[[nodiscard]] std::string key_name(const Node& node);

/// Returns how many words a polynomial, a half of a pair or digits have in memory. Digits are kept
/// as their products read them: only key_product nodes do.
[[nodiscard]] std::size_t words_of(const RnsContext& rns, const ValueType& type);

/// Computes a `digits` node.
/// @param operand its type
/// @param out     words_of() words
void store_digits(const RnsContext& rns, const Node& node, const ValueType& operand,
                  std::span<const u64> polynomial, std::span<u64> out);

/// Computes key_product nodes of the same digits, each divided by the primes of `drop` as mod_down
/// does.
/// @param drop may be empty: nothing is divided
/// @throws ParameterError if a residue of a key is not below its prime
void multiply_digits(const RnsContext& rns, const ValueType& type, std::span<const u64> digits,
                     const Base& drop, std::span<const KeyUse> uses);

/// Undivided key_product nodes of the same digits, a run of words of one limb at a time.
class ProductRuns {
 public:
  /// @param digits must outlive this object, like what `uses` refers to, whose `out` is not read
  ProductRuns(const RnsContext& rns, const ValueType& type, std::span<const u64> digits,
              std::vector<KeyUse> uses);

  /// Whether at() takes less than whole limbs.
  [[nodiscard]] bool takes_runs() const { return products_.takes_runs(); }
  /// The words from `begin` on of the limb of a prime.
  /// @param out for each use as many words, a power of two and at least 64, of which `begin` is a
  ///            multiple
  /// @throws ParameterError if a residue of a key is not below its prime
  void at(std::size_t prime, std::size_t begin, std::span<const kernels::LimbPair> out) const;

 private:
  kernels::StoredDigits layout_;
  std::vector<KeyUse> uses_;
  kernels::StoredProducts products_;
  std::vector<kernels::Raised> raised_;  // of each use
};

/// Computes key_switch nodes of one polynomial that differ in key, element and what is added.
/// @param operand the polynomial's type
/// @param uses    one, unless the digits' variant is kFastBaseConv
/// @throws ParameterError if a residue of a key is not below its prime
void switch_keys(const RnsContext& rns, const ValueType& operand, std::span<const u64> polynomial,
                 std::span<const KeyUse> uses);

}  // namespace ringsmith
