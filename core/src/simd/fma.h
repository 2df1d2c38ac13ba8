// Primes of up to 50 bits in doubles, by fused multiply-adds.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of 64-bit words
// whose registers hold doubles, too. Values are integers of either sign, below 2^53 in size, as
// doubles; all sums and differences of theirs are exact. A product has up to 102 bits: its upper
// part is the rounded product, its lower part what a fused operation finds that rounding has cut
// off. Quotients are rounded to the nearest integer, so remainders are little more than q / 2 in
// size and nothing is compared before the end. After van der Hoeven, Lecerf and Quintin 2016,
// "Modular SIMD arithmetic in Mathemagix", section 3.
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// A canonical residue as a double in [-q/2, q/2].
double centred(u64 residue, u64 q) {
  const auto value = static_cast<double>(residue);  // exact, as the difference
  return residue > q / 2 ? value - static_cast<double>(q) : value;
}

template <typename V>
struct FmaTwiddle {
  typename V::Vec factor, quotient;  // doubles: w in [-q/2, q/2], and w / q
};

/// The same for multiply() to take more.
template <typename V>
struct EvenTwiddle : FmaTwiddle<V> {};

template <typename V>
struct FmaProduct;

/// Added to a double below 2^51 in size, it rounds to the nearest integer.
constexpr double kRounder = 0x1.8p52;
/// Below 2^52, to the nearest even one.
constexpr double kEvenRounder = 0x1.8p53;
/// Added to an integer in [0, 2^52), it has that integer in its lower 52 bits.
constexpr double kWord = 0x1p52;

/// Headroom of doubles, what fits: passes of the transforms with few reductions; a whole forward
/// transform without one, and a pass of the inverse but for a row; both transforms.
enum class FmaHeadroom { kPass, kForward, kBoth };

/// Arithmetic modulo one prime of up to 50 bits, 48 bits or 34 bits.
template <typename V, FmaHeadroom headroom>
struct Fma : V {
  using Vec = typename V::Vec;
  using Twiddle = FmaTwiddle<V>;
  using Node = Twiddle;
  using Product = FmaProduct<V>;
  static constexpr u64 kPlain = 4;
  static constexpr bool kReduces = false;
  static constexpr int kColumns = 2;
  static constexpr int kStreams = 2;
  static constexpr int kJoined = V::kJoined;
  static constexpr bool kSpaced = headroom == FmaHeadroom::kPass;
  /// Fewer values leave 16 registers, for a fiftieth of a transform's time.
  static constexpr bool kInTurn = V::kLanes == 4;

  explicit Fma(const PrimeConstants& prime, u64 offset = 0)
      : q(V::set(prime.q)),
        real_q(V::set_real(static_cast<double>(prime.q))),
        reciprocal(V::set_real(1.0 / static_cast<double>(prime.q))),
        word_q(V::set_real(kWord + static_cast<double>(prime.q))),
        word_twice_q(V::set_real(kWord + 2 * static_cast<double>(prime.q))),
        rounder(V::set_real(kRounder)),
        even_rounder(V::set_real(kEvenRounder)),
        offset(V::set(offset)),
        shift32(from_residue((u64{1} << 32) % prime.q, prime.q)) {}

  /// A word below 2^52 as multiply() takes it.
  RINGSMITH_INLINE static Vec value(Vec word) {
    const Vec bits = V::set_real(kWord);
    return V::real_sub(V::bit_xor(word, bits), bits);
  }

