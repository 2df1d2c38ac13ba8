// Word-by-word kernels over vectors. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "word64.h"

namespace ringsmith::simd {
namespace {

RINGSMITH_INLINE std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// Whether every lane is below the bound.
template <typename V>
bool all_below(typename V::Vec words, u64 bound) {
  u64 each[V::kLanes];
  V::store(each, words);
  bool all = true;
  for (const u64 word : each) {
    all &= word < bound;
  }
  return all;
}

/// Whether all words that it is shown are below q < 2^63: a word is, if it is below 2^63 and its
/// difference to q is negative.
template <typename V>
class CanonicalCheck {
 public:
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit CanonicalCheck(Vec q)
      : q_(q), seen_(V::set(V::kHasMaximum ? 0 : ~u64{0})) {}
  /// Loads words that are to be checked.
  RINGSMITH_INLINE Vec load(const u64* from) {
    const Vec word = V::load(from);
    show(word);
    return word;
  }
  RINGSMITH_INLINE void show(Vec word) {
    if constexpr (V::kHasMaximum) {
      seen_ = V::maximum(seen_, word);
    } else {  // the upper bit stays while words are below q
      seen_ = V::bit_and(seen_, V::and_not(V::sub(word, q_), word));
    }
  }
  [[nodiscard]] RINGSMITH_INLINE bool passed() const {
    u64 seen[V::kLanes];
    u64 q[V::kLanes];
    V::store(seen, seen_);
    V::store(q, q_);
    bool all = true;
    for (int lane = 0; lane < V::kLanes; ++lane) {
      all &= V::kHasMaximum ? seen[lane] < q[lane] : seen[lane] >> 63 != 0;
    }
    return all;
  }

 private:
  Vec q_, seen_;
};

/// The same for keys' words, in any form of the sum.
template <typename V>
struct KeyCheck : CanonicalCheck<V> {
  RINGSMITH_INLINE explicit KeyCheck(const PrimeConstants& prime)
      : CanonicalCheck<V>(V::set(prime.q)) {}
  template <typename Key>
  RINGSMITH_INLINE void show(typename V::Vec word, const Key&) {
    CanonicalCheck<V>::show(word);
  }
};

template <typename V>
bool is_canonical(const PrimeConstants& prime, const u64* words, std::size_t count) {
  CanonicalCheck<V> check(V::set(prime.q));
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    static_cast<void>(check.load(words + i));
  }
  return check.passed();
}

/// Sums, differences and products of canonical words, canonical.
template <typename V>
struct Plus {
  using Vector = V;
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit Plus(const PrimeConstants& prime) : q(V::set(prime.q)) {}
  RINGSMITH_INLINE Vec of(Vec a, Vec b) const { return V::reduce_once(V::add(a, b), q); }

  Vec q;
};

template <typename V>
struct Minus {
  using Vector = V;
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit Minus(const PrimeConstants& prime) : q(V::set(prime.q)) {}
  RINGSMITH_INLINE Vec of(Vec a, Vec b) const {
    return V::reduce_once(V::add(V::sub(a, b), q), q);  // of what is in (0, 2q)
  }

  Vec q;
};

template <typename A>
struct Times {
  using Vector = A;
  using Vec = typename A::Vec;

  RINGSMITH_INLINE explicit Times(const PrimeConstants& prime)
      : arithmetic(prime), product(prime) {}
  RINGSMITH_INLINE Vec of(Vec a, Vec b) const { return product.canonical(arithmetic, a, b); }

  A arithmetic;
  typename A::Product product;
};

/// PrimeKernels::add, subtract and multiply.
template <typename Result>
bool pointwise(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
               std::size_t count) {
  using V = typename Result::Vector;
  const Result result(prime);
  CanonicalCheck<V> check(V::set(prime.q));
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, result.of(check.load(a + i), check.load(b + i)));
  }
  return check.passed();
}

/// The same past the caches, alternating between as many positions of a limb as suit the processor,
/// and fetched farther ahead than it does by itself.
template <typename Result>
bool streamed(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
              std::size_t count) {
  using V = typename Result::Vector;
  constexpr std::size_t kLine = 64 / sizeof(u64);
  constexpr std::size_t kAhead = 16 * kLine;
  const std::size_t part = count / V::kPositions;
  const Result result(prime);
  CanonicalCheck<V> check(V::set(prime.q));
  for (std::size_t i = 0; i < part; i += kLine) {
    const std::size_t fetched = smaller(i + kAhead, part - 1);
    for (std::size_t begin = 0; begin < count; begin += part) {
      __builtin_prefetch(a + begin + fetched);
      __builtin_prefetch(b + begin + fetched);
      RINGSMITH_UNROLL
      for (std::size_t j = begin + i; j < begin + i + kLine; j += V::kLanes) {
        V::stream(out + j, result.of(check.load(a + j), check.load(b + j)));
      }
    }
  }
  V::finish_streams();  // before other threads may read them
  return check.passed();
}

template <typename V>
bool negate_words(const PrimeConstants& prime, const u64* a, u64* out, std::size_t count) {
  const auto q = V::set(prime.q);
  CanonicalCheck<V> check(q);
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, V::reduce_once(V::sub(q, check.load(a + i)), q));
  }
  return check.passed();
}

