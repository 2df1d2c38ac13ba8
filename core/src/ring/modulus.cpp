#include "ringsmith/modulus.h"

#include <bit>

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {

Modulus::Modulus(u64 value) : value_(value), bits_(std::bit_width(value)) {
  if (value < 2 || bits_ > kMaxBits) {
    throw ParameterError(text("modulus ", value, " is outside [2, 2^", kMaxBits,
                              "): choose a modulus of at most ", kMaxBits, " bits"));
  }
  const u128 ratio = ~static_cast<u128>(0) / value;
  ratio_low_ = static_cast<u64>(ratio);
  ratio_high_ = static_cast<u64>(ratio >> 64);
}

u64 Modulus::power(u64 base, u64 exponent) const {
  u64 square = reduce(base);
  u64 result = reduce(1);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = multiply(result, square);
    }
    square = multiply(square, square);
  }
  return result;
}

u64 Modulus::inverse(u64 a) const {
  // Extended Euclid; the coefficients stay below q in magnitude, so a signed word holds them.
  i64 coefficient = 1;
  i64 next_coefficient = 0;
  u64 remainder = reduce(a);
  u64 next_remainder = value_;
  while (next_remainder != 0) {
    const u64 quotient = remainder / next_remainder;
    const u64 new_remainder = remainder - quotient * next_remainder;
    const i64 new_coefficient = coefficient - static_cast<i64>(quotient) * next_coefficient;
    remainder = next_remainder;
    next_remainder = new_remainder;
    coefficient = next_coefficient;
    next_coefficient = new_coefficient;
  }
  if (remainder != 1) {
    throw ParameterError(text(a, " has no inverse modulo ", value_,
                              ": their greatest common divisor", " is ", remainder,
                              "; use a prime modulus and a non-zero residue"));
  }
  return coefficient < 0 ? value_ - static_cast<u64>(-coefficient) : static_cast<u64>(coefficient);
}

}  // namespace ringsmith