  RINGSMITH_INLINE static Twiddle from_residue(u64 residue, u64 q) {
    const double factor = centred(residue, q);
    return {V::set_real(factor), V::set_real(factor / static_cast<double>(q))};
  }
  /// A factor with the quotient that is for 64-bit words.
  RINGSMITH_INLINE static Twiddle from_shift64(Factor f, u64 q) {
    return from_residue(f.factor, q);
  }
  /// A residue as a factor of multiply().
  RINGSMITH_INLINE static EvenTwiddle<V> constant(Factor f, u64 q) {
    return {from_residue(f.factor, q)};
  }
  RINGSMITH_INLINE static Twiddle broadcast(Factor f) {
    return {V::set(f.factor), V::set(f.quotient)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    return {V::broadcast(twiddles.factors + index), V::broadcast(twiddles.quotients + index)};
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    return {V::load(twiddles.factors + index), V::load(twiddles.quotients + index)};
  }

  /// The integer next to x * y, for products below 2^51, or as the rounder has it.
  RINGSMITH_INLINE static Vec nearest_product(Vec x, Vec y, Vec rounder = V::set_real(kRounder)) {
    return V::real_sub(V::fused_add(x, y, rounder), rounder);
  }

  /// x * factor modulo q, at most (1/2 + |x| / 2^55) q in size, for |x| <= 2^52: the quotient is
  /// rounded once, and w / q, which is below 1/2, is wrong by at most 2^-55. Rounded to even
  /// integers, for |x| <= 2^53, that is at most (1 + |x| / 2^55) q.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t,
                                Vec rounder = V::set_real(kRounder)) const {
    const Vec quotient = nearest_product(x, t.quotient, rounder);
    const Vec upper = V::real_multiply(x, t.factor);
    const Vec lower = V::fused_sub(x, t.factor, upper);
    return V::real_add(V::fused_from(quotient, real_q, upper), lower);
  }

  RINGSMITH_INLINE Vec multiply(Vec x, const EvenTwiddle<V>& t) const {
    return multiply(x, static_cast<const Twiddle&>(t), even_rounder);
  }

  /// The same to canonical words, from words below 2^52.
  RINGSMITH_INLINE Vec multiply_once(Vec x, const Twiddle& t) const {
    return canonical(multiply(value(x), t));
  }

  /// x modulo q, at most (q + 1) / 2 in size, for |x| below 2^53 and 2^51 q.
  RINGSMITH_INLINE Vec reduce(Vec x, Vec rounder = V::set_real(kRounder)) const {
    return V::fused_from(nearest_product(x, reciprocal, rounder), real_q, x);
  }

  /// The same of what forward() leaves.
  RINGSMITH_INLINE Vec digit(Vec x) const { return reduce(x); }

  /// The same to words in [0, q).
  RINGSMITH_INLINE Vec canonical(Vec x) const { return to_word(reduce(x)); }

  /// A remainder below q in size to a word in [0, q).
  RINGSMITH_INLINE Vec to_word(Vec remainder) const {
    const Vec word = V::set_real(kWord);
    return V::bit_xor(V::real_add(remainder, V::choose_by_sign(remainder, word, word_q)), word);
  }

  /// A product of multiply() plus a canonical word, to [0, q).
  RINGSMITH_INLINE Vec canonical_sum(Vec product, Vec addend) const {
    return canonical(V::real_add(product, value(addend)));
  }

  /// A canonical word less what forward() leaves, up to 50 bits after a block from layer 0 on.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const { return V::real_sub(value(a), x); }

  /// A word below 4q as forward() takes it.
  RINGSMITH_INLINE Vec start(Vec word) const {
    const Vec bits = V::set_real(kWord);
    return kSpaced ? V::real_sub(V::bit_xor(word, bits), word_twice_q) : value(word);
  }
  RINGSMITH_INLINE Vec load_residue(const u64* from) const { return value(V::load(from)); }
  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return start(V::load(from)); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const {
    return start(V::add(V::load(from), offset));
  }
  /// Any words below 2^63, by halves of 32 bits.
  RINGSMITH_INLINE Vec load_wide(const u64* from) const {
    const Vec x = V::add(V::load(from), offset);
    const Vec word = V::set_real(kWord);
    const Vec lower = V::real_sub(V::join_halves(x, word), word);
    const Vec upper = value(V::template shift_right<32>(x));
    return reduce(V::real_add(multiply(upper, shift32), lower));
  }

