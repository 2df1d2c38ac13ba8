// Primes of up to 50 bits with AVX-512 IFMA: products of 52-bit words, low or high part, added.
//
// Only for the file compiled for IFMA (see transform.h). Values are 52-bit words below 2^52 whose
// lanes may carry anything in the twelve bits above: IFMA ignores them in its factors, sums keep
// the low bits right, and canonical() clears them. So no butterfly masks anything.
#pragma once

#include "vector_avx512.h"

namespace ringsmith::simd {
namespace {

/// Vectors that multiply words of 52 bits.
struct Vector512Ifma : Vector512 {
  static constexpr bool kSplits = true;

  /// accumulator + (a * b modulo 2^52).
  RINGSMITH_INLINE static Vec low(Vec accumulator, Vec a, Vec b) {
    return _mm512_madd52lo_epu64(accumulator, a, b);
  }
  /// accumulator + floor(a * b / 2^52).
  RINGSMITH_INLINE static Vec high(Vec accumulator, Vec a, Vec b) {
    return _mm512_madd52hi_epu64(accumulator, a, b);
  }
  template <int bits>
  RINGSMITH_INLINE static Vec funnel(Vec low, Vec high) {
    return _mm512_shrdi_epi64(low, high, bits);
  }
};

struct IfmaTwiddle {
  __m512i factor, quotient;
};

struct IfmaProduct;

/// Headroom of the 52 bits, what fits without a reduction: nothing, the sums of a whole forward
/// transform and of a pass of the inverse, or those of both transforms.
enum class Headroom { kNone, kForward, kBoth };

/// Arithmetic modulo one prime of up to 50 bits, 46 bits or 33 bits.
template <Headroom headroom>
struct Ifma : Vector512Ifma {
  using Twiddle = IfmaTwiddle;
  using Node = Twiddle;
  using Product = IfmaProduct;
  static constexpr bool kLazy = headroom != Headroom::kNone;

  explicit Ifma(const PrimeConstants& prime, u64 offset = 0)
      : q(set(prime.q)),
        minus_q(set((u64{1} << 52) - prime.q)),
        ratio(set(prime.ratio >> 12)),
        shift52(broadcast(prime.shift52)),
        bias(set(kLazy ? 16 * prime.q : 0)),
        upper_bound(set(kLazy ? 37 * prime.q : 2 * prime.q)),
        offset(set(offset)),
        mask(set((u64{1} << 52) - 1)) {}

  /// A word as multiply() takes it.
  RINGSMITH_INLINE static Vec value(Vec word) { return word; }

  RINGSMITH_INLINE static Vec zero() { return _mm512_setzero_si512(); }

  RINGSMITH_INLINE static Twiddle broadcast(Factor f) { return {set(f.factor), set(f.quotient)}; }
  /// A factor with the quotient that is for 64-bit words.
  RINGSMITH_INLINE static Twiddle from_shift64(Factor f, u64) {
    return {set(f.factor), set(f.quotient >> 12)};
  }
  /// A residue as a factor of multiply().
  RINGSMITH_INLINE static Twiddle constant(Factor f, u64 q) { return from_shift64(f, q); }
  RINGSMITH_INLINE static Twiddle broadcast(const u64* factor, const u64* quotient) {
    return {set(*factor), set(*quotient)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    return broadcast(twiddles.factors + index, twiddles.quotients + index);
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    return {load(twiddles.factors + index), load(twiddles.quotients + index)};
  }

  static constexpr u64 kPlain = 4;
  static constexpr bool kReduces = !kLazy;
  static constexpr int kColumns = 2;
  static constexpr int kStreams = 2;

  /// x * factor - (quotient + extra) * q with Shoup's quotient: in [0, 2q) less extra * q.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t, Vec extra) const {
    const Vec quotient = high(extra, x, t.quotient);
    return low(low(zero(), x, t.factor), quotient, minus_q);
  }
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t) const { return multiply(x, t, zero()); }

