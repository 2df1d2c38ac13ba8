// One modulus of at most 61 bits: Barrett reduction, Shoup multiplication by a constant.
#pragma once

#include "ringsmith/types.h"

namespace ringsmith {

/// Residue arithmetic modulo a fixed q, 2 <= q < 2^61.
///
/// Every operand named canonical lies in [0, q), and so does every result.
/// Barrett 1986; the two-word form follows Menezes, van Oorschot, Vanstone 1996, algorithm 14.42.
class Modulus {
 public:
  /// The widest modulus: lazy NTT values up to 4q then fit a word with a bit to spare.
  static constexpr int kMaxBits = 61;
  /// Products of two words below 2^61 that, with one such word, sum to less than 2^128.
  static constexpr int kLazyProducts = 64;

  /// @throws ParameterError unless 2 <= value < 2^61
  explicit Modulus(u64 value);

  [[nodiscard]] u64 value() const { return value_; }
  /// Number of bits of q: the k with 2^(k-1) <= q < 2^k.
  [[nodiscard]] int bits() const { return bits_; }

  /// x mod q for any word x.
  [[nodiscard]] u64 reduce(u64 x) const {
    return correct(x - multiply_high(x, ratio_high_) * value_);
  }

  /// x mod q for any double word x.
  ///
  /// The quotient estimate is floor(x * ratio / 2^128) with ratio = floor((2^128 - 1) / q), at most
  /// one below the quotient; only its low word is needed, since the remainder fits one word.
  [[nodiscard]] u64 reduce_wide(u128 x) const {
    const u64 low = static_cast<u64>(x);
    const u64 high = static_cast<u64>(x >> 64);
    const u128 middle = static_cast<u128>(low) * ratio_high_ + multiply_high(low, ratio_low_);
    const u128 upper = static_cast<u128>(high) * ratio_low_ + static_cast<u64>(middle);
    const u64 quotient =
        high * ratio_high_ + static_cast<u64>(middle >> 64) + static_cast<u64>(upper >> 64);
    return correct(low - quotient * value_);
  }

  /// a + b mod q, canonical operands.
  [[nodiscard]] u64 add(u64 a, u64 b) const { return correct(a + b); }
  /// a - b mod q, canonical operands.
  [[nodiscard]] u64 subtract(u64 a, u64 b) const { return a >= b ? a - b : a + value_ - b; }
  /// -a mod q, canonical operand.
  [[nodiscard]] u64 negate(u64 a) const { return a == 0 ? 0 : value_ - a; }
  /// a * b mod q for any two words.
  [[nodiscard]] u64 multiply(u64 a, u64 b) const { return reduce_wide(static_cast<u128>(a) * b); }
  /// base^exponent mod q, with 0^0 = 1.
  [[nodiscard]] u64 power(u64 base, u64 exponent) const;
  /// The x with a * x = 1 mod q.
  /// @throws ParameterError if gcd(a, q) is not 1
  [[nodiscard]] u64 inverse(u64 a) const;

  [[nodiscard]] bool operator==(const Modulus& other) const { return value_ == other.value_; }

 private:
  /// From [0, 2q) to [0, q).
  [[nodiscard]] u64 correct(u64 x) const { return x >= value_ ? x - value_ : x; }

  u64 value_;
  int bits_;
  u64 ratio_low_;   // low word of floor((2^128 - 1) / q)
  u64 ratio_high_;  // its high word, floor(2^64 / q)
};

/// A constant factor with its precomputed quotient floor(factor * 2^64 / q).
/// Shoup's multiplication, as in Harvey 2014, "Faster arithmetic for number-theoretic transforms".
struct ShoupFactor {
  u64 factor = 0;
  u64 quotient = 0;

  ShoupFactor() = default;
  /// @param value canonical residue modulo `modulus`
  ShoupFactor(u64 value, const Modulus& modulus)
      : factor(value),
        quotient(static_cast<u64>((static_cast<u128>(value) << 64) / modulus.value())) {}

  /// x * factor mod q as a value in [0, 2q), for any word x.
  [[nodiscard]] u64 multiply_lazy(u64 x, u64 q) const {
    return x * factor - multiply_high(x, quotient) * q;
  }
  /// x * factor mod q, canonical, for any word x.
  [[nodiscard]] u64 multiply(u64 x, u64 q) const {
    const u64 product = multiply_lazy(x, q);
    return product >= q ? product - q : product;
  }
};

}  // namespace ringsmith
