// Sums of limbs times constants (Combination). Only for the kernel sets' own source files (see
// transform.h).
#pragma once

#include "division.h"
#include "key_products.h"
#include "word56.h"

namespace ringsmith::simd {
namespace {

/// Sums of products of a word below 2^30 and one below 2^61, the latter in its halves of 30 bits
/// and the rest: sum = low + middle * 2^30. `kNarrowWords` says whether words or factors are the
/// narrow ones.
template <typename V, bool kNarrowWords>
struct NarrowSum {
  using Vec = typename V::Vec;
  using Arithmetic = Word64<V>;
  using Halves = typename WordSum<V>::Halves;
  static constexpr int kNarrowBits = 30;
  static constexpr int kVectors = V::kLanes / 2;

  /// The middle sum's products are below 2^61; the low sum's below 2^60 and a start is below 2^63.
  static std::size_t terms(int) { return 7; }

  RINGSMITH_INLINE static auto word(Vec x) {
    if constexpr (kNarrowWords) {
      return x;
    } else {
      return WordSum<V>::split(x);
    }
  }
  RINGSMITH_INLINE static auto factor(Vec x) { return NarrowSum<V, !kNarrowWords>::word(x); }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }

  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) {
    low = value;
    middle = V::set(0);
  }
  RINGSMITH_INLINE void add(Vec narrow, const Halves& wide) {
    low = V::add(low, V::multiply_halves(narrow, wide.low));
    middle = V::add(middle, V::multiply_halves(narrow, wide.high));
  }
  RINGSMITH_INLINE void add(const Halves& wide, Vec narrow) { add(narrow, wide); }

  /// The sum modulo q, canonical.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants& prime) const {
    const auto shift30 = Arithmetic::broadcast(prime.shift30);
    return arithmetic.canonical(
        V::add(arithmetic.multiply(middle, shift30), arithmetic.reduce(low)));  // of two in [0, 4q)
  }

  Vec low, middle;
};

/// Bits of a combination's words and of the primes of this many targets, at most.
int widest(const PrimeConstants* primes, const Combination& sum, int targets) {
  int bits = sum.word_bits;
  for (int target = 0; target < targets; ++target) {
    bits = primes[target].bits > bits ? primes[target].bits : bits;
  }
  return bits;
}

/// Several vectors at a time, which share the factors.
template <typename Sum>
void combine_sums(const PrimeConstants& prime, const Combination& sum, u64* out,
                  std::size_t count) {
  using A = typename Sum::Arithmetic;
  constexpr int kVectors = Sum::kVectors;
  constexpr std::size_t kStep = std::size_t{A::kLanes} * kVectors;
  const int bits = widest(&prime, sum, 1);
  const A arithmetic = Sum::arithmetic(prime, bits);
  const auto extra_factor = A::from_shift64(sum.extra_factor, prime.q);
  const std::size_t run = Sum::terms(bits);
  for (std::size_t i = 0; i < count; i += kStep) {
    typename A::Vec totals[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const auto offset = A::set(sum.offset);
      totals[v] = sum.extra == nullptr
                      ? offset
                      : A::add(offset, arithmetic.multiply_once(
                                           A::load(sum.extra + i + v * A::kLanes), extra_factor));
    }
    for (std::size_t begin = 0; begin < sum.terms; begin += run) {
      const std::size_t end = sum.terms - begin < run ? sum.terms : begin + run;
      Sum sums[kVectors];
      RINGSMITH_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[v].start(arithmetic, totals[v]);
      }
      for (std::size_t term = begin; term < end; ++term) {
        const auto factor = Sum::factor(A::set(sum.factors[term]));
        const u64* const words = sum.words[term] + i;
        RINGSMITH_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[v].add(Sum::word(A::load(words + v * A::kLanes)), factor);
        }
      }
      RINGSMITH_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        totals[v] = sums[v].fold(arithmetic, prime);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      A::store(out + i + v * A::kLanes, totals[v]);
    }
  }
}

