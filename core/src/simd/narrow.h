// Transforms of primes of up to 31 bits in 32-bit lanes: Shoup's multiplication.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 32-bit words.
// Limbs are words of u64: the transforms pack them when they are first read and unpack them when
// they are last written, and so do multiplications of a limb by a constant. Keys' products are
// added as they are (product_sum.h), and all else is left to doubles (fma.h).
#pragma once

#include "product_sum.h"

namespace ringsmith::simd {
namespace {

/// A constant factor in all lanes.
template <typename V>
struct NarrowNode {
  typename V::Vec factor, quotient;
  [[nodiscard]] RINGSMITH_INLINE typename V::Vec odd_quotient() const { return quotient; }
};

/// A constant factor in every lane.
template <typename V>
struct NarrowTwiddle {
  typename V::Vec factor, quotient;
  [[nodiscard]] RINGSMITH_INLINE typename V::Vec odd_quotient() const { return V::odd(quotient); }
};

/// Arithmetic modulo one prime of up to 30 or 31 bits. Products are below one span, which is 2q or
/// q, and two spans are at most 2^32.
template <typename V, int bits>
struct Narrow : V {
  using Vec = typename V::Vec;
  using Wide = Fma<typename V::Wide, FmaHeadroom::kPass>;
  using Twiddle = NarrowTwiddle<V>;
  using Node = NarrowNode<V>;
  using V::add;
  using V::reduce_once;
  using V::sub;
  static constexpr bool kReduces = true;
  static constexpr bool kTwice = bits <= 30;  // whether a span is 2q
  static constexpr u64 kSpan = kTwice ? 2 : 1;
  static constexpr u64 kPlain = 2 * kSpan;
  static constexpr int kColumns = 1;

  explicit Narrow(const PrimeConstants& prime, u64 offset = 0)
      : q(V::set(prime.q)),
        span(V::set(kSpan * prime.q)),
        offset(V::set(offset)),
        wide(prime, offset) {}

  RINGSMITH_INLINE static Twiddle broadcast(Factor f) {
    return {V::set(f.factor), V::set(f.quotient)};
  }
  /// A factor with the quotient that is for 64-bit words.
  RINGSMITH_INLINE static Twiddle from_shift64(Factor f) {
    return {V::set(f.factor), V::set(f.quotient >> 32)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    return {V::broadcast(words(twiddles.factors) + index),
            V::broadcast(words(twiddles.quotients) + index)};
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    return {V::load(words(twiddles.factors) + index), V::load(words(twiddles.quotients) + index)};
  }

  /// x * factor modulo q, below the span, for any word x. The factor's quotient is less than 1 too
  /// small, so x / 2^32 times that is, too; cut off, the quotient of the product is less than 2 too
  /// small, and the remainder below 2q, which is below 2^32.
  template <typename T>
  RINGSMITH_INLINE Vec multiply(Vec x, const T& t) const {
    const Vec even = V::multiply_even(x, t.quotient);
    const Vec odd = V::multiply_even(V::odd(x), t.odd_quotient());
    const Vec quotient = V::join_high(even, odd);
    const Vec remainder = sub(V::multiply_low(x, t.factor), V::multiply_low(quotient, q));
    return kTwice ? remainder : reduce_once(remainder, q);
  }

  /// From below the span, or two spans, to [0, q).
  RINGSMITH_INLINE Vec canonical_product(Vec x) const { return kTwice ? reduce_once(x, q) : x; }
  RINGSMITH_INLINE Vec canonical(Vec x) const { return canonical_product(reduce_once(x, span)); }

  /// Plain words, shifted or not, are below kPlain q, which is below 2^32.
  RINGSMITH_INLINE Vec load_residue(const u64* from) const { return V::load(from); }
  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return V::load(from); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const { return add(V::load(from), offset); }
  RINGSMITH_INLINE Vec load_wide(const u64* from) const {
    return V::pack(reduced(from), reduced(from + Wide::kLanes));
  }

  /// In and out: below two spans; only u is reduced.
  template <typename T>
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const T& t, int) const {
    const Vec product = multiply(x, t);
    const Vec sum = reduce_once(u, span);
    u = add(sum, product);
    x = sub(add(sum, span), product);
  }

