// Primes of up to 56 bits in 64-bit lanes: forward transforms whose sums are never reduced.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words.
#pragma once

#include "word64.h"

namespace ringsmith::simd {
namespace {

/// `Base`, an arithmetic of wider primes, where a word can hold 256q. Sums of a forward
/// transform start from kMoved q, at most 64q, and its at most 16 layers move them by less than
/// that either way: they stay in [0, 132q).
template <typename V, typename Base>
struct Lazy : Base {
  using Operations = WordOperations<V>;
  using Vec = typename V::Vec;
  using V::add;
  using V::reduce_once;
  using V::sub;

  explicit Lazy(const PrimeConstants& prime, u64 offset = 0)
      : Base(prime, offset),
        bias(V::set(Base::kMoved * prime.q)),
        bias_and_offset(V::set(Base::kMoved * prime.q + offset)),
        upper_bound(V::set(132 * prime.q)),
        shift(prime.bits > 24 ? prime.bits - 24 : 0),
        reciprocal(V::set(prime.ratio >> (32 - shift))) {}

  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return add(V::load(from), bias); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const {
    return add(V::load(from), bias_and_offset);
  }
  RINGSMITH_INLINE Vec load_wide(const u64* from) const { return add(Base::load_wide(from), bias); }

  template <typename T>
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const T& t, int) const {
    const Vec product = Base::multiply(x, t);
    const Vec sum = u;
    u = add(sum, product);
    x = sub(sum, product);
  }

  /// a - x modulo q, from [0, q) and [0, 132q); below 133q < 2^64.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const { return add(a, sub(upper_bound, x)); }

  /// For sums that take [0, 132q).
  RINGSMITH_INLINE static Vec digit(Vec x) { return x; }

  /// From [0, 132q) to [0, q). The quotient comes from the 32 bits from 2^shift on, which takes at
  /// most 2^shift / q < 2^-22 from it, and from 2^(32 + shift) / q without its fraction, which
  /// takes less than x / 2^(32 + shift) <= 132 / 256. With its own fraction it is less than 2 too
  /// small.
  RINGSMITH_INLINE Vec canonical(Vec x) const {
    const Vec top = V::shift_right(x, shift);
    const Vec quotient = Operations::high_half(V::multiply_halves(top, reciprocal));
    const Vec multiple =
        add(V::multiply_halves(quotient, Base::q),
            V::template shift_left<32>(V::multiply_halves(quotient, Base::q_high)));
    return reduce_once(sub(x, multiple), Base::q);
  }

  Vec bias, bias_and_offset, upper_bound;
  int shift;
  Vec reciprocal;
};

/// `Base` with an inverse whose sums are reduced once in a pass. A pass's words are below start *
/// q, and a layer doubles the bound. In the end a row is what was multiplied, and doubled in the
/// layers that followed, at most twice, so that start must be four times what a product is below;
/// only the first row has nothing but sums.
template <typename V, typename Base, u64 start>
struct Doubling : Base {
  using Vec = typename V::Vec;
  using Twiddle = typename Base::Twiddle;
  using V::add;
  using V::sub;

  explicit Doubling(const PrimeConstants& prime, u64 offset = 0)
      : Base(prime, offset),
        bounds{V::set(start * prime.q), V::set(2 * start * prime.q), V::set(4 * start * prime.q)} {}

  /// In: [0, start 2^layer q).
  template <int layer, bool reduce>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t, int) const {
    const Vec difference = add(u, sub(bounds[layer], v));
    u = add(u, v);
    v = Base::multiply(difference, t);
  }

  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = add(u, sub(bounds[layer], v));
    u = Base::canonical_product(Base::multiply(add(u, v), scale));
    v = Base::canonical_product(Base::multiply(difference, t));
  }

  /// From [0, start 2^layers q) to [0, start q).
  template <int layers>
  RINGSMITH_INLINE Vec reduce_sums(Vec x) const {
    RINGSMITH_UNROLL
    for (int i = layers - 1; i >= 0; --i) {
      x = V::reduce_once(x, bounds[i]);
    }
    return x;
  }

  Vec bounds[3];
};

/// With Word64's products each layer moves sums by less than 4q.
template <typename V>
struct Word56 : Lazy<V, Word64<V>> {
  using Lazy<V, Word64<V>>::Lazy;
};

}  // namespace
}  // namespace ringsmith::simd
