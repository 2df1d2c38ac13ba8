// Sums of products of words of more than 52 bits with AVX-512 IFMA. Only for the file compiled for
// it (see transform.h).
#pragma once

#include "ifma.h"
#include "word64.h"

namespace ringsmith::simd {
namespace {

/// Sums of products of words below 2^61, each cut into its lower 52 bits and the rest, modulo a
/// prime q above 2^52: sum = low + middle * 2^52 + high * 2^104.
struct WideSum {
  using Arithmetic = Word64<Vector512Ifma>;
  using Vec = __m512i;
  static constexpr int kMinBits = 53;     ///< of q
  static constexpr bool kScales = false;  ///< KeyTerms::scaled: a product costs as much as a term
  static constexpr bool kStepwise = false;
  static constexpr int kAtOnce = 1;   ///< vectors of a limb
  static constexpr int kVectors = 4;  ///< of a combination that share its factors
  static constexpr KeyCode kKeyCode = KeyCode::kResidue;
  using Check = KeyCheck<Vector512>;
  using Precomputed = WideSum;

  struct Parts {
    Vec word;   // IFMA reads its lower 52 bits
    Vec upper;  // the rest
  };
  using Shared = Parts;

  /// Digits of primes of this many bits may be below 132q.
  static constexpr int kLazyBits = 56;

  /// A term adds less than 3 * 2^52 to the middle sum, the largest.
  static std::size_t terms(int) { return 1024; }
  static std::size_t digit_terms(int bits) { return terms(bits); }
  static std::size_t moved_terms(int bits) { return terms(bits); }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }
  RINGSMITH_INLINE static Parts split(Vec x) { return {x, Arithmetic::shift_right<52>(x)}; }
  RINGSMITH_INLINE static Parts word(Vec x) { return split(x); }
  RINGSMITH_INLINE static Parts factor(Vec x) { return split(x); }
  RINGSMITH_INLINE static Parts shared(const Arithmetic&, Vec x) { return split(x); }
  /// A digit; and the sum of one and a canonical word, at most 133 2^56 or 2^62.
  RINGSMITH_INLINE static Parts digit(const Arithmetic&, Vec x) { return split(x); }
  RINGSMITH_INLINE static Parts digit(const Arithmetic&, const PrimeConstants&, Vec x, Vec addend) {
    return split(Arithmetic::add(x, addend));
  }
  RINGSMITH_INLINE static Parts precomputed_key(const u64* limb, std::size_t i, int v) {
    return split(Arithmetic::load(limb + i + v * Arithmetic::kLanes));
  }

  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) {
    low = value;
    middle = high = Arithmetic::set(0);
  }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    start(arithmetic, Arithmetic::load(limb + i + v * Arithmetic::kLanes));
  }
  RINGSMITH_INLINE void add(const Parts& a, const Parts& b) {
    low = Arithmetic::low(low, a.word, b.word);
    middle = Arithmetic::high(middle, a.word, b.word);
    high = Arithmetic::low(high, a.upper, b.upper);
    middle = Arithmetic::low(middle, a.word, b.upper);
    high = Arithmetic::high(high, a.word, b.upper);
    middle = Arithmetic::low(middle, a.upper, b.word);
    high = Arithmetic::high(high, a.upper, b.word);
  }

  /// The sum modulo q, canonical. With x_0, x_1 < 2^52 and x_2 < 2^30 its digits, x_1 r / 2^52 and
  /// x_2 (r + f / 2^52) are short of x_1 2^52 / q and x_2 2^104 / q, where r = floor(2^104 / q) and
  /// f is its fraction. Their floors' sum is the quotient or up to 4 less: each product loses one
  /// to its floor, the first one more to r's, and x_0 / q is left out.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants& prime) const {
    using A = Arithmetic;
    const Vec zero = A::set(0);
    const Vec ratio = A::set(prime.ratio104);
    const Vec x_1 = A::add(middle, A::shift_right<52>(low));  // its lower 52 bits
    const Vec x_2 = A::add(high, A::shift_right<52>(x_1));
    const Vec lower =
        A::high(A::low(A::high(zero, x_1, ratio), x_2, ratio), x_2, A::set(prime.fraction104));
    const Vec quotient = A::add(lower, A::shift_left<52>(A::high(zero, x_2, ratio)));
    const Vec x_0 = A::bit_and(low, A::set((u64{1} << 52) - 1));
    const Vec words = A::add(x_0, A::shift_left<52>(x_1));  // modulo 2^64, as all that follows
    return arithmetic.canonical(A::sub(words, _mm512_mullo_epi64(quotient, arithmetic.q)));
  }

  Vec low, middle, high;
};

/// The same for words below 2^52, which are not cut.
struct WideFactorSum : WideSum {
  static constexpr int kMaxWordBits = 52;

  RINGSMITH_INLINE static Vec word(Vec x) { return x; }
  RINGSMITH_INLINE void add(Vec a, const Parts& b) {
    low = Arithmetic::low(low, a, b.word);
    middle = Arithmetic::high(middle, a, b.word);
    middle = Arithmetic::low(middle, a, b.upper);
    high = Arithmetic::high(high, a, b.upper);
  }
};

/// Sums of products of words below 2^61, cut in the same way, and factors modulo a prime q of few
/// bits.
struct WideWordSum : IfmaSum {
  static constexpr int kMaxBits = 40;  ///< of q

  /// A term adds less than 2^40 + 2^49 to the high sum, which fold() takes below 2^52.
  static std::size_t terms(int) { return 7; }
  RINGSMITH_INLINE static WideSum::Parts word(Vec x) { return WideSum::split(x); }
  RINGSMITH_INLINE void add(const WideSum::Parts& a, Vec b) {
    low = Arithmetic::low(low, a.word, b);
    high = Arithmetic::high(high, a.word, b);
    high = Arithmetic::low(high, a.upper, b);
  }
};

}  // namespace
}  // namespace ringsmith::simd
