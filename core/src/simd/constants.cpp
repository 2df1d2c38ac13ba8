// What kernels need to know of a modulus.
#include "kernel_set.h"
#include "ringsmith/modulus.h"

namespace ringsmith::simd {

Factor factor_of(u64 value, const Modulus& modulus, TwiddleCode code) {
  const ShoupFactor shoup(value, modulus);
  return {shoup.factor, code == TwiddleCode::kShift52 ? shoup.quotient >> 12 : shoup.quotient};
}

PrimeConstants constants_of(const Modulus& modulus) {
  const u64 q = modulus.value();
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
  };
}

}  // namespace ringsmith::simd
