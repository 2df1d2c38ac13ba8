// What kernels need to know of a modulus.
#include <bit>

#include "kernel_set.h"
#include "ringsmith/modulus.h"

namespace ringsmith::simd {
namespace {

// q^-1 modulo 2^64 by Newton's iteration: q is right modulo 2^3, and each step doubles the bits.
u64 inverse_of_odd(u64 q) {
  u64 x = q;
  for (int bits = 3; bits < 64; bits *= 2) {
    x *= 2 - q * x;
  }
  return x;
}

}  // namespace

Factor factor_of(u64 value, const Modulus& modulus, TwiddleCode code) {
  if (code == TwiddleCode::kReal) {
    const auto q = static_cast<double>(modulus.value());
    const double factor =
        static_cast<double>(value) - (value > modulus.value() / 2 ? q : 0.0);  // exact
    return {std::bit_cast<u64>(factor), std::bit_cast<u64>(factor / q)};
  }
  if (code == TwiddleCode::kMontgomery) {
    const auto halves = [](u64 f) {
      return f + (f >> kMontgomeryBits << kMontgomeryBits);  // moves the rest up by one bit
    };
    const u64 f = modulus.multiply(value, modulus.reduce(u64{1} << kMontgomeryBits));
    return {halves(f), halves(modulus.multiply(f, modulus.reduce(u64{1} << 32)))};
  }
  if (code == TwiddleCode::kNearPower) {
    return near_power_factor(value, modulus.value());
  }
  const ShoupFactor shoup(value, modulus);
  const int unused = code == TwiddleCode::kShift52 ? 12 : code == TwiddleCode::kShift32 ? 32 : 0;
  return {shoup.factor, shoup.quotient >> unused};
}

bool can_split(u64 q) { return q % (u64{1} << kFactorZeros) == 1; }
bool can_split(const Modulus& modulus) { return can_split(modulus.value()); }

SplitFactor split_factor_of(u64 value, const Modulus& modulus) {
  const auto half = [&modulus](u64 w) {
    const u64 q = modulus.value();
    const u64 multiples =
        (0 - w) % (u64{1} << kFactorZeros);  // of q, which is 1: w' = w + multiples * q
    return Factor{
        static_cast<u64>((w + static_cast<u128>(multiples) * q) >> kFactorZeros),
        (multiples << kLowerBits) + static_cast<u64>((static_cast<u128>(w) << kLowerBits) / q)};
  };
  const Factor low = half(value);
  const Factor high = half(modulus.multiply(value, modulus.reduce(u64{1} << kLowerBits)));
  return {low.factor, low.quotient, high.factor, high.quotient};
}

SplitFactor split_factor_of(u64 value, u64 q) { return split_factor_of(value, Modulus(q)); }

Factor near_power_factor(u64 value, u64 q) {
  const int lower = std::bit_width(q) - kNearPowerBits;
  const auto parts = [lower](u64 w) { return (w >> lower << 32) + (w & ((u64{1} << lower) - 1)); };
  return {parts(value), parts(static_cast<u64>((static_cast<u128>(value) << 32) % q))};
}

PrimeConstants constants_of(const Modulus& modulus) {
  const u64 q = modulus.value();
  constexpr u128 kTop = static_cast<u128>(1) << 104;
  const auto power = [&modulus](int exponent, TwiddleCode code) {
    return factor_of(modulus.reduce(u64{1} << exponent), modulus, code);
  };
  return {
      .q = q,
      .bits = modulus.bits(),
      .ratio = static_cast<u64>((static_cast<u128>(1) << 64) / q),
      .barrett = static_cast<u64>((static_cast<u128>(1) << (63 + modulus.bits())) / q),
      .shift30 = power(30, TwiddleCode::kShift64),
      .shift60 = power(60, TwiddleCode::kShift64),
      .shift52 = power(52, TwiddleCode::kShift52),
      .folded = power(60, TwiddleCode::kMontgomery),
      .ratio104 = static_cast<u64>(kTop / q),
      .fraction104 = static_cast<u64>(((kTop % q) << 52) / q),
      .inverse = inverse_of_odd(q),
  };
}

}  // namespace ringsmith::simd
