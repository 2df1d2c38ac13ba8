// Non-negative integers of any width, for what is wider than two words: products of primes, and the
// integers behind residues.
#pragma once

#include <compare>
#include <vector>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A non-negative integer as little-endian words without leading zeros.
class WideInteger {
 public:
  WideInteger() = default;
  explicit WideInteger(u64 value);

  /// this = this * factor + addend.
  void multiply_add(u64 factor, u64 addend);
  /// this = this - other. @param other at most this
  void subtract(const WideInteger& other);

  /// Number of bits: the k with 2^(k-1) <= value < 2^k, and 0 for 0.
  [[nodiscard]] std::size_t bits() const;
  /// The `count` <= 64 bits from bit `first` on, as an integer.
  [[nodiscard]] u64 slice(std::size_t first, std::size_t count) const;
  /// The value modulo `modulus`.
  [[nodiscard]] u64 modulo(const Modulus& modulus) const;
  /// floor(value / 2).
  [[nodiscard]] WideInteger half() const;

  [[nodiscard]] std::strong_ordering operator<=>(const WideInteger& other) const;
  [[nodiscard]] bool operator==(const WideInteger& other) const = default;

 private:
  void trim();

  std::vector<u64> words_;
};

/// The product of a base's primes.
[[nodiscard]] WideInteger product_of(const RnsContext& context, BaseView base);

/// The integers behind residues, by mixed radix: x = d_0 + d_1 q_0 + d_2 q_0 q_1 + ... with digits
/// d_i in [0, q_i). Garner 1959, "The residue number system".
class Composer {
 public:
  Composer(const RnsContext& context, BaseView base);

  /// The digits of the x in [0, Q) with x = residues[i] modulo prime i of the base, or, negated, of
  /// Q - x. They are overwritten by the next call.
  const std::vector<u64>& digits(std::span<const u64> residues, bool negated = false);
  /// Whether the x of the last digits is above Q / 2.
  [[nodiscard]] bool above_half() const;
  /// The x of the last digits.
  [[nodiscard]] WideInteger integer() const;

 private:
  std::vector<Modulus> moduli_;
  std::vector<u64> inverses_;  // q_j^-1 mod q_i for j < i, row after row
  std::vector<u64> digits_;
};

}  // namespace ringsmith
