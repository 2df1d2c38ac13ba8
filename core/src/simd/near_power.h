// Primes of up to 61 bits that are little below a power of two, in 64-bit lanes.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words
// whose products are of 32-bit words. Primes are q = 2^b - gap, as the searches for primes of SEAL
// and of others find them, which begin at 2^b: what a product has from 2^b on is worth gap times
// as much, and nothing else is needed to reduce it.
#pragma once

#include "part_factors.h"
#include "word56.h"

namespace ringsmith::simd {
namespace {

/// Word64 with other factors in its transforms, with gap <= 2^(b - 34). Primes of up to 60 bits
/// need no `carries`, those of 61 do: three operations more a product.
template <typename V, bool carries = false>
struct NearPower : PartFactors<V> {
  using Base = Word64<V>;
  using Operations = WordOperations<V>;
  using Vec = typename V::Vec;
  using Twiddle = PartTwiddle<V>;
  using Node = Twiddle;
  using V::add;
  using V::multiply_halves;
  using V::reduce_once;
  using V::sub;
  static constexpr TwiddleCode kCode = TwiddleCode::kNearPower;
  static constexpr int kNearPower = 34;  ///< gap is at most 2^(b - kNearPower)
  static constexpr u64 kBound = carries ? 4 : 6;
  static constexpr u64 kPlain = 2 * kBound;

  explicit NearPower(const PrimeConstants& prime, u64 offset = 0)
      : PartFactors<V>(prime, offset),
        bits(prime.bits),
        gap(V::set((u64{1} << bits) - prime.q)),
        below(V::set((u64{1} << bits) - 1)),
        middle(V::set(u64{1} << (bits - kNearPowerBits))),
        top(add(gap, gap)),
        lower(V::set((u64{1} << (bits - kNearPowerBits)) - 1)),
        lower_bits(bits - kNearPowerBits),
        bound(V::set(kBound * prime.q)) {}

  /// A residue as a factor of multiply().
  RINGSMITH_INLINE static Twiddle constant(Factor f, u64 q) {
    return PartFactors<V>::broadcast(near_power_factor(f.factor, q));
  }

  /// x * factor modulo q, for any word x.
  ///
  /// With x = x_0 + 2^32 x_1 the product is x_0 w + x_1 w' for w' = 2^32 w modulo q. Of both
  /// factors' parts, above s = b - 31 bits and below, two sums are made, low + 2^s high, and high
  /// is cut at 32 bits: 2^(s + 32) is 2^(b + 1), and so 2 gap. With x below r 2^64, low is below
  /// 2^s (1 + r) 2^32 = 2 (1 + r) 2^b, high below (1 + r) 2^63, its lower half times 2^s below
  /// 2^(b + 1), and its upper half times 2 gap below (1 + r) 2^32 gap. The result is below
  ///
  ///   (4 + 2r) 2^b + (1 + r) 2^32 gap.
  ///
  /// If what low has from 2^s on is carried to high, which stays below 2^64, the result is below
  /// 2^s + 2^(b + 1) + 2^33 gap, at most 2.51 2^b.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t) const {
    const Vec x_high = Operations::high_half(x);
    Vec low = add(multiply_halves(x, t.low), multiply_halves(x_high, t.shifted_low));
    Vec high = add(multiply_halves(x, t.high), multiply_halves(x_high, t.shifted_high));
    if constexpr (carries) {
      high = add(high, V::shift_right(low, lower_bits));
      low = V::bit_and(low, lower);
    }
    return add(add(low, multiply_halves(high, middle)),
               multiply_halves(Operations::high_half(high), top));
  }

  /// From any word to one below 2^b + 2^(64 - b) gap.
  RINGSMITH_INLINE Vec fold(Vec x) const {
    return add(V::bit_and(x, below), multiply_halves(V::shift_right(x, bits), gap));
  }
  /// From any word to [0, q): folded, it is below 2q.
  RINGSMITH_INLINE Vec canonical(Vec x) const { return reduce_once(fold(x), Base::q); }

  /// Plain words are below twice the bound, and others are folded.
  RINGSMITH_INLINE Vec load_wide(const u64* from) const { return fold(Base::load_shifted(from)); }

  RINGSMITH_INLINE Vec canonical_product(Vec product) const { return canonical(product); }

  /// A product of multiply() plus a canonical word, in [0, q).
  RINGSMITH_INLINE Vec canonical_sum(Vec product, Vec addend) const {
    return canonical(add(product, addend));
  }

  /// a - x modulo q, from [0, q) and what forward() leaves.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const {
    return add(a, sub(bound, reduce_once(x, bound)));
  }

  /// In and out: below twice the bound, so that products are below it: of words below 12q < 2^64 *
  /// 3/4 they are below 5.5 2^b + 1.75 2^32 gap <= 6q.
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int) const {
    const Vec product = multiply(x, t);
    const Vec sum = reduce_once(u, bound);
    u = add(sum, product);
    x = add(sum, sub(bound, product));
  }

  /// In and out: below the bound.
  template <int layer, bool reduce>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t, int) const {
    const Vec difference = add(u, sub(bound, v));
    u = reduce_once(add(u, v), bound);
    v = multiply(difference, t);
  }

  /// The inverse's last layer: sum times `scale`, difference times `t`, canonical.
  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = add(u, sub(bound, v));
    u = canonical(multiply(add(u, v), scale));
    v = canonical(multiply(difference, t));
  }

  int bits;
  Vec gap, below, middle, top, lower;
  int lower_bits;
  Vec bound;
};

/// The same of primes of up to 54 bits, with gap <= 2^(b - 30), where sums are reduced in neither
/// direction but one in each pass of the inverse.
///
/// 512q is below 2^63. A product of x below 478q, so that r is below 478 / 1024, is below 4.94 2^b
/// + 1.47 2^32 gap <= 10.85q. Forward, words below 130q, of up to b + 7 bits, start from 174q
/// more, and each of at most 16 layers moves them by less than that either way: they stay below
/// 478q. Back, three layers' factors are below 352q.
template <typename V, int columns>
struct NearPower54 : Doubling<V, NearPower<V>, 44> {
  using Base = Doubling<V, NearPower<V>, 44>;
  using Twiddle = PartTwiddle<V>;
  using Vec = typename V::Vec;
  using V::add;
  using V::sub;
  static constexpr int kColumns = columns;
  static constexpr int kNearPower = 30;
  static constexpr u64 kPlain = 130;
  static constexpr u64 kMoved = 174;

  explicit NearPower54(const PrimeConstants& prime, u64 offset = 0)
      : Base(prime, offset),
        bias(V::set(kMoved * prime.q)),
        bias_and_offset(V::set(kMoved * prime.q + offset)),
        upper_bound(V::set((2 * kMoved + kPlain) * prime.q)) {}

  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return add(V::load(from), bias); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const {
    return add(V::load(from), bias_and_offset);
  }
  RINGSMITH_INLINE Vec load_wide(const u64* from) const { return add(Base::load_wide(from), bias); }

  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int) const {
    const Vec product = Base::multiply(x, t);
    const Vec sum = u;
    u = add(sum, product);
    x = sub(sum, product);
  }

  /// a - x modulo q, from [0, q) and [0, 478q); below 479q.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const { return add(a, sub(upper_bound, x)); }

  /// For sums, below 2^b + 2^34.
  RINGSMITH_INLINE Vec digit(Vec x) const { return Base::fold(x); }

  Vec bias, bias_and_offset, upper_bound;
};

}  // namespace
}  // namespace ringsmith::simd
