// Digits times keys. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

// Limbs are powers of two apart, so the words at one place of all digits and keys are in one set of
// the caches, which has room for fewer. So few terms are added at a time, to the sums of a run of
// words, which the first cache holds; meanwhile the next few are fetched. A short run leaves that
// cache to what is fetched; many terms come from memory, where the processor reads ahead in long
// runs.
constexpr std::size_t kTermsAtOnce = 2;
constexpr std::size_t kShortRun = 64;
constexpr std::size_t kLongRun = 256;
constexpr std::size_t kManyTerms = 16;

RINGSMITH_INLINE std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// Fetches word i of the terms begin ... end - 1, permuted as they will be.
template <bool moved>
RINGSMITH_INLINE void fetch_terms(const KeyTerms& terms, std::size_t begin, std::size_t end,
                                  std::size_t i) {
  for (std::size_t term = begin; term < end; ++term) {
    __builtin_prefetch(terms.keys[0][term] + i);
    __builtin_prefetch(terms.keys[1][term] + i);
    if constexpr (moved) {
      __builtin_prefetch(terms.values[term] + permuted_block(*terms.permutation, i));
      if (terms.addends[term] != nullptr) {
        __builtin_prefetch(terms.addends[term] + i);
      }
    } else {
      __builtin_prefetch(terms.values[term] + i);
    }
  }
}

/// PrimeKernels::key_products with the accumulators of `Sum`.
template <typename Sum, bool moved>
bool key_sums(const PrimeConstants& prime, const KeyTerms& terms, u64* const* out,
              std::size_t count) {
  using A = typename Sum::Arithmetic;
  const A arithmetic(prime);
  const auto q = A::set(prime.q);
  CanonicalCheck<A> check(q);
  Sum tile[kLongRun / A::kLanes][2];
  const std::size_t run = terms.count < kManyTerms ? kShortRun : smaller(kLongRun, count);
  for (std::size_t first = 0; first < count; first += run) {
    const std::size_t following = first + run;
    std::size_t added = 0;  // terms since the sums were folded
    for (std::size_t begin = 0; begin < terms.count; begin += kTermsAtOnce) {
      const std::size_t end = smaller(begin + kTermsAtOnce, terms.count);
      const bool last = end == terms.count;
      const std::size_t next = last ? 0 : end;
      const std::size_t next_end = smaller(next + kTermsAtOnce, terms.count);
      const std::size_t next_first = last && following < count ? following : first;
      added += end - begin;
      const bool folds = last || added + kTermsAtOnce > Sum::terms(prime.bits);
      added = folds ? 0 : added;
      for (std::size_t i = 0; i < run; i += A::kLanes) {
        fetch_terms<moved>(terms, next, next_end, next_first + i);
        Sum sums[2];
        for (int half = 0; half < 2; ++half) {
          sums[half] = tile[i / A::kLanes][half];
          if (begin == 0) {
            sums[half].start(A::set(0));
          }
        }
        for (std::size_t term = begin; term < end; ++term) {
          const u64* const values = terms.values[term];
          auto value = A::load(values + first + i);
          if constexpr (moved) {
            value = load_permuted<A>(values, *terms.permutation, first + i);
            if (terms.addends[term] != nullptr) {
              const auto addend = A::load(terms.addends[term] + first + i);
              value = A::reduce_once(A::add(value, addend), q);
            }
          }
          const auto factor = Sum::split(value);
          for (int half = 0; half < 2; ++half) {
            const auto key = check.load(terms.keys[half][term] + first + i);
            sums[half].add(factor, Sum::split(key));
          }
        }
        for (int half = 0; half < 2; ++half) {
          if (folds) {
            sums[half].start(sums[half].fold(arithmetic, prime));
          }
          if (last) {
            A::store(out[half] + first + i, sums[half].low);
          } else {
            tile[i / A::kLanes][half] = sums[half];
          }
        }
      }
    }
  }
  return check.passed();
}

template <typename Sum>
bool key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                  std::size_t count) {
  u64* const out[] = {out_0, out_1};
  return terms.permutation == nullptr ? key_sums<Sum, false>(prime, terms, out, count)
                                      : key_sums<Sum, true>(prime, terms, out, count);
}

}  // namespace
}  // namespace ringsmith::simd
