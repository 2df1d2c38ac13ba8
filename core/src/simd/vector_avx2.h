// Four 64-bit words in an AVX2 register. Only for files compiled for AVX2 (see transform.h).
#pragma once

#include <immintrin.h>

#include "transform.h"

namespace ringsmith::simd {
namespace {

struct Vector256 {
  using Vec = __m256i;
  static constexpr int kLanes = 4;
  static constexpr int kStreams = 1;          // as many as the registers hold
  static constexpr bool kSplits = false;      // no products of 52-bit words
  static constexpr bool kHasMaximum = false;  // has none of unsigned words

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
  RINGSMITH_INLINE static Vec broadcast_high(const u64* from) { return set(*from >> 32); }
  RINGSMITH_INLINE static Vec add(Vec a, Vec b) { return _mm256_add_epi64(a, b); }
  RINGSMITH_INLINE static Vec sub(Vec a, Vec b) { return _mm256_sub_epi64(a, b); }
  RINGSMITH_INLINE static Vec bit_and(Vec a, Vec b) { return _mm256_and_si256(a, b); }
  /// a and the complement of b.
  RINGSMITH_INLINE static Vec and_not(Vec a, Vec b) { return _mm256_andnot_si256(b, a); }
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

  /// The words at those places.
  RINGSMITH_INLINE static Vec gather(const u64* from, Vec places) {
    return _mm256_i64gather_epi64(reinterpret_cast<const long long*>(from), places, sizeof(u64));
  }

  RINGSMITH_INLINE static void transpose(Vec* r) {
    const Vec even01 = _mm256_unpacklo_epi64(r[0], r[1]);  // columns 0 and 2 of rows 0, 1
    const Vec odd01 = _mm256_unpackhi_epi64(r[0], r[1]);
    const Vec even23 = _mm256_unpacklo_epi64(r[2], r[3]);
    const Vec odd23 = _mm256_unpackhi_epi64(r[2], r[3]);
    r[0] = _mm256_permute2x128_si256(even01, even23, 0x20);
    r[1] = _mm256_permute2x128_si256(odd01, odd23, 0x20);
    r[2] = _mm256_permute2x128_si256(even01, even23, 0x31);
    r[3] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
  }
};

}  // namespace
}  // namespace ringsmith::simd
