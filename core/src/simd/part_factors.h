// Constant factors in two parts, for multiplications of 64-bit words by products of 32-bit words.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words.
#pragma once

#include "word64.h"

namespace ringsmith::simd {
namespace {

/// A constant factor f in all lanes (TwiddleCode::kMontgomery, kNearPower): its lower bits and what
/// is above, and those of 2^32 f. Products read 32 bits: what is above them is of no account.
template <typename V>
struct PartTwiddle {
  typename V::Vec low, high, shifted_low, shifted_high;
};

/// Word64 whose transforms' factors are such.
template <typename V>
struct PartFactors : Word64<V> {
  using Operations = WordOperations<V>;
  using Vec = typename V::Vec;
  using Twiddle = PartTwiddle<V>;
  using Node = Twiddle;
  using Word64<V>::Word64;

  RINGSMITH_INLINE static Twiddle broadcast(Factor f) {
    return {V::set(f.factor), V::set(f.factor >> 32), V::set(f.quotient), V::set(f.quotient >> 32)};
  }
  RINGSMITH_INLINE static Twiddle broadcast(const u64* factor, const u64* shifted) {
    return {V::broadcast(factor), V::broadcast_high(factor), V::broadcast(shifted),
            V::broadcast_high(shifted)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    return broadcast(twiddles.factors + index, twiddles.quotients + index);
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    const Vec factor = V::load(twiddles.factors + index);
    const Vec factor_shifted = V::load(twiddles.quotients + index);
    return {factor, Operations::high_half(factor), factor_shifted,
            Operations::high_half(factor_shifted)};
  }
};

}  // namespace
}  // namespace ringsmith::simd
