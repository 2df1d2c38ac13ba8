// Eight 64-bit words in an AVX-512 register. Only for files compiled for AVX-512 (see transform.h).
#pragma once

#include <immintrin.h>

#include "transform.h"

namespace ringsmith::simd {
namespace {

struct Vector512 {
  using Vec = __m512i;
  using Real = __m512d;  ///< Vec as doubles
  using Word = u64;
  static constexpr int kLanes = 8;
  static constexpr int kStreams = 2;            // as many as the registers hold
  static constexpr int kJoined = 1;             // blocks with no layer above them in registers
  static constexpr bool kSplits = false;        // no products of 52-bit words
  static constexpr bool kHasMaximum = true;     // of unsigned words
  static constexpr std::size_t kPositions = 4;  // that streamed() alternates between

  RINGSMITH_INLINE static Vec load(const u64* from) { return _mm512_loadu_si512(from); }
  /// Eight words of 32 bits from the i-th such word on.
  RINGSMITH_INLINE static Vec load_halves(const u64* from, std::size_t i) {
    const char* const at = reinterpret_cast<const char*>(from) + 4 * i;
    return _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  }
  RINGSMITH_INLINE static void store(u64* to, Vec x) { _mm512_storeu_si512(to, x); }
  /// Past the caches; to a multiple of 64 bytes.
  RINGSMITH_INLINE static void stream(u64* to, Vec x) {
    _mm512_stream_si512(reinterpret_cast<Vec*>(to), x);
  }
  RINGSMITH_INLINE static void finish_streams() { _mm_sfence(); }
  RINGSMITH_INLINE static Vec set(u64 x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  RINGSMITH_INLINE static Vec broadcast(const u64* from) { return set(*from); }
  /// The upper half of a word as the lower half of every lane; what is above it is of no account.
  RINGSMITH_INLINE static Vec broadcast_high(const u64* from) {
    int half;
    __builtin_memcpy(&half, reinterpret_cast<const char*>(from) + 4, sizeof half);
    return _mm512_set1_epi32(half);
  }
  RINGSMITH_INLINE static Vec add(Vec a, Vec b) { return _mm512_add_epi64(a, b); }
  RINGSMITH_INLINE static Vec sub(Vec a, Vec b) { return _mm512_sub_epi64(a, b); }
  RINGSMITH_INLINE static Vec bit_and(Vec a, Vec b) { return _mm512_and_si512(a, b); }
  /// a and the complement of b.
  RINGSMITH_INLINE static Vec and_not(Vec a, Vec b) { return _mm512_andnot_si512(b, a); }
  RINGSMITH_INLINE static Vec bit_xor(Vec a, Vec b) { return _mm512_xor_si512(a, b); }
  /// (a and b) xor c.
  RINGSMITH_INLINE static Vec and_xor(Vec a, Vec b, Vec c) {
    return _mm512_ternarylogic_epi64(a, b, c, 0x6a);
  }
  /// The lower words of (high * 2^64 + low) / 2^bits.
  template <int bits>
  RINGSMITH_INLINE static Vec funnel(Vec low, Vec high) {
    return _mm512_or_si512(_mm512_srli_epi64(low, bits), _mm512_slli_epi64(high, 64 - bits));
  }
  RINGSMITH_INLINE static Vec shift_left(Vec a, int bits) {
    return _mm512_sll_epi64(a, _mm_cvtsi32_si128(bits));
  }
  template <int bits>
  RINGSMITH_INLINE static Vec shift_left(Vec a) {
    return _mm512_slli_epi64(a, bits);
  }
  RINGSMITH_INLINE static Vec shift_right(Vec a, int bits) {
    return _mm512_srl_epi64(a, _mm_cvtsi32_si128(bits));
  }
  template <int bits>
  RINGSMITH_INLINE static Vec shift_right(Vec a) {
    return _mm512_srli_epi64(a, bits);
  }
  /// Product of the low halves.
  RINGSMITH_INLINE static Vec multiply_halves(Vec a, Vec b) { return _mm512_mul_epu32(a, b); }

  // The same registers as doubles; roundings are to the nearest.
  RINGSMITH_INLINE static Real real(Vec a) { return _mm512_castsi512_pd(a); }
  RINGSMITH_INLINE static Vec bits(Real a) { return _mm512_castpd_si512(a); }
  RINGSMITH_INLINE static Vec set_real(double x) { return bits(_mm512_set1_pd(x)); }
  RINGSMITH_INLINE static Vec real_add(Vec a, Vec b) {
    return bits(_mm512_add_pd(real(a), real(b)));
  }
  RINGSMITH_INLINE static Vec real_sub(Vec a, Vec b) {
    return bits(_mm512_sub_pd(real(a), real(b)));
  }
  RINGSMITH_INLINE static Vec real_multiply(Vec a, Vec b) {
    return bits(_mm512_mul_pd(real(a), real(b)));
  }
  /// a * b + c.
  RINGSMITH_INLINE static Vec fused_add(Vec a, Vec b, Vec c) {
    return bits(_mm512_fmadd_pd(real(a), real(b), real(c)));
  }
  /// a * b - c.
  RINGSMITH_INLINE static Vec fused_sub(Vec a, Vec b, Vec c) {
    return bits(_mm512_fmsub_pd(real(a), real(b), real(c)));
  }
  /// c - a * b.
  RINGSMITH_INLINE static Vec fused_from(Vec a, Vec b, Vec c) {
    return bits(_mm512_fnmadd_pd(real(a), real(b), real(c)));
  }
  /// Adds a * b to `upper`, rounded, and what is cut off to `lower`. Sums that stay in registers
  /// are kept as Real: of others the compiler makes copies.
  RINGSMITH_INLINE static void fused_accumulate(Vec a, Vec b, Real& upper, Real& lower) {
    const Real sum = _mm512_fmadd_pd(real(a), real(b), upper);
    const Real added = _mm512_sub_pd(sum, upper);
    lower = _mm512_add_pd(lower, _mm512_fmsub_pd(real(a), real(b), added));
    upper = sum;
  }
  /// b where the sign of x is set, else a.
  RINGSMITH_INLINE static Vec choose_by_sign(Vec x, Vec a, Vec b) {
    return bits(_mm512_mask_blend_pd(_mm512_movepi64_mask(x), real(a), real(b)));
  }
  /// The lower half of every word of a, under the upper half of b's.
  RINGSMITH_INLINE static Vec join_halves(Vec a, Vec b) {
    return _mm512_mask_blend_epi32(0xaaaa, a, b);
  }

  RINGSMITH_INLINE static Vec maximum(Vec a, Vec b) { return _mm512_max_epu64(a, b); }
  /// x - m if x >= m, else x; for m <= 2^63 and x < m + 2^63.
  RINGSMITH_INLINE static Vec reduce_once(Vec x, Vec m) {
    return _mm512_min_epu64(x, _mm512_sub_epi64(x, m));
  }
  /// a * b - c * d modulo 2^64; the second of each pair is the first shifted right by 32.
  RINGSMITH_INLINE static Vec low_difference(Vec a, Vec, Vec b, Vec, Vec c, Vec, Vec d, Vec) {
    return _mm512_sub_epi64(_mm512_mullo_epi64(a, b), _mm512_mullo_epi64(c, d));
  }

  /// The words at those positions.
  RINGSMITH_INLINE static Vec gather(const u64* from, Vec positions) {
    return _mm512_i64gather_epi64(positions, from, sizeof(u64));
  }
  /// Which of a block's eight words the lanes take.
  struct Positions {
    Vec positions;
  };
  RINGSMITH_INLINE static Positions positions(const u64* pattern) { return {load(pattern)}; }
  RINGSMITH_INLINE static Vec permute(const u64* block, const Positions& positions) {
    return permute(load(block), positions);
  }
  RINGSMITH_INLINE static Vec permute(Vec words, const Positions& positions) {
    return _mm512_permutexvar_epi64(positions.positions, words);
  }

  RINGSMITH_INLINE static void transpose_back(Vec* r) { transpose(r); }
  RINGSMITH_INLINE static void transpose(Vec* r) {
    Vec t[8];
    RINGSMITH_UNROLL
    for (int i = 0; i < 8; i += 2) {
      t[i] = _mm512_unpacklo_epi64(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_epi64(r[i], r[i + 1]);
    }
    // Pairs of words as 128-bit lanes: t[2i + odd] lane k holds columns 2k + odd of rows 2i, 2i
    // + 1.
    Vec s[8];
    RINGSMITH_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      s[odd] = _mm512_shuffle_i64x2(t[odd], t[2 + odd], 0x88);          // columns 0, 4 of rows 0-3
      s[2 + odd] = _mm512_shuffle_i64x2(t[odd], t[2 + odd], 0xdd);      // columns 2, 6 of rows 0-3
      s[4 + odd] = _mm512_shuffle_i64x2(t[4 + odd], t[6 + odd], 0x88);  // columns 0, 4 of rows 4-7
      s[6 + odd] = _mm512_shuffle_i64x2(t[4 + odd], t[6 + odd], 0xdd);  // columns 2, 6 of rows 4-7
    }
    RINGSMITH_UNROLL
    for (int odd = 0; odd < 2; ++odd) {
      r[odd] = _mm512_shuffle_i64x2(s[odd], s[4 + odd], 0x88);
      r[2 + odd] = _mm512_shuffle_i64x2(s[2 + odd], s[6 + odd], 0x88);
      r[4 + odd] = _mm512_shuffle_i64x2(s[odd], s[4 + odd], 0xdd);
      r[6 + odd] = _mm512_shuffle_i64x2(s[2 + odd], s[6 + odd], 0xdd);
    }
  }
};

}  // namespace
}  // namespace ringsmith::simd