/// out = a * factor, as the arithmetic `A` multiplies by such a factor.
template <typename A, typename T>
RINGSMITH_INLINE void scale_by(const PrimeConstants& prime, const u64* a, const T& factor, u64* out,
                               std::size_t count) {
  const A arithmetic(prime);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    const auto product = arithmetic.multiply(A::value(A::load(a + i)), factor);
    A::store(out + i, arithmetic.canonical(product));
  }
}

template <typename V>
void scale_words(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                 std::size_t count) {
  scale_by<Word64<V>>(prime, a, Word64<V>::broadcast(factor), out, count);
}

/// A word below 2^61 as its lower 30 bits and the rest.
template <typename V>
struct WordHalves {
  typename V::Vec low, high;
};

/// A KeyCheck by the upper halves alone, for vectors without a maximum of words: of primes of b >
/// 50 bits, whose words' upper halves are below q's but for one in about 2^(b - 30). Then it says
/// no, though the word may be below q.
template <typename V, bool kHasMaximum>
class UpperCheck {
 public:
  using Vec = typename V::Vec;

  RINGSMITH_INLINE explicit UpperCheck(const PrimeConstants& prime) : bound_(prime.q >> 30) {}
  /// What is above 30 bits of any word are up to 34: two halves again.
  RINGSMITH_INLINE void show(Vec, const WordHalves<V>& key) {
    seen_ = V::maximum_halves(seen_, key.high);
  }
  [[nodiscard]] RINGSMITH_INLINE bool passed() const { return all_below<V>(seen_, bound_); }

 private:
  u64 bound_;
  Vec seen_ = V::set(0);
};
template <typename V>
struct UpperCheck<V, true> : KeyCheck<V> {
  using KeyCheck<V>::KeyCheck;
};

/// Sums of products of words below 2^61, as three sums of products of their halves of 30 bits (and
/// the rest, below 2^31): sum = low + middle * 2^30 + high * 2^60.
template <typename V>
struct WordSum {
  using Vec = typename V::Vec;
  using Arithmetic = Word64<V>;
  static constexpr bool kScales = false;  ///< KeyTerms::scaled: a product costs as much as a term
  static constexpr bool kStepwise = false;
  static constexpr int kAtOnce = 1;               ///< vectors of a limb
  static constexpr int kVectors = V::kLanes / 2;  ///< of a combination that share its factors

  static constexpr KeyCode kKeyCode = V::kHasMaximum ? KeyCode::kResidue : KeyCode::kHalves;
  static constexpr int kKeyShift = 0;
  using Check = UpperCheck<V, V::kHasMaximum>;
  using Precomputed = WordSum;
  using Halves = WordHalves<V>;
  using Shared = Halves;  ///< by several products

  /// Terms that stay below 2^64. Each adds less than 2^60 to the low sum and a start is below
  /// 2^61, and to the middle sum less than 2^62 at 61 bits, 2^61 at 60 and 2^59 at 58.
  static std::size_t terms(int bits) { return bits <= 58 ? 14 : bits <= 60 ? 7 : 3; }
  /// Digits of primes of this many bits may be below 132q. With a canonical word added to one, a
  /// middle sum's products are less than 134 2^54, and seven of them leave headroom for a fold.
  static constexpr int kLazyBits = 54;
  static std::size_t digit_terms(int bits) { return bits <= kLazyBits ? 7 : terms(bits); }
  static std::size_t moved_terms(int bits) { return digit_terms(bits); }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }

  RINGSMITH_INLINE static Halves split(Vec x) {
    return {V::bit_and(x, V::set((u64{1} << 30) - 1)), V::template shift_right<30>(x)};
  }
  /// Products read the lower half of a word alone.
  RINGSMITH_INLINE static Halves precomputed_key(const u64* limb, std::size_t i, int v) {
    const Vec word = V::load(limb + i + v * V::kLanes);
    if constexpr (kKeyCode == KeyCode::kHalves) {
      return {word, V::template shift_right<32>(word)};
    } else {
      return split(word);
    }
  }
  RINGSMITH_INLINE static Halves shared(const Arithmetic&, Vec x) { return split(x); }
  /// A digit; and the sum of one and a canonical word. Up to 58 bits it is not reduced: if digits
  /// are canonical, middle sums are of 14 products below 2^58 and 14 below 2^59, and all sums are
  /// at most 28 q^2.
  RINGSMITH_INLINE static Halves digit(const Arithmetic&, Vec x) { return split(x); }
  RINGSMITH_INLINE static Halves digit(const Arithmetic& arithmetic, const PrimeConstants& prime,
                                       Vec x, Vec addend) {
    const Vec sum = V::add(x, addend);
    return split(prime.bits <= 58 ? sum : V::reduce_once(sum, arithmetic.q));
  }
  RINGSMITH_INLINE static Halves word(Vec x) { return split(x); }
  RINGSMITH_INLINE static Halves factor(Vec x) { return split(x); }

  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) {
    low = value;
    middle = high = V::set(0);
  }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    const Vec word = V::load(limb + i + v * V::kLanes);
    if constexpr (kKeyCode == KeyCode::kHalves) {
      const Vec lower = V::bit_and(word, V::set((u64{1} << 30) - 1));
      start(arithmetic,
            V::add(lower, V::template shift_left<30>(V::template shift_right<32>(word))));
    } else {
      start(arithmetic, word);
    }
  }

  RINGSMITH_INLINE void add(const Halves& a, const Halves& b) {
    low = V::add(low, V::multiply_halves(a.low, b.low));
    middle = V::add(V::add(middle, V::multiply_halves(a.low, b.high)),
                    V::multiply_halves(a.high, b.low));
    high = V::add(high, V::multiply_halves(a.high, b.high));
  }

  /// The sum modulo q, canonical.
  RINGSMITH_INLINE Vec fold(const Arithmetic& arithmetic, const PrimeConstants& prime) const {
    const auto shift30 = Arithmetic::broadcast(prime.shift30);
    const auto shift60 = Arithmetic::broadcast(prime.shift60);
    const Vec upper = V::reduce_once(  // of two in [0, 4q)
        V::add(arithmetic.multiply(middle, shift30), arithmetic.multiply(high, shift60)),
        arithmetic.four_q);
    return arithmetic.canonical(V::add(upper, arithmetic.reduce(low)));
  }

  Vec low, middle, high;
};

