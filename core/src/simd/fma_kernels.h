// The kernels of primes of up to 50 bits in doubles (fma.h): sums of products, and the kernel
// table.
//
// Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "combine.h"
#include "fma.h"

namespace ringsmith::simd {
namespace {

/// A KeyCheck for vectors without a maximum of words, of the words' values.
template <typename V, bool kHasMaximum>
class RealCheck {
 public:
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit RealCheck(const PrimeConstants& prime) : bound_(prime.q) {}
  RINGSMITH_INLINE void show(Vec word, Vec value) {
    bits_ = V::bit_or(bits_, word);
    largest_ = V::real_maximum(largest_, value);
  }
  [[nodiscard]] RINGSMITH_INLINE bool passed() const {
    const Vec bits = V::set_real(kWord);  // whose lower 52 are of words below 2^52
    return all_below<V>(bits_, u64{1} << 52) &&
           all_below<V>(V::bit_xor(V::real_add(largest_, bits), bits), bound_);
  }

 private:
  u64 bound_;
  Vec bits_ = V::set(0);
  Vec largest_ = V::set(0);
};
template <typename V>
struct RealCheck<V, true> : KeyCheck<V> {
  using KeyCheck<V>::KeyCheck;
};

/// Sums of products of words below 2^bits, one of them centred, to at most q / 2 or half its range.
///
/// The upper sum starts from 1.5 * 2^52 units of 2^(bits + 1), so it is a multiple of the unit
/// throughout: adding a product rounds that to such a multiple, and what is cut off, at most half a
/// unit, goes to the lower sum. With keys that are centred, too, a unit is 2^bits.
///
/// Digits are centred, too, at most (q + 1) / 2 in size.
template <typename V, bool kCentredKeys = false>
struct FmaSum {
  using Vec = typename V::Vec;
  using Check = RealCheck<V, V::kHasMaximum>;
  using Precomputed = FmaSum<V, true>;
  using Shared = Vec;
  static constexpr KeyCode kKeyCode = KeyCode::kReal;
  static constexpr bool kScales = false;  ///< KeyTerms::scaled: more operations than an addend
  static constexpr bool kStepwise = !kCentredKeys;
  static constexpr int kAtOnce = kCentredKeys && V::kLanes == 4 ? 2 : 1;  ///< vectors of a limb
  static constexpr int kVectors = 4;

  struct Arithmetic : Fma<V, FmaHeadroom::kPass> {
    using Base = Fma<V, FmaHeadroom::kPass>;

    Arithmetic(const PrimeConstants& prime, int bits) : Base(prime) {
      const int unit_bits = bits + (kCentredKeys ? 0 : 1);
      const auto unit = static_cast<double>(u64{1} << unit_bits);
      const double factor = centred((u64{1} << unit_bits) % prime.q, prime.q);
      bias = V::set_real(0x1.8p52 * unit);
      per_unit = {V::set_real(factor / unit),
                  V::set_real(factor / static_cast<double>(prime.q) / unit)};
    }

    Vec bias;
    typename Base::Twiddle per_unit;  // a unit modulo q, over it
  };

  static Arithmetic arithmetic(const PrimeConstants& prime, int bits) { return {prime, bits}; }
  /// Products are at most 2^(2 bits - 1), or 2^(2 bits - 2) of centred keys, and headroom for
  /// 2^51 units. What is cut off, with a start of at most 2^(bits - 1), stays below 2^53, or 2^52.
  static std::size_t terms(int bits) { return (std::size_t{1} << (53 - bits)) - 1; }
  static std::size_t digit_terms(int bits) { return terms(bits); }
  static std::size_t moved_terms(int bits) { return terms(bits); }

  /// A canonical word that several products share.
  RINGSMITH_INLINE static Vec shared(const Arithmetic& arithmetic, Vec x) {
    return arithmetic.reduce(Arithmetic::value(x));
  }
  /// A digit; the sum of two.
  RINGSMITH_INLINE static Vec digit(const Arithmetic&, Vec x) { return x; }
  RINGSMITH_INLINE static Vec digit(const Arithmetic& arithmetic, const PrimeConstants&, Vec x,
                                    Vec addend) {
    return arithmetic.reduce(V::real_add(x, addend));
  }
  RINGSMITH_INLINE static Vec precomputed_key(const u64* limb, std::size_t i, int v) {
    return V::load(limb + i + v * V::kLanes);
  }
  RINGSMITH_INLINE static Vec split(Vec x) { return Arithmetic::value(x); }
  RINGSMITH_INLINE static Vec word(Vec x) { return Arithmetic::value(x); }
  RINGSMITH_INLINE static Vec factor(Vec x) { return x; }  // centred already

