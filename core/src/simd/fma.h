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

#include "combine.h"

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

template <typename V>
struct FmaProduct;

/// Added to a double below 2^51 in size, it rounds to the nearest integer.
constexpr double kRounder = 0x1.8p52;
/// Added to an integer in [0, 2^52), it has that integer in its lower 52 bits.
constexpr double kWord = 0x1p52;

/// What doubles have room for without a reduction: a pass of the transforms, with some; a whole
/// forward transform and a pass of the inverse; both transforms.
enum class FmaRoom { kPass, kForward, kBoth };

/// Arithmetic modulo one prime of up to 50 bits, 48 bits or 34 bits.
template <typename V, FmaRoom room>
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

  explicit Fma(const PrimeConstants& prime, u64 offset = 0)
      : q(V::set(prime.q)),
        real_q(V::set_real(static_cast<double>(prime.q))),
        reciprocal(V::set_real(1.0 / static_cast<double>(prime.q))),
        word_q(V::set_real(kWord + static_cast<double>(prime.q))),
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
  RINGSMITH_INLINE static Twiddle constant(Factor f, u64 q) { return from_residue(f.factor, q); }
  RINGSMITH_INLINE static Twiddle broadcast(Factor f) {
    return {V::set(f.factor), V::set(f.quotient)};
  }
  RINGSMITH_INLINE static Node node(const TwiddleView& twiddles, std::size_t index) {
    return {V::broadcast(twiddles.factors + index), V::broadcast(twiddles.quotients + index)};
  }
  RINGSMITH_INLINE static Twiddle load_twiddle(const TwiddleView& twiddles, std::size_t index) {
    return {V::load(twiddles.factors + index), V::load(twiddles.quotients + index)};
  }

  /// The integer next to x * y, for products below 2^51.
  RINGSMITH_INLINE static Vec nearest_product(Vec x, Vec y) {
    const Vec rounder = V::set_real(kRounder);
    return V::real_sub(V::fused_add(x, y, rounder), rounder);
  }

  /// x * factor modulo q, at most (1/2 + |x| / 2^55) q in size, for |x| <= 2^52: the quotient is
  /// rounded once, and w / q, which is below 1/2, is wrong by at most 2^-55.
  RINGSMITH_INLINE Vec multiply(Vec x, const Twiddle& t) const {
    const Vec quotient = nearest_product(x, t.quotient);
    const Vec upper = V::real_multiply(x, t.factor);
    const Vec lower = V::fused_sub(x, t.factor, upper);
    return V::real_add(V::fused_from(quotient, real_q, upper), lower);
  }

  /// The same to canonical words, from words below 2^52.
  RINGSMITH_INLINE Vec multiply_once(Vec x, const Twiddle& t) const {
    return canonical(multiply(value(x), t));
  }

  /// x modulo q, at most (q + 1) / 2 in size, for |x| below 2^53 and 2^51 q.
  RINGSMITH_INLINE Vec reduce(Vec x) const {
    return V::fused_from(nearest_product(x, reciprocal), real_q, x);
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

  /// A canonical word less what forward() leaves.
  RINGSMITH_INLINE Vec difference(Vec a, Vec x) const { return V::real_sub(value(a), x); }

  RINGSMITH_INLINE Vec load_residue(const u64* from) const { return value(V::load(from)); }
  RINGSMITH_INLINE Vec load_plain(const u64* from) const { return value(V::load(from)); }
  RINGSMITH_INLINE Vec load_shifted(const u64* from) const {
    return value(V::add(V::load(from), offset));
  }
  /// Any words below 2^63, by halves of 32 bits.
  RINGSMITH_INLINE Vec load_wide(const u64* from) const {
    const Vec x = V::add(V::load(from), offset);
    const Vec word = V::set_real(kWord);
    const Vec lower = V::real_sub(V::join_halves(x, word), word);
    const Vec upper = value(V::template shift_right<32>(x));
    return reduce(V::real_add(multiply(upper, shift32), lower));
  }

  /// A layer moves sums by half a q and a little more either way, from at most 4q. With b_i q the
  /// bound before layer i, b_(i+1) = b_i + 1/2 + b_i q / 2^55. Up to 48 bits b_16 is below 13.1,
  /// and x * w / q below 2^51. Up to 50 bits the sums' u is reduced in a pass's first layer: of
  /// three layers from 4q, b_3 is below 2.5 again.
  RINGSMITH_INLINE void forward(Vec& u, Vec& x, const Twiddle& t, int layer) const {
    const Vec product = multiply(x, t);
    const Vec sum = room == FmaRoom::kPass && layer == 0 ? reduce(u) : u;
    u = V::real_add(sum, product);
    x = V::real_sub(sum, product);
  }

  /// Sums and differences double in each layer: from q to 2^16 q, at most 2^50, with room for both
  /// transforms. Else they are reduced where a pass ends, and up to 50 bits in its second layer,
  /// too: from at most q, differences reach 8q, at most 2^51, or 4q, at most 2^52.
  template <int layer, bool reduces>
  RINGSMITH_INLINE void inverse(Vec& u, Vec& v, const Twiddle& t) const {
    constexpr bool kReduced = room == FmaRoom::kBoth   ? false
                              : room == FmaRoom::kPass ? reduces || layer % 2 == 1
                                                       : reduces;
    const Vec difference = V::real_sub(u, v);
    const Vec sum = V::real_add(u, v);
    u = kReduced ? reduce(sum) : sum;
    v = multiply(difference, t);
  }

  template <int layer>
  RINGSMITH_INLINE void last(Vec& u, Vec& v, const Twiddle& scale, const Twiddle& t) const {
    const Vec difference = V::real_sub(u, v);
    u = canonical(multiply(V::real_add(u, v), scale));
    v = canonical(multiply(difference, t));
  }

  Vec q, real_q, reciprocal, word_q, offset;
  Twiddle shift32;
};