  /// In and out: below the span.
  template <int layer, bool reduce, typename T>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const T& t, int) const {
    const Vec difference = sub(add(u, span), v);
    u = reduce_once(add(u, v), span);
    v = multiply(difference, t);
  }

  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = sub(add(u, span), v);
    u = canonical_product(multiply(add(u, v), scale));
    v = canonical_product(multiply(difference, t));
  }

  Vec q, span, offset;
  Wide wide;

 private:
  RINGSMITH_INLINE static const typename V::Word* words(const u64* from) {
    return reinterpret_cast<const typename V::Word*>(from);
  }
  /// From any words, by doubles of at most (q + 1) / 2 in size: q more, which is below 2q.
  RINGSMITH_INLINE Vec reduced(const u64* from) const {
    const Vec word = Wide::set_real(kWord);
    return Wide::bit_xor(Wide::real_add(wide.load_wide(from), wide.word_q), word);
  }
};

/// Divided by doubles, from such words.
template <typename A>
struct NarrowDivided {
  using Wide = typename A::Wide;

  RINGSMITH_INLINE void operator()(const A& arithmetic, typename A::Vec x, u64* to) const {
    const auto words = arithmetic.canonical(x);
    divided(arithmetic.wide, Wide::value(A::unpack_first(words)), to);
    divided(arithmetic.wide, Wide::value(A::unpack_last(words)), to + Wide::kLanes);
  }

  Divided<Wide> divided;
};

/// PrimeKernels::forward_divide.
template <typename A>
void forward_divide_narrow(const NttPlan& plan, const u64* in, u64 bound, u64 offset,
                           const Division& division, u64* scratch) {
  const NarrowDivided<A> divided{{Quotient<typename A::Wide>(plan.prime, division), scratch}};
  forward_ntt<A>(plan, in, bound, offset, scratch, divided);
}

/// PrimeKernels::scale.
template <typename A>
void scale_narrow(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                  std::size_t count) {
  const A arithmetic(prime);
  const auto factors = A::from_shift64(factor);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    const auto product = arithmetic.multiply(A::load(a + i), factors);
    A::store(out + i, arithmetic.canonical_product(product));
  }
}

/// PrimeKernels::divide, in 32 bits where those can hold differences, which are at most
/// lift + q - 1. A product and an addend are below two spans together.
template <typename A>
void divide_narrow(const PrimeConstants& prime, const u64* correction, u64 lift,
                   const Division& division, std::size_t count) {
  if (lift + prime.q > u64{1} << 32 || division.permutation != nullptr) {
    divide_words<typename A::Wide>(prime, correction, lift, division, count);
    return;
  }
  const A arithmetic(prime);
  const auto lifted = A::set(lift);
  const auto factor = A::from_shift64(division.factor);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    const auto correction_lifted = A::sub(lifted, A::load(correction + i));
    const auto difference = A::add(A::load(division.in + i), correction_lifted);
    auto words = arithmetic.multiply(difference, factor);
    if (division.addend != nullptr) {
      words = A::add(words, A::load(division.addend + i));
    }
    A::store(division.out + i, arithmetic.canonical(words));
  }
}

/// The class of primes of up to `bits` bits with such transforms.
template <typename V, int bits>
constexpr PrimeKernels narrow_class() {
  using A = Narrow<V, bits>;
  PrimeKernels kernels = product_class<typename V::Wide, bits>();
  kernels.code = TwiddleCode::kShift32;
  kernels.lanes = V::kLanes;
  kernels.forward = forward_ntt<A>;
  kernels.forward_digit = kernels.forward;
  kernels.forward_divide = forward_divide_narrow<A>;
  kernels.inverse = inverse_ntt<A>;
  kernels.scale = scale_narrow<A>;
  kernels.divide = divide_narrow<A>;
  return kernels;
}

}  // namespace
}  // namespace ringsmith::simd
