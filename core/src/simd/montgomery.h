// Primes of up to 60 bits in 64-bit lanes: transforms that multiply by Montgomery's reduction, for
// vectors whose products are of 32-bit words.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words.
#pragma once

#include "part_factors.h"
#include "pointwise.h"
#include "word56.h"

namespace ringsmith::simd {
namespace {

/// Word64 with other factors in its transforms, of primes of up to 60 bits.
template <typename V>
struct Montgomery60 : PartFactors<V> {
  using Base = Word64<V>;
  using Operations = WordOperations<V>;
  using Vec = typename V::Vec;
  using Twiddle = PartTwiddle<V>;
  using Node = Twiddle;
  using Base::multiply;
  using V::add;
  using V::multiply_halves;
  using V::reduce_once;
  using V::sub;
  static constexpr TwiddleCode kCode = TwiddleCode::kMontgomery;
  /// Up to 56 bits 128q is below 2^63, and a word before layer k = 0 ... 15 of a forward transform
  /// is below (kMoved + 4 + 4k) q, so that the product is below (3.5 + k / 32) q: 59.75q in all.
  static constexpr u64 kMoved = 60;

  explicit Montgomery60(const PrimeConstants& prime, u64 offset = 0)
      : PartFactors<V>(prime, offset),
        digit(V::set((u64{1} << kMontgomeryBits) - 1)),
        q_digit(V::bit_and(Base::q, digit)),
        q_rest(V::set(prime.q >> kMontgomeryBits)),
        inverse_of_minus_q(V::set(0 - prime.inverse)) {}

  /// x * factor modulo q, in [0, (3 + x / 2^63) q), for x below 2^63.
  ///
  /// With f = 2^31 w modulo q and f' = 2^32 f modulo q, 2^31 x w is t = x_0 f + x_1 f' for x = x_0
  /// + 2^32 x_1, and t + m q a multiple of 2^31 for m = -t / q modulo 2^31. The result is (t + m q)
  /// / 2^31, below (2^32 + x / 2^32 + 2^31) q / 2^31. The parts of f, f' and q are added
  /// separately, and lower ones, of 31 bits, stay below 2^63 + 2^62 + 2^62.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t) const {
    const Vec x_high = Operations::high_half(x);
    const Vec low = add(multiply_halves(x, t.low), multiply_halves(x_high, t.shifted_low));
    const Vec high = add(multiply_halves(x, t.high), multiply_halves(x_high, t.shifted_high));
    const Vec m = V::bit_and(multiply_halves(low, inverse_of_minus_q), digit);
    const Vec carried =
        V::template shift_right<kMontgomeryBits>(add(low, multiply_halves(m, q_digit)));
    return add(add(high, multiply_halves(m, q_rest)), carried);
  }

  /// In and out: [0, 8q), below 2^63.
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int) const {
    const Vec product = multiply(x, t);
    const Vec sum = reduce_once(u, Base::four_q);
    u = add(sum, product);
    x = add(sum, sub(Base::four_q, product));
  }

  /// In and out: [0, 4q).
  template <int layer, bool reduce>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t, int) const {
    const Vec difference = add(u, sub(Base::four_q, v));
    u = reduce_once(add(u, v), Base::four_q);
    v = multiply(difference, t);
  }

  /// The inverse's last layer: sum times `scale`, difference times `t`, canonical.
  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = add(u, sub(Base::four_q, v));
    u = canonical_product(multiply(add(u, v), scale));
    v = canonical_product(multiply(difference, t));
  }

  /// From [0, 4q) to [0, q).
  RINGSMITH_INLINE Vec canonical_product(Vec product) const {
    return reduce_once(reduce_once(product, Base::twice_q), Base::q);
  }

  Vec digit, q_digit, q_rest, inverse_of_minus_q;
};

/// The same of primes of up to 56 bits, where sums are reduced in neither direction but one in each
/// pass of the inverse: products are below 4q, and three layers' factors below 128q < 2^63.
template <typename V, int columns>
struct Montgomery56 : Doubling<V, Lazy<V, Montgomery60<V>>, 16> {
  using Doubling<V, Lazy<V, Montgomery60<V>>, 16>::Doubling;
  static constexpr int kColumns = columns;
};

/// WordSum modulo primes of up to `bits` bits, at most 60, whose parts are folded by Montgomery's
/// reduction; precomputed keys are of residues times 2^60, so that it leaves their sums. Digits are
/// lazy, or below 2^bits + 2^34.
template <typename V, int bits, bool lazy = (bits <= WordSum<V>::kLazyBits),
          bool kPrecomputedKeys = false>