/// Products of two canonical words that both vary. The quotient comes from the rounded product: it
/// is below 2^50 and wrong by at most 3/4.
template <typename V>
struct FmaProduct {
  using A = Fma<V, FmaRoom::kPass>;
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
/// The upper sum starts from 1.5 * 2^(bits + 53), so it is a multiple of 2^(bits + 1) throughout:
/// adding a product rounds that to such a multiple, and what is cut off, at most 2^bits, goes to
/// the lower sum.
///
/// Digits are centred, too, at most (q + 1) / 2 in size. Where keys are, a sum of two digits need
/// not be: it is at most q + 1, and a product at most q (q + 1) / 2 < 2^(2 bits - 1).
template <typename V, bool kCentredKeys = false>
struct FmaSum {
  using Vec = typename V::Vec;
  using Check = RealCheck<V, V::kHasMaximum>;
  using Prepared = FmaSum<V, true>;
  using Shared = Vec;
  static constexpr KeyCode kKeyCode = KeyCode::kReal;
  static constexpr bool kScales = false;  ///< KeyTerms::scaled: more operations than an addend
  static constexpr bool kStepwise = !kCentredKeys;
  static constexpr int kAtOnce = kCentredKeys && V::kLanes == 4 ? 2 : 1;  ///< vectors of a limb
  static constexpr int kVectors = 4;

  struct Arithmetic : Fma<V, FmaRoom::kPass> {
    using Base = Fma<V, FmaRoom::kPass>;

    Arithmetic(const PrimeConstants& prime, int bits)
        : Base(prime), bias(V::set_real(0x1.8p53 * power(bits))) {
      const double unit = 2 * power(bits);
      const double factor = centred((u64{2} << bits) % prime.q, prime.q);
      per_unit = {V::set_real(factor / unit),
                  V::set_real(factor / static_cast<double>(prime.q) / unit)};
    }
    static double power(int bits) { return static_cast<double>(u64{1} << bits); }

    Vec bias;
    typename Base::Twiddle per_unit;  // 2^(bits + 1) modulo q, over 2^(bits + 1)
  };

  static Arithmetic arithmetic(const PrimeConstants& prime, int bits) { return {prime, bits}; }
  /// Products are at most 2^(2 bits - 1), and room is for 2^(bits + 52). What is cut off, with a
  /// start of at most 2^(bits - 1), stays below 2^53.
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
    const Vec sum = V::real_add(x, addend);
    return kCentredKeys ? sum : arithmetic.reduce(sum);
  }
  RINGSMITH_INLINE static Vec prepared_key(const u64* limb, std::size_t i) {
    return V::load(limb + i);
  }
  RINGSMITH_INLINE static Vec split(Vec x) { return Arithmetic::value(x); }
  RINGSMITH_INLINE static Vec word(Vec x) { return Arithmetic::value(x); }
  RINGSMITH_INLINE static Vec factor(Vec x) { return x; }  // centred already

  RINGSMITH_INLINE void start(const Arithmetic& arithmetic, Vec words) {
    upper = arithmetic.bias;
    lower = arithmetic.reduce(Arithmetic::value(words));
  }
  RINGSMITH_INLINE void add(Vec a, Vec b) {
    const Vec sum = V::fused_add(a, b, upper);
    lower = V::real_add(lower, V::fused_sub(a, b, V::real_sub(sum, upper)));
    upper = sum;
  }
  /// The sum modulo q, canonical.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants&) const {
    const Vec units = V::real_sub(upper, arithmetic.bias);
    return arithmetic.canonical(
        V::real_add(arithmetic.multiply(units, arithmetic.per_unit), arithmetic.reduce(lower)));
  }

  Vec upper, lower;
};

/// PrimeKernels::digit.
template <typename V>
void digits_fma(const PrimeConstants& prime, const u64* words, u64* out, std::size_t count) {
  using A = Fma<V, FmaRoom::kPass>;
  const A arithmetic(prime);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    A::store(out + i, arithmetic.reduce(A::value(A::load(words + i))));
  }
}

template <typename V>
void scale_fma(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
               std::size_t count) {
  using A = Fma<V, FmaRoom::kPass>;
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
template <typename V, FmaRoom room>
constexpr PrimeKernels fma_class(int bits) {
  using A = Fma<V, room>;
  using Any = Fma<V, FmaRoom::kPass>;
  return {bits,
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
