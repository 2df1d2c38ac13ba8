// Sums of products modulo primes of up to 32 bits: of 32-bit words, each 64 bits.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words
// whose registers hold doubles, too, without a maximum of words.
#pragma once

#include <type_traits>

#include "fma_kernels.h"
#include "pair_sum.h"

namespace ringsmith::simd {
namespace {

/// A KeyCheck of such primes: of the halves' maxima, the upper one has to be 0.
template <typename V>
class HalvesCheck {
 public:
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit HalvesCheck(const PrimeConstants& prime) : bound_(prime.q) {}
  RINGSMITH_INLINE void show(Vec word, Vec) { seen_ = V::maximum_halves(seen_, word); }
  [[nodiscard]] RINGSMITH_INLINE bool passed() const { return all_below<V>(seen_, bound_); }

 private:
  u64 bound_;
  Vec seen_ = V::set(0);
};

/// Sums of products of words below 2^32 modulo a prime of up to 30, 31 or 32 bits: one of 64 bits,
/// or, beyond 30, one modulo 2^64 and one of the upper halves.
template <typename V, int bits>
struct ProductSum {
  using Vec = typename V::Vec;
  using Arithmetic = Fma<V, FmaHeadroom::kPass>;
  using Check = HalvesCheck<V>;
  using Precomputed = std::conditional_t<bits <= 30, PairSum<V>, ProductSum>;
  using Shared = Vec;
  static constexpr KeyCode kKeyCode = KeyCode::kPairs32;
  static constexpr int kKeyShift = 0;
  static constexpr bool kScales = false;
  static constexpr bool kStepwise = false;
  static constexpr bool kOneSum = bits <= 30;
  static constexpr int kAtOnce = 2;   ///< vectors of a limb
  static constexpr int kVectors = 4;  ///< of a combination that share its factors

  /// 16 (2^30 - 1)^2, or 8 (2^31 - 2) (2^30 - 1), and a start below 2^31 are below 2^64. Of upper
  /// halves more terms fit.
  static std::size_t terms(int) { return kOneSum ? 16 : 1024; }
  static std::size_t digit_terms(int prime_bits) { return terms(prime_bits); }
  static std::size_t moved_terms(int) { return kOneSum ? 8 : 1024; }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }

  RINGSMITH_INLINE static Vec shared(const Arithmetic&, Vec x) { return x; }
  RINGSMITH_INLINE static Vec digit(const Arithmetic&, Vec x) { return x; }
  /// Up to 31 bits a sum of two words is a word of 32 bits.
  RINGSMITH_INLINE static Vec digit(const Arithmetic& arithmetic, const PrimeConstants&, Vec x,
                                    Vec addend) {
    const Vec sum = V::add(x, addend);
    return bits <= 31 ? sum : V::reduce_once(sum, arithmetic.q);
  }
  RINGSMITH_INLINE static Vec split(Vec x) { return x; }
  RINGSMITH_INLINE static Vec word(Vec x) { return x; }
  RINGSMITH_INLINE static Vec factor(Vec x) { return x; }
  RINGSMITH_INLINE static Vec precomputed_key(const u64* limb, std::size_t i, int v) {
    return PairSum<V>::precomputed_key(limb, i, v);
  }

  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) {
    sum = value;
    upper = V::set(0);
  }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    start(arithmetic, V::bit_and(precomputed_key(limb, i, v), V::set(0xffffffff)));
  }
  RINGSMITH_INLINE void add(Vec a, Vec b) {
    const Vec product = V::multiply_halves(a, b);
    sum = V::add(sum, product);
    if constexpr (!kOneSum) {
      upper = V::add(upper, V::template shift_right<32>(product));
    }
  }

  /// The sum modulo q, canonical. It is high * 2^32 + low, where low is what the lower halves add
  /// up to, and both are doubles. The quotient, at most 2^11 q or, of words that are not residues,
  /// 2^42, comes from their rounded sum and a rounded reciprocal, so it is wrong by at most 1/2 +
  /// 2^-8, and high * 2^32 less the quotient times q is at most low and q in size, exact.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants&) const {
    using A = Arithmetic;
    const Vec shifted = V::set_real(kWord * 0x1p32);
    const Vec word = V::set_real(kWord);
    const Vec upper_half = kOneSum ? V::template shift_right<32>(sum) : upper;
    const Vec high = V::real_sub(V::bit_xor(upper_half, shifted), shifted);
    const Vec low = kOneSum ? V::real_sub(V::join_halves(sum, word), word)
                            : A::value(V::sub(sum, V::template shift_left<32>(upper)));
    const Vec quotient = A::nearest_product(V::real_add(high, low), arithmetic.reciprocal);
    const Vec remainder = V::fused_from(quotient, arithmetic.real_q, high);
    return arithmetic.to_word(V::real_add(remainder, low));
  }

  Vec sum, upper;
};

/// PrimeKernels::combine and combine_four. Words of a base conversion are of other primes, and four
/// primes of classes with these functions.
template <typename V>
void combine_products(const PrimeConstants& prime, const Combination& sum, u64* out,
                      std::size_t count) {
  const int bits = widest(&prime, sum, 1);
  if (bits <= 30) {
    combine_sums<ProductSum<V, 30>>(prime, sum, out, count);
  } else if (bits <= 32) {
    combine_sums<ProductSum<V, 32>>(prime, sum, out, count);
  } else {
    combine_fma<V>(prime, sum, out, count);
  }
}

template <typename V>
void combine_four_products(const PrimeConstants* primes, const Combination* sums, u64* const* outs,
                           std::size_t count) {
  const int bits = widest(primes, sums[0], kTargets);
  if (bits <= 30) {
    combine_four_sums<ProductSum<V, 30>>(primes, sums, outs, count);
  } else if (bits <= 32) {
    combine_four_sums<ProductSum<V, 32>>(primes, sums, outs, count);
  } else {
    combine_four_fma<V>(primes, sums, outs, count);
  }
}

/// A class that adds so, else of doubles.
template <typename V, int bits>
constexpr PrimeKernels product_class() {
  PrimeKernels kernels = fma_class<V, FmaHeadroom::kBoth>(bits);
  kernels.key_code = ProductSum<V, bits>::Precomputed::kKeyCode;
  kernels.key_shift = ProductSum<V, bits>::Precomputed::kKeyShift;
  kernels.inner_product = inner_products<ProductSum<V, bits>>;
  kernels.combine = combine_products<V>;
  kernels.combine_four = combine_four_products<V>;
  kernels.key_products = key_products<ProductSum<V, bits>>;
  kernels.forward_digit = kernels.forward;
  kernels.digit = nullptr;
  return kernels;
}

}  // namespace
}  // namespace ringsmith::simd
