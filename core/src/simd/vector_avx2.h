// Four 64-bit words in an AVX2 register. Only for files compiled for AVX2 (see transform.h).
#pragma once

#include <immintrin.h>

#include "transform.h"

namespace ringsmith::simd {
namespace {

struct Vector256 {
  using Vec = __m256i;
  using Real = __m256d;  ///< Vec as doubles
  using Word = u64;
  static constexpr int kLanes = 4;
  static constexpr int kStreams = 1;            // as many as the registers hold
  static constexpr int kJoined = 2;             // blocks with a layer above them in registers
  static constexpr bool kSplits = false;        // no products of 52-bit words
  static constexpr bool kHasMaximum = false;    // has none of unsigned words
  static constexpr std::size_t kPositions = 1;  // that streamed() alternates between

  RINGSMITH_INLINE static Vec load(const u64* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  RINGSMITH_INLINE static void store(u64* to, Vec x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x);
  }
  /// Past the caches; to a multiple of 32 bytes.
  RINGSMITH_INLINE static void stream(u64* to, Vec x) {
    _mm256_stream_si256(reinterpret_cast<Vec*>(to), x);
  }
  RINGSMITH_INLINE static void finish_streams() { _mm_sfence(); }
  RINGSMITH_INLINE static Vec set(u64 x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  RINGSMITH_INLINE static Vec broadcast(const u64* from) { return set(*from); }
  /// The upper half of a word as the lower half of every lane; what is above it is of no account.
  RINGSMITH_INLINE static Vec broadcast_high(const u64* from) {
    int half;
    __builtin_memcpy(&half, reinterpret_cast<const char*>(from) + 4, sizeof half);
    return _mm256_set1_epi32(half);
  }
  RINGSMITH_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_epi64(a, b); }
  RINGSMITH_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_epi64(a, b); }
  RINGSMITH_INLINE static Vec bit_and(Vec a, Vec b) { return _mm256_and_si256(a, b); }
  /// a and the complement of b.
  RINGSMITH_INLINE static Vec and_not(Vec a, Vec b) { return _mm256_andnot_si256(b, a); }
  RINGSMITH_INLINE static Vec bit_or(Vec a, Vec b) { return _mm256_or_si256(a, b); }
  RINGSMITH_INLINE static Vec bit_xor(Vec a, Vec b) { return _mm256_xor_si256(a, b); }
  /// (a and b) xor c.
  RINGSMITH_INLINE static Vec and_xor(Vec a, Vec b, Vec c) { return bit_xor(bit_and(a, b), c); }
  /// The lower words of (high * 2^64 + low) / 2^bits.
  template <int bits>
  RINGSMITH_INLINE static Vec funnel(Vec low, Vec high) {
    return bit_xor(_mm256_srli_epi64(low, bits), _mm256_slli_epi64(high, 64 - bits));
  }
  RINGSMITH_INLINE static Vec shift_left(Vec a, int bits) {
    return _mm256_sll_epi64(a, _mm_cvtsi32_si128(bits));
  }
  template <int bits>
  RINGSMITH_INLINE static Vec shift_left(Vec a) {
    return _mm256_slli_epi64(a, bits);
  }
  RINGSMITH_INLINE static Vec shift_right(Vec a, int bits) {
    return _mm256_srl_epi64(a, _mm_cvtsi32_si128(bits));
  }
  template <int bits>
  RINGSMITH_INLINE static Vec shift_right(Vec a) {
    return _mm256_srli_epi64(a, bits);
  }
  RINGSMITH_INLINE static Vec multiply_halves(Vec a, Vec b) { return _mm256_mul_epu32(a, b); }
  /// Of every half of a word, as unsigned ones.
  RINGSMITH_INLINE static Vec maximum_halves(Vec a, Vec b) { return _mm256_max_epu32(a, b); }

  /// The upper halves of words in memory, which products of lower halves read, in one operation.
  RINGSMITH_INLINE static Vec load_upper_halves(const u64* from) {
    return _mm256_shuffle_epi32(load(from), 0xf5);
  }
  /// Every half of x, or that less m's half if that is not negative.
  RINGSMITH_INLINE static Vec reduce_halves(Vec x, Vec m) {
    return _mm256_min_epu32(x, _mm256_sub_epi32(x, m));
  }