  /// The same in [0, 2q), with nothing above; for x below 2^52.
  RINGSMITH_INLINE Vec multiply_once(Vec x, const Twiddle& t) const {
    return bit_and(multiply(x, t), mask);
  }

  /// x modulo q, in [0, 2q), plus q if `extra` is -1; for x below 2^52.
  RINGSMITH_INLINE Vec reduce(Vec x, Vec extra) const {
    return low(x, high(extra, x, ratio), minus_q);
  }
  RINGSMITH_INLINE Vec reduce(Vec x) const { return reduce(x, zero()); }

  /// From [0, 2^52), anything above, to [0, q).
  RINGSMITH_INLINE Vec canonical(Vec x) const { return reduce_once(bit_and(reduce(x), mask), q); }

  /// For sums that read 52 bits, below 37q where they are lazy.
  RINGSMITH_INLINE static Vec digit(Vec x) { return x; }

  /// A product of multiply() plus a canonical word, in [0, q).
  RINGSMITH_INLINE Vec canonical_sum(Vec product, Vec addend) const {
    return reduce_once(add(reduce_once(bit_and(product, mask), q), addend), q);
  }

  /// a - x modulo q, from [0, q) and what forward() leaves: below 38q, or 3q, and so below 2^52.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const {
    return kLazy ? add(a, sub(upper_bound, x)) : add(a, sub(upper_bound, reduce(x)));
  }

  RINGSMITH_INLINE Vec load_residue(const u64* from) const { return load(from); }
  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return biased(load(from)); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const {
    return biased(add(load(from), offset));
  }
  /// Any words, as values in [0, 4q): x = upper * 2^52 + the rest.
  RINGSMITH_INLINE Vec load_wide(const u64* from) const {
    const Vec x = add(load(from), offset);
    const Vec upper = shift_right<52>(x);
    const Vec quotient = high(high(zero(), x, ratio), upper, shift52.quotient);
    return biased(low(low(bit_and(x, mask), upper, shift52.factor), quotient, minus_q));
  }
  /// A lazy transform's sums start from 16q, so that no layer makes them negative.
  RINGSMITH_INLINE Vec biased(Vec x) const { return kLazy ? add(x, bias) : x; }

  /// Reducing: in and out [0, 4q), with the sum's u brought to [q, 3q) and the product in [-q, q).
  /// Lazy: a layer moves the sums by at most q either way, from at least 16q and at most 20q.
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int) const {
    const Vec product = multiply(x, t, set(1));
    const Vec sum = kLazy ? u : reduce(u, set(~u64{0}));
    u = add(sum, product);
    x = sub(sum, product);
  }

  /// In [0, 2^(layer + 1) q) before a lazy pass's layer, [0, 2q) else; out [0, 2q) if reducing.
  /// With headroom for both, sums double in each of at most 16 layers, from q to 2^16 q.
  template <int layer, bool reduces>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t, int) const {
    const Vec difference = add(u, sub(bound<layer>(), v));
    const Vec sum = add(u, v);
    u = reduces && headroom != Headroom::kBoth ? reduce(sum) : sum;
    v = multiply(difference, t);
  }

  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = add(u, sub(bound<layer>(), v));
    u = reduce_once(multiply_once(add(u, v), scale), q);
    v = reduce_once(multiply_once(difference, t), q);
  }

  template <int layer>
  RINGSMITH_INLINE Vec bound() const {
    return _mm512_slli_epi64(q, headroom == Headroom::kBoth ? 17 : kLazy ? layer + 1 : 1);
  }

  Vec q, minus_q, ratio;
  Twiddle shift52;
  Vec bias, upper_bound, offset, mask;
};

/// Products of two canonical words that both vary; Barrett's reduction as in WordProduct, where the
/// remainder is below 2.5q since no high product is short.
struct IfmaProduct {
  explicit IfmaProduct(const PrimeConstants& prime)
      : shift(52 - prime.bits), barrett(Vector512::set(prime.barrett >> 12)) {}

