// Primes of up to 61 bits in 64-bit lanes: Shoup's multiplication with an approximate high product.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words.
#pragma once

#include <type_traits>

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// A constant factor in all lanes, with the halves that products of 32-bit words want.
template <typename V>
struct WordTwiddle {
  typename V::Vec factor, factor_high, quotient, quotient_high;
};

/// A SplitFactor in all lanes, for vectors that multiply words of 52 bits.
template <typename V>
struct SplitTwiddle {
  typename V::Vec factor, quotient, high_factor, high_quotient;
};

template <typename V>
struct WordOperations : V {
  using Vec = typename V::Vec;
  using Twiddle = WordTwiddle<V>;
  using Node = std::conditional_t<V::kSplits, SplitTwiddle<V>, Twiddle>;
  using V::add;
  using V::multiply_halves;
  using V::sub;

  /// A word as multiply() takes it.
  RINGSMITH_INLINE static Vec value(Vec word) { return word; }

  RINGSMITH_INLINE static Vec high_half(Vec x) { return V::template shift_right<32>(x); }

  /// floor(a * b / 2^64), or up to 2 less: the product of the low halves is left out.
  RINGSMITH_INLINE static Vec multiply_high(Vec a, Vec a_high, Vec b, Vec b_high) {
    const Vec middle =
        add(high_half(multiply_halves(a_high, b)), high_half(multiply_halves(a, b_high)));
    return add(multiply_halves(a_high, b_high), middle);
  }

  RINGSMITH_INLINE static Twiddle from_shift64(Factor f, u64) { return broadcast(f); }
  RINGSMITH_INLINE static Twiddle broadcast(Factor f) {
    return {V::set(f.factor), V::set(f.factor >> 32), V::set(f.quotient), V::set(f.quotient >> 32)};
  }
  RINGSMITH_INLINE static Twiddle broadcast(const u64* factor, const u64* quotient) {
    return {V::broadcast(factor), V::broadcast_high(factor), V::broadcast(quotient),
            V::broadcast_high(quotient)};
  }
  RINGSMITH_INLINE static SplitTwiddle<V> broadcast(const SplitFactor& f) {
    return {V::broadcast(&f.factor), V::broadcast(&f.quotient), V::broadcast(&f.high_factor),
            V::broadcast(&f.high_quotient)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    if constexpr (V::kSplits) {
      return broadcast(twiddles.nodes[index]);
    } else {
      return broadcast(twiddles.factors + index, twiddles.quotients + index);
    }
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    const Vec factor = V::load(twiddles.factors + index);
    const Vec quotient = V::load(twiddles.quotients + index);
    return {factor, high_half(factor), quotient, high_half(quotient)};
  }
};

template <typename V>
struct WordProduct;

/// Arithmetic modulo one prime below 2^61.
template <typename V>
struct Word64 : WordOperations<V> {
  using Operations = WordOperations<V>;
  using Vec = typename V::Vec;
  using Twiddle = WordTwiddle<V>;
  using Product = WordProduct<V>;
  using V::add;
  using V::reduce_once;
  using V::sub;

  explicit Word64(const PrimeConstants& prime, u64 offset = 0)
      : q(V::set(prime.q)),
        q_high(V::set(prime.q >> 32)),
        twice_q(V::set(2 * prime.q)),
        four_q(V::set(4 * prime.q)),
        ratio(V::set(prime.ratio)),
        offset(V::set(offset)),
        minus_q_upper(V::set((u64{1} << 52) - (prime.q >> kFactorZeros))),
        lower_mask(V::set((u64{1} << kLowerBits) - 1)) {}

  static constexpr TwiddleCode kCode = TwiddleCode::kShift64;
  static constexpr int kNearPower = 0;  ///< PrimeKernels::near_power
  static constexpr u64 kPlain = 4;
  static constexpr bool kReduces = true;
  /// Products, below 4q, move the sums of 16 layers by less than this many q (Lazy).
  static constexpr u64 kMoved = 64;
  static constexpr int kColumns = V::kStreams;
  static constexpr int kStreams = V::kStreams;