  // The same registers as doubles; roundings are to the nearest.
  RINGSMITH_INLINE static Real real(Vec a) { return _mm256_castsi256_pd(a); }
  RINGSMITH_INLINE static Vec bits(Real a) { return _mm256_castpd_si256(a); }
  RINGSMITH_INLINE static Vec set_real(double x) { return bits(_mm256_set1_pd(x)); }
  RINGSMITH_INLINE static Vec real_add(Vec a, Vec b) {
    return bits(_mm256_add_pd(real(a), real(b)));
  }
  RINGSMITH_INLINE static Vec real_sub(Vec a, Vec b) {
    return bits(_mm256_sub_pd(real(a), real(b)));
  }
  RINGSMITH_INLINE static Vec real_multiply(Vec a, Vec b) {
    return bits(_mm256_mul_pd(real(a), real(b)));
  }
  RINGSMITH_INLINE static Vec real_maximum(Vec a, Vec b) {
    return bits(_mm256_max_pd(real(a), real(b)));
  }
  /// a * b + c.
  RINGSMITH_INLINE static Vec fused_add(Vec a, Vec b, Vec c) {
    return bits(_mm256_fmadd_pd(real(a), real(b), real(c)));
  }
  /// a * b - c.
  RINGSMITH_INLINE static Vec fused_sub(Vec a, Vec b, Vec c) {
    return bits(_mm256_fmsub_pd(real(a), real(b), real(c)));
  }
  /// c - a * b.
  RINGSMITH_INLINE static Vec fused_from(Vec a, Vec b, Vec c) {
    return bits(_mm256_fnmadd_pd(real(a), real(b), real(c)));
  }
  /// Adds a * b to `upper`, rounded, and what is cut off to `lower`. Sums that stay in registers
  /// are kept as Real: of others the compiler makes copies.
  RINGSMITH_INLINE static void fused_accumulate(Vec a, Vec b, Real& upper, Real& lower) {
    const Real sum = _mm256_fmadd_pd(real(a), real(b), upper);
    const Real added = _mm256_sub_pd(sum, upper);
    lower = _mm256_add_pd(lower, _mm256_fmsub_pd(real(a), real(b), added));
    upper = sum;
  }
  /// b where the sign of x is set, else a.
  RINGSMITH_INLINE static Vec choose_by_sign(Vec x, Vec a, Vec b) {
    return bits(_mm256_blendv_pd(real(a), real(b), real(x)));
  }
  /// The lower half of every word of a, under the upper half of b's.
  RINGSMITH_INLINE static Vec join_halves(Vec a, Vec b) { return _mm256_blend_epi32(a, b, 0xaa); }

  /// The sign of the difference chooses, since there is no unsigned minimum of 64-bit words.
  RINGSMITH_INLINE static Vec reduce_once(Vec x, Vec m) {
    const __m256d less = _mm256_castsi256_pd(sub(x, m));
    return _mm256_castpd_si256(_mm256_blendv_pd(less, _mm256_castsi256_pd(x), less));
  }

  RINGSMITH_INLINE static Vec low_difference(Vec a, Vec a_high, Vec b, Vec b_high, Vec c,
                                             Vec c_high, Vec d, Vec d_high) {
    const Vec low = sub(multiply_halves(a, b), multiply_halves(c, d));
    const Vec plus = add(multiply_halves(a, b_high), multiply_halves(a_high, b));
    const Vec minus = add(multiply_halves(c, d_high), multiply_halves(c_high, d));
    return add(low, _mm256_slli_epi64(sub(plus, minus), 32));
  }

  /// Four words as the lanes. On Zen 3 their loads take a third of a gather's time.
  RINGSMITH_INLINE static Vec collect(u64 a, u64 b, u64 c, u64 d) {
    return _mm256_set_epi64x(static_cast<long long>(d), static_cast<long long>(c),
                             static_cast<long long>(b), static_cast<long long>(a));
  }

  /// Which of a block's eight words the lanes take: all of the first four or all of the last. The
  /// block's word r comes from position brev3(g brev3(r) + hi), for g odd
  /// (src/ring/ntt_permutation.h); whether that is 4 and more is the parity of g brev3(r) + hi,
  /// that of r / 4 + hi.
  struct Positions {
    Vec halves;  // modulo 8, the position of every half of a word among those of four words
    u64 first;   // 0 or 4
  };
  RINGSMITH_INLINE static Positions positions(const u64* pattern) {
    const Vec positions = _mm256_shuffle_epi32(load(pattern), 0xa0);  // in both halves
    return {add(add(positions, positions), set(u64{1} << 32)), *pattern & kLanes};
  }
  RINGSMITH_INLINE static Vec permute(const u64* block, const Positions& positions) {
    return permute(load(block + positions.first), positions);
  }
  /// The four words that positions.first selects.
  RINGSMITH_INLINE static Vec permute(Vec words, const Positions& positions) {
    return _mm256_permutevar8x32_epi32(words, positions.halves);
  }