  RINGSMITH_INLINE __m512i canonical(const Ifma<Headroom::kNone>& arithmetic, __m512i a,
                                     __m512i b) const {
    using A = Ifma<Headroom::kNone>;
    const __m512i t = A::high(A::zero(), A::shift_left(a, shift), A::add(b, b));
    const __m512i quotient = A::high(A::zero(), t, barrett);
    const __m512i remainder = A::low(A::low(A::zero(), a, b), quotient, arithmetic.minus_q);
    return A::reduce_once(A::reduce_once(A::bit_and(remainder, arithmetic.mask), arithmetic.q),
                          arithmetic.q);
  }

  int shift;
  __m512i barrett;
};

/// Sums of products of words below 2^50: low and high parts separately.
struct IfmaSum {
  using Arithmetic = Ifma<Headroom::kNone>;
  using Vec = __m512i;
  static constexpr bool kScales = true;  ///< KeyTerms::scaled: three operations
  static constexpr bool kStepwise = false;
  static constexpr int kAtOnce = 1;  ///< vectors of a limb
  using Shared = Vec;
  static constexpr KeyCode kKeyCode = KeyCode::kResidue;
  using Check = KeyCheck<Vector512>;
  using Precomputed = IfmaSum;
  static constexpr int kVectors = 4;  ///< of a combination that share its factors

  /// A high part is below 2^48, and of lazy digits of 46 bits, below 39q with what is added to
  /// them, below 2^46; with carries, 15 of them stay below the 2^52 that fold() takes.
  static std::size_t terms(int) { return 15; }
  /// The same where words `a` are below 3q: at 49 bits a high part is below 3 * 2^46.
  static std::size_t moved_terms(int bits) { return bits <= 49 ? 15 : 5; }
  static std::size_t digit_terms(int bits) { return terms(bits); }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }
  RINGSMITH_INLINE static Vec shared(const Arithmetic&, Vec x) { return x; }
  RINGSMITH_INLINE static Vec digit(const Arithmetic&, Vec x) { return x; }
  RINGSMITH_INLINE static Vec digit(const Arithmetic& arithmetic, Vec x, Vec addend,
                                    const IfmaTwiddle& scale) {
    return Arithmetic::add(x, arithmetic.multiply(addend, scale));
  }
  RINGSMITH_INLINE static Vec split(Vec x) { return x; }
  RINGSMITH_INLINE static Vec precomputed_key(const u64* limb, std::size_t i, int v) {
    return split(Arithmetic::load(limb + i + v * Arithmetic::kLanes));
  }
  RINGSMITH_INLINE static Vec word(Vec x) { return x; }
  RINGSMITH_INLINE static Vec factor(Vec x) { return x; }
  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) {
    low = value;
    high = Arithmetic::zero();
  }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    start(arithmetic, precomputed_key(limb, i, v));
  }
  RINGSMITH_INLINE void add(Vec a, Vec b) {
    low = Arithmetic::low(low, a, b);
    high = Arithmetic::high(high, a, b);
  }
  /// The sum modulo q, canonical: high * 2^52 + low, reduced to [0, 4q) first.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants&) const {
    using A = Arithmetic;
    const Vec upper = A::add(high, A::shift_right<52>(low));
    const Vec lower = A::bit_and(low, arithmetic.mask);
    const Vec quotient =
        A::high(A::high(A::zero(), lower, arithmetic.ratio), upper, arithmetic.shift52.quotient);
    return arithmetic.canonical(
        A::low(A::low(lower, upper, arithmetic.shift52.factor), quotient, arithmetic.minus_q));
  }

  Vec low, high;
};

/// The same for primes of up to 32 bits: half as much of a precomputed key is read from memory.
struct PackedIfmaSum : IfmaSum {
  using Precomputed = PackedIfmaSum;
  static constexpr KeyCode kKeyCode = KeyCode::kResidue32;

  RINGSMITH_INLINE static Vec precomputed_key(const u64* limb, std::size_t i, int v) {
    return Arithmetic::load_halves(limb, i + v * Arithmetic::kLanes);
  }
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    start(arithmetic, precomputed_key(limb, i, v));
  }
};

}  // namespace
}  // namespace ringsmith::simd