  RINGSMITH_INLINE void start(const Arithmetic& arithmetic, Vec words) {
    upper = V::real(arithmetic.bias);
    lower = V::real(arithmetic.reduce(Arithmetic::value(words)));
  }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    upper = V::real(arithmetic.bias);
    lower = V::real(precomputed_key(limb, i, v));
  }
  RINGSMITH_INLINE void add(Vec a, Vec b) { V::fused_accumulate(a, b, upper, lower); }
  /// The sum modulo q, canonical.
  ///
  /// With centred keys by one quotient: it is below 2^50 + 2^(53 - bits), and the rounded factor,
  /// the product and the rounding make it wrong by at most 2^-3, 2^-3 and 1/2, less than 1. High
  /// less the quotient times q is the remainder less `low` and the lower sum, so below 2^53 and
  /// exact.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants&) const {
    const auto& [factor, share] = arithmetic.per_unit;
    const Vec cut = V::bits(lower);
    const Vec units = V::real_sub(V::bits(upper), arithmetic.bias);
    if constexpr (!kCentredKeys) {
      return arithmetic.canonical(
          V::real_add(arithmetic.multiply(units, arithmetic.per_unit), arithmetic.reduce(cut)));
    } else {
      const Vec rounder = V::set_real(kRounder);
      const Vec cut_share = V::real_multiply(cut, arithmetic.reciprocal);
      const Vec quotient =
          V::real_sub(V::real_add(V::fused_add(units, share, cut_share), rounder), rounder);
      const Vec high = V::real_multiply(units, factor);
      const Vec low = V::fused_sub(units, factor, high);
      const Vec rest = V::fused_from(quotient, arithmetic.real_q, high);
      return arithmetic.to_word(V::real_add(V::real_add(rest, cut), low));
    }
  }

  typename V::Real upper, lower;
};

/// PrimeKernels::digit.
template <typename V>
void digits_fma(const PrimeConstants& prime, const u64* words, u64* out, std::size_t count) {
  using A = Fma<V, FmaHeadroom::kPass>;
  const A arithmetic(prime);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    A::store(out + i, arithmetic.reduce(A::value(A::load(words + i))));
  }
}

template <typename V>
void scale_fma(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
               std::size_t count) {
  using A = Fma<V, FmaHeadroom::kPass>;
  scale_by<A>(prime, a, A::from_shift64(factor, prime.q), out, count);
}

void centre_factors(const PrimeConstants& prime, const Combination& sum, u64* factors) {
  for (std::size_t term = 0; term < sum.terms; ++term) {
    const double factor = centred(sum.factors[term], prime.q);
    __builtin_memcpy(factors + term, &factor, sizeof factor);
  }
}

/// Terms of a combination whose factors are centred beforehand; more are left to WordSum.
constexpr std::size_t kCentredTerms = 64;

template <typename V>
void combine_fma(const PrimeConstants& prime, const Combination& sum, u64* out, std::size_t count) {
  if (sum.word_bits > 50 || sum.terms > kCentredTerms) {
    combine_words<V>(prime, sum, out, count);
    return;
  }
  u64 factors[kCentredTerms];
  centre_factors(prime, sum, factors);
  Combination centred = sum;
  centred.factors = factors;
  combine_sums<FmaSum<V>>(prime, centred, out, count);
}

template <typename V>
void combine_four_fma(const PrimeConstants* primes, const Combination* sums, u64* const* outs,
                      std::size_t count) {
  if (sums[0].word_bits > 50 || sums[0].terms > kCentredTerms) {
    for (int target = 0; target < kTargets; ++target) {
      combine_words<V>(primes[target], sums[target], outs[target], count);
    }
    return;
  }
  u64 factors[kTargets][kCentredTerms];
  Combination centred[kTargets];
  for (int target = 0; target < kTargets; ++target) {
    centre_factors(primes[target], sums[target], factors[target]);
    centred[target] = sums[target];
    centred[target].factors = factors[target];
  }
  combine_four_sums<FmaSum<V>>(primes, centred, outs, count);
}

/// The class of primes of up to `bits` bits by such arithmetic.
template <typename V, FmaHeadroom headroom>
constexpr PrimeKernels fma_class(int bits) {
  using A = Fma<V, headroom>;
  using Any = Fma<V, FmaHeadroom::kPass>;
  return {bits,
          0,
          TwiddleCode::kReal,
          V::kLanes,
          false,
          FmaSum<V>::kScales,
          FmaSum<V>::kKeyCode,
          forward_ntt<A>,
          forward_digit<A, false>,
          digits_fma<V>,
          forward_divide<A>,
          inverse_ntt<A>,
          is_canonical<V>,
          pointwise<Plus<V>>,
          pointwise<Minus<V>>,
          pointwise<Times<Any>>,
          streamed<Plus<V>>,
          streamed<Minus<V>>,
          streamed<Times<Any>>,
          negate_words<V>,
          scale_fma<V>,
          divide_words<Any>,
          inner_products<FmaSum<V>>,
          combine_fma<V>,
          combine_four_fma<V>,
          key_products<FmaSum<V>>};
}

}  // namespace
}  // namespace ringsmith::simd