  /// A layer moves sums by half a q and a little more either way: with b_i q the bound before layer
  /// i, b_(i+1) = b_i + 1/2 + b_i q / 2^55. Up to 48 bits they start from at most 4q, b_16 is below
  /// 13.1, and x * w / q below 2^51.
  ///
  /// Up to 50 bits x is at most 2^52 where b_i <= 4, and 2^53 where b_i <= 8: then its product's
  /// quotient is even, and b_(i+1) = b_i + 1 + b_i / 32. In layer 0 u is reduced, to q / 2, so that
  /// b_0 = 8 gives b_1 = 1.75. Then come 2.31, 2.88, 3.47 and b_5 = 4.08, from even quotients 5.21,
  /// 6.38 and b_8 = 7.58. Words start as of layer 2, from 2q in size, and a pass without reductions
  /// has layers 2 to 4 at the top, whose words are as of layer 2, and else 5 to 7, after layer 4 or
  /// lower ones. AVX2's block has layers 3 to 7, or 0 to 4 where differences are to stay below 8q,
  /// and AVX-512's always layers 0 to 5.
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int layer) const {
    const bool even = kSpaced && (layer == 0 || layer >= 5);
    const Vec product = multiply(x, t, even ? even_rounder : V::set_real(kRounder));
    const Vec sum = kSpaced && layer == 0 ? reduce(u) : u;
    u = V::real_add(sum, product);
    x = V::real_sub(sum, product);
  }

  /// Sums and differences double in each layer: up to 34 bits from q to 2^16 q, at most 2^50, with
  /// headroom for both transforms.
  ///
  /// Else what is multiplied begins anew from little more than q / 2, or q if its quotient is even.
  /// Up to 48 bits a pass's words are at most 2.25q, and 4.5q, 9q and 18q < 2^53 after layers 0, 1
  /// and 2, products of the first two at most 0.58q. In the end only row 0 is reduced, which had
  /// sums alone; row 1 is at most 4 * 0.54q, and the others, doubled once or not at all, 1.16q.
  ///
  /// Up to 50 bits a pass's words are at most 1.25q, and products of layer 0 at most 0.58q. In
  /// layer 1 rows 0 and 4 have sums of 5q, which are reduced, and rows 2 and 6 even quotients: at
  /// most 1.16q, as rows 1 and 5; rows 3 and 7 are at most 0.54q. After layer 2 row 0 is at most q,
  /// row 3 at most 1.08q, rows 1 and 2, at most 2.32q, are reduced, and the others products again.
  ///
  /// In registers the rounders are one constant each; the compiler makes two of a number that is
  /// added and subtracted.
  template <int layer, bool reduces>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t, int row) const {
    const bool even = headroom == FmaHeadroom::kPass      ? layer == 1 && row % 4 == 0
                      : headroom == FmaHeadroom::kForward ? reduces && row == 0
                                                          : false;
    const bool reduced = even || (kSpaced && layer == 2 && (row == 1 || row == 2));
    const Vec difference = V::real_sub(u, v);
    const Vec sum = V::real_add(u, v);
    u = reduced ? reduce(sum, rounder) : sum;
    v = multiply(difference, t, even ? even_rounder : rounder);
  }

  /// With even quotients, since two layers' sums may have come before.
  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = V::real_sub(u, v);
    u = to_word(reduce(multiply(V::real_add(u, v), scale, even_rounder), rounder));
    v = to_word(reduce(multiply(difference, t, even_rounder), rounder));
  }

  Vec q, real_q, reciprocal, word_q, word_twice_q, rounder, even_rounder, offset;
  Twiddle shift32;
};

/// Products of two canonical words that both vary. The quotient comes from the rounded product: it
/// is below 2^50 and wrong by at most 3/4.
template <typename V>
struct FmaProduct {
  using A = Fma<V, FmaHeadroom::kPass>;
  using Vec = typename V::Vec;

  explicit FmaProduct(const PrimeConstants&) {}

  RINGSMITH_INLINE Vec canonical(const A& arithmetic, Vec a, Vec b) const {
    const Vec x = A::value(a);
    const Vec y = A::value(b);
    const Vec upper = V::real_multiply(x, y);
    const Vec lower = V::fused_sub(x, y, upper);
    const Vec quotient = A::nearest_product(upper, arithmetic.reciprocal);
    return arithmetic.canonical(
        V::real_add(V::fused_from(quotient, arithmetic.real_q, upper), lower));
  }
};

}  // namespace
}  // namespace ringsmith::simd