/// Words from those at hand to those that are fetched: a processor does not foresee as many limbs.
inline constexpr std::size_t kFactorsAhead = 32;

/// Sum's terms are added in runs that fit its accumulators; `kHalves` outputs share the
/// loads of `a`.
template <typename Sum, int kHalves>
RINGSMITH_INLINE void inner_product_halves(const PrimeConstants& prime, std::size_t terms,
                                           const u64* const* a, const u64* const* const* b,
                                           u64* const* out, std::size_t count) {
  using A = typename Sum::Arithmetic;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  const std::size_t run = Sum::terms(prime.bits);
  for (std::size_t i = 0; i < count; i += A::kLanes) {
    typename A::Vec words[kHalves];
    for (int half = 0; half < kHalves; ++half) {
      words[half] = A::set(0);
    }
    for (std::size_t begin = 0; begin < terms; begin += run) {
      const std::size_t end = terms - begin < run ? terms : begin + run;
      Sum sums[kHalves];
      for (int half = 0; half < kHalves; ++half) {
        sums[half].start(arithmetic, words[half]);
      }
      for (std::size_t term = begin; term < end; ++term) {
        __builtin_prefetch(a[term] + i + kFactorsAhead);
        const auto factor = Sum::shared(arithmetic, A::load(a[term] + i));
        for (int half = 0; half < kHalves; ++half) {
          sums[half].add(factor, Sum::split(A::load(b[half][term] + i)));
        }
      }
      for (int half = 0; half < kHalves; ++half) {
        words[half] = sums[half].fold(arithmetic, prime);
      }
    }
    for (int half = 0; half < kHalves; ++half) {
      A::store(out[half] + i, words[half]);
    }
  }
}

template <typename Sum>
void inner_products(const PrimeConstants& prime, std::size_t terms, const u64* const* a,
                    const u64* const* b_0, const u64* const* b_1, u64* out_0, u64* out_1,
                    std::size_t count) {
  const u64* const* const b[] = {b_0, b_1};
  u64* const out[] = {out_0, out_1};
  if (out_1 == nullptr) {
    inner_product_halves<Sum, 1>(prime, terms, a, b, out, count);
  } else {
    inner_product_halves<Sum, 2>(prime, terms, a, b, out, count);
  }
}

/// Products of two canonical words that both vary, for primes of up to 61 bits.
///
/// With x = a b, t = floor(x / 2^(bits-1)) and barrett = floor(2^(63+bits) / q), the quotient is
/// near floor(t * barrett / 2^64). Both high products may be 2 too small, the floors cost less than
/// 2.25 more, so the remainder is below 6.25q. Barrett 1986.
template <typename V>
struct WordProduct {
  using Vec = typename V::Vec;

  explicit WordProduct(const PrimeConstants& prime)
      : shift(64 - prime.bits),
        barrett(V::set(prime.barrett)),
        barrett_high(V::set(prime.barrett >> 32)) {}

  RINGSMITH_INLINE Vec canonical(const Word64<V>& arithmetic, Vec a, Vec b) const {
    using Operations = WordOperations<V>;
    const Vec a_up = V::shift_left(a, shift);
    const Vec b_up = V::add(b, b);
    const Vec t = Operations::multiply_high(a_up, Operations::high_half(a_up), b_up,
                                            Operations::high_half(b_up));
    const Vec quotient =
        Operations::multiply_high(t, Operations::high_half(t), barrett, barrett_high);
    return arithmetic.canonical(
        V::low_difference(a, Operations::high_half(a), b, Operations::high_half(b), quotient,
                          Operations::high_half(quotient), arithmetic.q, arithmetic.q_high));
  }

  int shift;
  Vec barrett, barrett_high;
};

}  // namespace
}  // namespace ringsmith::simd
