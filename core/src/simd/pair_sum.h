// Sums of products with precomputed keys modulo primes of up to 30 bits, two vectors at a time.
//
// Only for the kernel sets' own source files (see transform.h). `V` is a vector of four 64-bit
// words.
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// A sum of products of digits and of keys' residues times 2^32, in one word of 64 bits.
template <typename V>
struct PairSum {
  static_assert(V::kLanes == 4);
  using Vec = typename V::Vec;
  using Shared = Vec;
  static constexpr KeyCode kKeyCode = KeyCode::kPairs32;
  static constexpr int kKeyShift = 32;
  static constexpr bool kScales = false;
  static constexpr bool kStepwise = false;
  static constexpr int kAtOnce = 4;  ///< vectors of a limb

  struct Arithmetic : V {
    using Twiddle = Vec;  // of no use

    explicit Arithmetic(const PrimeConstants& prime)
        : q(V::set(prime.q)),
          inverse_of_minus_q(V::set(0 - prime.inverse)),
          q_halves(V::set(prime.q + (prime.q << 32))),
          twice_q_halves(V::add(q_halves, q_halves)),
          lower_half(V::set(0xffffffff)) {}

    Vec q, inverse_of_minus_q, q_halves, twice_q_halves, lower_half;
  };

  /// A sum's upper half is below q when its first of 8 terms is added, which are at most (q - 1)^2
  /// < 2^30 q each: it is below 3 * 2^32 q.
  static std::size_t digit_terms(int) { return 8; }
  static Arithmetic arithmetic(const PrimeConstants& prime, int) { return Arithmetic(prime); }

  RINGSMITH_INLINE static Vec digit(const Arithmetic&, Vec x) { return x; }
  /// Residues in the lower halves; products do not read the upper ones.
  RINGSMITH_INLINE static Vec precomputed_key(const u64* limb, std::size_t i, int v) {
    const u64* const pairs = limb + i / 2 + v / 2 * V::kLanes;
    return v % 2 == 0 ? V::load(pairs) : V::load_upper_halves(pairs);
  }

  RINGSMITH_INLINE void start(const Arithmetic&, Vec value) { sum = value; }
  /// From residues of a precomputed limb.
  RINGSMITH_INLINE void start_from(const Arithmetic& arithmetic, const u64* limb, std::size_t i,
                                   int v) {
    sum = V::bit_and(precomputed_key(limb, i, v), arithmetic.lower_half);
  }
  RINGSMITH_INLINE void add(Vec a, Vec b) { sum = V::add(sum, V::multiply_halves(a, b)); }

  /// Brings the upper half from [0, 3q) to [0, q).
  RINGSMITH_INLINE void make_headroom(const Arithmetic& arithmetic) {
    const Vec q_above = V::template shift_left<32>(arithmetic.q);
    sum = V::reduce_halves(V::reduce_halves(sum, V::add(q_above, q_above)), q_above);
  }

  /// Two neighbouring vectors' sums over 2^32 modulo q, canonical: with a multiple of q that makes
  /// it a multiple of 2^32 a sum is below 4 * 2^32 q < 2^64.
  RINGSMITH_INLINE static void fold_two(const Arithmetic& arithmetic, const PairSum& first,
                                        const PairSum& last, Vec& out_first, Vec& out_last) {
    const Vec both = V::join_halves(V::template shift_right<32>(first.divisible(arithmetic)),
                                    last.divisible(arithmetic));
    const Vec words =
        V::reduce_halves(V::reduce_halves(both, arithmetic.twice_q_halves), arithmetic.q_halves);
    out_first = V::bit_and(words, arithmetic.lower_half);
    out_last = V::template shift_right<32>(words);
  }

  Vec sum;

 private:
  /// The sum plus m q, for m = -sum / q modulo 2^32.
  [[nodiscard]] RINGSMITH_INLINE Vec divisible(const Arithmetic& arithmetic) const {
    const Vec m = V::multiply_halves(sum, arithmetic.inverse_of_minus_q);
    return V::add(sum, V::multiply_halves(m, arithmetic.q));
  }
};

}  // namespace
}  // namespace ringsmith::simd