  /// A residue as a factor of multiply().
  RINGSMITH_INLINE static typename Operations::Node constant(Factor f, u64 q) {
    if constexpr (V::kSplits) {
      return Operations::broadcast(split_factor_of(f.factor, q));
    } else {
      return Operations::broadcast(f);
    }
  }

  /// x * factor modulo q, in [0, 4q), for any word x: Shoup's remainder is below q (1 + x / 2^64),
  /// and the quotient may be 2 too small.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t) const {
    const Vec x_high = Operations::high_half(x);
    const Vec quotient = Operations::multiply_high(x, x_high, t.quotient, t.quotient_high);
    return V::low_difference(x, x_high, t.factor, t.factor_high, quotient,
                             Operations::high_half(quotient), q, q_high);
  }

  /// The same by products of 52-bit words, for q = 1 modulo 2^12 and x = x_1 * 2^40 + x_0. The
  /// parts' quotients are less than 2 and 1 + 2^-16 too small. The parts' factors and q - 1 are
  /// multiples of 2^12, so 52 bits are all of their products modulo 2^64 but the zeros at the end;
  /// the quotient itself, for q = (q - 1) + 1, is subtracted last.
  RINGSMITH_INLINE Vec multiply(Vec x, const SplitTwiddle<V>& t) const {
    const Vec zero = V::set(0);
    const Vec lower = V::bit_and(x, lower_mask);
    const Vec upper = V::template shift_right<kLowerBits>(x);
    const Vec lower_up =
        V::template shift_left<kFactorZeros>(x);  // what is above 52 bits is not read
    const Vec upper_up = V::template shift_left<kFactorZeros>(upper);
    const Vec quotient = V::high(V::high(zero, lower_up, t.quotient), upper_up, t.high_quotient);
    const Vec product = V::low(V::low(zero, lower, t.factor), upper, t.high_factor);
    const Vec upper_bits = V::low(product, quotient, minus_q_upper);
    return sub(V::template shift_left<kFactorZeros>(upper_bits), quotient);
  }

  /// x * factor modulo q, in [0, 2q), for any word x.
  RINGSMITH_INLINE Vec multiply_once(Vec x, const Twiddle& t) const {
    return reduce_once(multiply(x, t), twice_q);
  }

  /// x modulo q, in [0, 4q), for any word x.
  RINGSMITH_INLINE Vec reduce(Vec x) const {
    const Vec one = V::set(1);
    const Vec zero = V::set(0);
    return multiply(x, Twiddle{one, zero, ratio, Operations::high_half(ratio)});
  }

  /// From [0, 8q) to [0, q).
  RINGSMITH_INLINE Vec canonical(Vec x) const {
    return reduce_once(reduce_once(reduce_once(x, four_q), twice_q), q);
  }

  /// A product of multiply() plus a canonical word, in [0, q).
  RINGSMITH_INLINE Vec canonical_sum(Vec product, Vec addend) const {
    return canonical(add(product, addend));
  }

  /// a - x modulo q, from [0, q) and [0, 8q).
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const {
    return add(a, sub(four_q, reduce_once(x, four_q)));
  }

  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return V::load(from); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const { return add(V::load(from), offset); }
  RINGSMITH_INLINE Vec load_residue(const u64* from) const { return V::load(from); }
  RINGSMITH_INLINE Vec load_wide(const u64* from) const { return reduce(load_shifted(from)); }

  /// In and out: [0, 8q).
  template <typename T>
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const T& t, int) const {
    const Vec product = multiply(x, t);
    const Vec sum = reduce_once(u, four_q);
    u = add(sum, product);
    x = add(sum, sub(four_q, product));
  }

  /// In and out: [0, 4q).
  template <int layer, bool reduce, typename T>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const T& t, int) const {
    const Vec difference = add(u, sub(four_q, v));
    u = reduce_once(add(u, v), four_q);
    v = multiply(difference, t);
  }

  /// The inverse's last layer: sum times `scale`, difference times `t`, canonical.
  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = add(u, sub(four_q, v));
    u = canonical(multiply(add(u, v), scale));
    v = canonical(multiply(difference, t));
  }

  Vec q, q_high, twice_q, four_q, ratio, offset;
  Vec minus_q_upper, lower_mask;
};

}  // namespace
}  // namespace ringsmith::simd