struct MontgomerySum : WordSum<V> {
  using Vec = typename V::Vec;
  using Base = WordSum<V>;
  using Precomputed = MontgomerySum<V, bits, lazy, true>;
  static constexpr int kKeyShift = 60;
  static constexpr int kFoldedInTurn = kPrecomputedKeys ? 4 : 0;  ///< vectors

  struct Arithmetic : Montgomery60<V> {
    explicit Arithmetic(const PrimeConstants& prime)
        : Montgomery60<V>(prime),
          part(V::set(kPart)),
          q_part(V::set(prime.q & kPart)),
          q_upper(V::set(prime.q >> kPartBits)),
          folded(Montgomery60<V>::broadcast(prime.folded)) {}

    /// The sum of x = -m q modulo 2^30 and 2^30 y, plus m q and divided by 2^30.
    RINGSMITH_INLINE Vec fold(Vec x, Vec y) const {
      const Vec m = V::bit_and(V::multiply_halves(x, this->inverse_of_minus_q), part);
      const Vec carried =
          V::template shift_right<kPartBits>(V::add(x, V::multiply_halves(m, q_part)));
      return V::add(V::add(y, V::multiply_halves(m, q_upper)), carried);
    }

    static constexpr int kPartBits = 30;
    static constexpr u64 kPart = (u64{1} << kPartBits) - 1;
    Vec part, q_part, q_upper;
    typename Montgomery60<V>::Twiddle folded;
  };

  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }
  static std::size_t digit_terms(int prime_bits) {
    return lazy ? Base::digit_terms(prime_bits) : Base::terms(prime_bits);
  }
  static std::size_t moved_terms(int prime_bits) { return digit_terms(prime_bits); }

  /// The sum modulo q, or of precomputed keys over 2^60, canonical.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants&) const {
    Vec word = divided(arithmetic);
    if constexpr (!kPrecomputedKeys) {
      return restored(arithmetic, word);
    }
    RINGSMITH_UNROLL
    for (int i = kDoublings - 1; i >= 0; --i) {
      word = V::reduce_once(word, V::shift_left(arithmetic.q, i));
    }
    return word;
  }

  /// Starts again from what the sum is modulo q.
  RINGSMITH_INLINE void make_headroom(const Arithmetic& arithmetic) {
    Base::start(arithmetic, restored(arithmetic, divided(arithmetic)));
  }

 private:
  /// With precomputed keys and a start, both below q, divided() leaves less than 2^kDoublings q: a
  /// 2^60th of 7 terms of lazy digits is below 7 * 133 / 64 q < 15q, of 14 others of 56 bits below
  /// q, and of 14 of 58 bits or 7 of 60 below 7q; and what it adds, below q.
  static constexpr int kDoublings = lazy ? 4 : bits <= 56 ? 1 : 3;

  /// The sum s plus m q, for an m below 2^60, over 2^60: less than s / 2^60 + q.
  ///
  /// No part reaches 2^64 before it is shifted. The low sum has at most 14 products of 30 bits
  /// each, its start and another product: 14 + 3/4 + 1 times 2^60. The middle one has at most twice
  /// 7 products of 30 bits, two others and what was carried, less than 2^34: 16 (2^30 - 1)^2 +
  /// 2^34. Of lazy digits the two others are below 2^54 and 2^60: (7 * 134 + 1 + 64) 2^54 + 2^34.
  [[nodiscard]] RINGSMITH_INLINE Vec divided(const Arithmetic& arithmetic) const {
    return arithmetic.fold(arithmetic.fold(Base::low, Base::middle), Base::high);
  }

  /// What divided() left, less than 2^63, times 2^60 modulo q, canonical. It is less than 8q: at
  /// most 14 terms of 58 bits, 7 of 60 or 3 of 61 are at most 7 (2^60 - 1) q, and the value that
  /// the sum started from is below 3q. Of lazy digits 7 terms are below 7 * 133 q^2, and it is less
  /// than 16q < 2^58.
  RINGSMITH_INLINE static Vec restored(const Arithmetic& arithmetic, Vec word) {
    return arithmetic.canonical_product(arithmetic.multiply(word, arithmetic.folded));
  }
};

}  // namespace
}  // namespace ringsmith::simd