/// PrimeKernels::combine_four. A word is loaded once for its products, and later ones are fetched.
template <typename Sum>
void combine_four_sums(const PrimeConstants* primes, const Combination* sums, u64* const* outs,
                       std::size_t count) {
  using A = typename Sum::Arithmetic;
  constexpr int kVectors = A::kLanes / 4;  // their sums fill the registers
  constexpr int kSums = kTargets * kVectors;
  constexpr std::size_t kStep = std::size_t{A::kLanes} * kVectors;
  constexpr std::size_t kAhead = 16 * kStep;  // words that are fetched while these are added
  const std::size_t terms = sums[0].terms;
  const u64* const* const words = sums[0].words;
  const int bits = widest(primes, sums[0], kTargets);
  const std::size_t run = Sum::terms(bits);
  const A arithmetic[kTargets] = {
      Sum::arithmetic(primes[0], bits), Sum::arithmetic(primes[1], bits),
      Sum::arithmetic(primes[2], bits), Sum::arithmetic(primes[3], bits)};
  for (std::size_t i = 0; i < count; i += kStep) {
    typename A::Vec totals[kSums];
    RINGSMITH_UNROLL
    for (int s = 0; s < kSums; ++s) {
      totals[s] = A::set(sums[s / kVectors].offset);
    }
    for (std::size_t begin = 0; begin < terms; begin += run) {
      const std::size_t end = terms - begin < run ? terms : begin + run;
      Sum added[kSums];
      RINGSMITH_UNROLL
      for (int s = 0; s < kSums; ++s) {
        added[s].start(arithmetic[s / kVectors], totals[s]);
      }
      for (std::size_t term = begin; term < end; ++term) {
        const u64* const from = words[term] + i;
        typename A::Vec word[kVectors];
        RINGSMITH_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          __builtin_prefetch(from + kAhead + v * A::kLanes);
          word[v] = Sum::word(A::load(from + v * A::kLanes));
        }
        RINGSMITH_UNROLL
        for (int s = 0; s < kSums; ++s) {
          added[s].add(word[s % kVectors], Sum::factor(A::set(sums[s / kVectors].factors[term])));
        }
      }
      RINGSMITH_UNROLL
      for (int s = 0; s < kSums; ++s) {
        const int target = s / kVectors;
        totals[s] = added[s].fold(arithmetic[target], primes[target]);
      }
    }
    RINGSMITH_UNROLL
    for (int s = 0; s < kSums; ++s) {
      A::store(outs[s / kVectors] + i + s % kVectors * A::kLanes, totals[s]);
    }
  }
}

/// For any widths; `Sum` is for wide words and odd moduli.
template <typename V, typename Sum = WordSum<V>>
void combine_words(const PrimeConstants& prime, const Combination& sum, u64* out,
                   std::size_t count) {
  if (sum.word_bits <= NarrowSum<V, true>::kNarrowBits) {
    combine_sums<NarrowSum<V, true>>(prime, sum, out, count);
  } else if (prime.bits <= NarrowSum<V, false>::kNarrowBits) {
    combine_sums<NarrowSum<V, false>>(prime, sum, out, count);
  } else if (prime.q % 2 == 0) {
    combine_sums<WordSum<V>>(prime, sum, out, count);
  } else {
    combine_sums<Sum>(prime, sum, out, count);
  }
}

/// The class of primes of up to `bits` bits, transformed forward by the arithmetic `A` and back by
/// `Inverse`; products are added by `Sum`, which takes lazy digits of primes of few bits.
template <int bits, typename V, typename A, typename Inverse = Word64<V>, typename Sum = WordSum<V>>
constexpr PrimeKernels word_class() {
  static_assert(A::kCode == Inverse::kCode);
  return {bits,
          A::kNearPower,
          A::kCode,
          V::kLanes,
          false,
          Sum::kScales,
          Sum::kKeyCode,
          forward_ntt<A>,
          forward_digit<A, (bits > Sum::kLazyBits)>,
          nullptr,
          forward_divide<A>,
          inverse_ntt<Inverse>,
          is_canonical<V>,
          pointwise<Plus<V>>,
          pointwise<Minus<V>>,
          pointwise<Times<Word64<V>>>,
          streamed<Plus<V>>,
          streamed<Minus<V>>,
          streamed<Times<Word64<V>>>,
          negate_words<V>,
          scale_words<V>,
          divide_words<Word64<V>>,
          inner_products<Sum>,
          combine_words<V, Sum>,
          nullptr,
          key_products<Sum>,
          Sum::kKeyShift};
}

}  // namespace
}  // namespace ringsmith::simd