  RINGSMITH_INLINE static void transpose_back(Vec* r) { transpose(r); }
  RINGSMITH_INLINE static void transpose(Vec* r) {
    const Vec even01 = _mm256_unpacklo_epi64(r[0], r[1]);  // columns 0 and 2 of rows 0, 1
    const Vec odd01 = _mm256_unpackhi_epi64(r[0], r[1]);
    const Vec even23 = _mm256_unpacklo_epi64(r[2], r[3]);
    const Vec odd23 = _mm256_unpackhi_epi64(r[2], r[3]);
    r[0] = _mm256_inserti128_si256(even01, _mm256_castsi256_si128(even23), 1);
    r[1] = _mm256_inserti128_si256(odd01, _mm256_castsi256_si128(odd23), 1);
    r[2] = _mm256_permute2x128_si256(even01, even23, 0x31);
    r[3] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
  }
};

/// Eight 32-bit words. Those that were u64 are in the order 0, 1, 4, 5, 2, 3, 6, 7, which takes the
/// fewest operations both ways.
struct HalfWords256 {
  using Vec = __m256i;
  using Word = std::uint32_t;
  using Wide = Vector256;
  static constexpr int kLanes = 8;
  static constexpr int kStreams = 1;
  static constexpr int kJoined = 1;

  RINGSMITH_INLINE static Vec load(const Word* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  RINGSMITH_INLINE static void store(Word* to, Vec x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x);
  }
  /// From and to words of u64.
  RINGSMITH_INLINE static Vec load(const u64* from) {
    return pack(Wide::load(from), Wide::load(from + Wide::kLanes));
  }
  RINGSMITH_INLINE static void store(u64* to, Vec x) {
    Wide::store(to, unpack_first(x));
    Wide::store(to + Wide::kLanes, unpack_last(x));
  }
  /// Two vectors of u64 words, in 32 bits each, and back.
  RINGSMITH_INLINE static Vec pack(Vec first, Vec last) {
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(last), 0x88));
  }
  RINGSMITH_INLINE static Vec unpack_first(Vec x) {
    return _mm256_unpacklo_epi32(x, _mm256_setzero_si256());
  }
  RINGSMITH_INLINE static Vec unpack_last(Vec x) {
    return _mm256_unpackhi_epi32(x, _mm256_setzero_si256());
  }
  RINGSMITH_INLINE static Vec set(u64 x) { return _mm256_set1_epi32(static_cast<int>(x)); }
  RINGSMITH_INLINE static Vec broadcast(const Word* from) {
    Word word;
    __builtin_memcpy(&word, from, sizeof word);  // kept in memory of another type
    return set(word);
  }
  RINGSMITH_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_epi32(a, b); }
  RINGSMITH_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_epi32(a, b); }
  RINGSMITH_INLINE static Vec multiply_low(Vec a, Vec b) { return _mm256_mullo_epi32(a, b); }
  /// The products of the even lanes, 64 bits each; the odd lanes in their place.
  RINGSMITH_INLINE static Vec multiply_even(Vec a, Vec b) { return _mm256_mul_epu32(a, b); }
  RINGSMITH_INLINE static Vec odd(Vec a) { return _mm256_srli_epi64(a, 32); }
  /// The upper halves of products of even lanes and of odd lanes.
  RINGSMITH_INLINE static Vec join_high(Vec even, Vec odd_lanes) {
    return _mm256_blend_epi32(odd(even), odd_lanes, 0xaa);
  }
  RINGSMITH_INLINE static Vec reduce_once(Vec x, Vec m) { return _mm256_min_epu32(x, sub(x, m)); }

  /// Rows of such an order to columns, in the order of the rows; and back.
  RINGSMITH_INLINE static void transpose(Vec* r) {
    transpose_lanes(r);
    swap_middle(r);
  }
  RINGSMITH_INLINE static void transpose_back(Vec* r) {
    swap_middle(r);
    transpose_lanes(r);
  }

 private:
  RINGSMITH_INLINE static void swap_middle(Vec* r) {
    for (int i = 2; i < 4; ++i) {
      const Vec row = r[i];
      r[i] = r[i + 2];
      r[i + 2] = row;
    }
  }
  RINGSMITH_INLINE static void transpose_lanes(Vec* r) {
    Vec pairs[kLanes];  // of rows: lanes 0, 1, 4, 5 of both, then lanes 2, 3, 6, 7
    Vec fours[kLanes];  // of rows: lanes 0 and 4; 1 and 5; 2 and 6; 3 and 7
    RINGSMITH_UNROLL
    for (int i = 0; i < kLanes; i += 2) {
      pairs[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
      pairs[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
    RINGSMITH_UNROLL
    for (int i = 0; i < kLanes; i += 4) {
      fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
      fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
      fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
      fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    RINGSMITH_UNROLL
    for (int i = 0; i < 4; ++i) {
      r[i] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x20);
      r[i + 4] = _mm256_permute2x128_si256(fours[i], fours[i + 4], 0x31);
    }
  }
};

}  // namespace
}  // namespace ringsmith::simd
