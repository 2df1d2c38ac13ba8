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
constexpr std::size_t kShortRun = 128;
constexpr std::size_t kLongRun = 256;
constexpr std::size_t kManyTerms = 16;

/// Up to kTermsAtOnce terms, from one word on.
template <typename Sum, bool moved>
struct TermRun {
  using A = typename Sum::Arithmetic;
  static constexpr bool kScaled = moved && Sum::kScales;

  const u64* values[kTermsAtOnce];   // permuted ones: of the whole limb
  const u64* addends[kTermsAtOnce];  // or null
  const u64* scaled;                 // read in place of addends, times scales
  typename A::Twiddle scales[kTermsAtOnce];
  const u64* keys[kTermsAtOnce][2];
  const std::uint32_t* blocks;

  /// Terms begin ... begin + count - 1 from word `first` on; what is beyond repeats the first.
  RINGSMITH_INLINE TermRun(const KeyTerms& terms, std::size_t begin, std::size_t count,
                           std::size_t first)
      : blocks(moved ? terms.permutation->blocks + first / kPermutedWords : nullptr) {
    for (std::size_t i = 0; i < kTermsAtOnce; ++i) {
      const std::size_t term = begin + (i < count ? i : 0);
      const bool shifted = moved && !kScaled && terms.addends[term] != nullptr;
      values[i] = terms.values[term] + (moved ? 0 : first);
      addends[i] = shifted ? terms.addends[term] + first : nullptr;
      keys[i][0] = terms.keys[0][term] + first;
      keys[i][1] = terms.keys[1][term] + first;
      if constexpr (kScaled) {
        scaled = terms.scaled + first;
        scales[i] = A::from_shift64(terms.scales[term]);
      }
    }
  }

  /// Fetches words i ... i + kLanes - 1. Vectors that cross lines share all lines but the run's
  /// first, which the run before has fetched: each fetches the one that it ends in.
  RINGSMITH_INLINE void fetch(std::size_t i) const {
    constexpr std::size_t kLanes = A::kLanes;
    for (std::size_t term = 0; term < kTermsAtOnce; ++term) {
      __builtin_prefetch(keys[term][0] + i + kLanes - 1);
      __builtin_prefetch(keys[term][1] + i + kLanes - 1);
      if constexpr (moved) {
        __builtin_prefetch(values[term] + permuted_block(blocks, i));
        if (addends[term] != nullptr) {
          __builtin_prefetch(addends[term] + i);
        }
      } else {
        __builtin_prefetch(values[term] + i + kLanes - 1);
      }
    }
  }

  /// Words i ... of a term's value.
  RINGSMITH_INLINE auto value(std::size_t term, std::size_t i, const KeyTerms& terms,
                              const A& arithmetic) const {
    if constexpr (moved) {
      const auto words = load_permuted<A>(values[term], {blocks, terms.permutation->patterns}, i);
      if constexpr (kScaled) {
        return A::add(words, arithmetic.multiply(A::load(scaled + i), scales[term]));
      } else {
        return plus_addend<A>(words, addends[term], i, arithmetic.q);
      }
    } else {
      return A::load(values[term] + i);
    }
  }
};

/// Where a run's sums come from and go to.
template <typename Sum>
struct RunSums {
  Sum (*tile)[2];  // for each vector of the run, unless it starts or ends here
  u64* out[2];
  bool starts, folds, ends;
};

/// Adds `kTerms` terms to `words` sums, and fetches others.
template <typename Sum, bool moved, std::size_t kTerms>
RINGSMITH_INLINE void add_terms(const PrimeConstants& prime, const KeyTerms& terms,
                                const TermRun<Sum, moved>& run, const TermRun<Sum, moved>& next,
                                const RunSums<Sum>& to, std::size_t words,
                                CanonicalCheck<typename Sum::Arithmetic>& shown) {
  using A = typename Sum::Arithmetic;
  const A arithmetic(prime);
  auto check = shown;  // in a register
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    next.fetch(i);
    Sum sums[2];
    for (int half = 0; half < 2; ++half) {
      if (to.starts) {
        sums[half].start(A::set(0));
      } else {
        sums[half] = to.tile[i / A::kLanes][half];
      }
    }
    RINGSMITH_UNROLL
    for (std::size_t term = 0; term < kTerms; ++term) {
      const auto factor = Sum::split(run.value(term, i, terms, arithmetic));
      for (int half = 0; half < 2; ++half) {
        sums[half].add(factor, Sum::split(check.load(run.keys[term][half] + i)));
      }
    }
    for (int half = 0; half < 2; ++half) {
      if (to.folds) {
        sums[half].start(sums[half].fold(arithmetic, prime));
      }
      if (to.ends) {
        A::store(to.out[half] + i, sums[half].low);
      } else {
        to.tile[i / A::kLanes][half] = sums[half];
      }
    }
  }
  shown = check;
}

/// Terms that the accumulators have room for.
template <typename Sum, bool moved>
std::size_t most_terms(int bits) {
  if constexpr (TermRun<Sum, moved>::kScaled) {
    return Sum::scaled_terms(bits);
  } else {
    return Sum::terms(bits);
  }
}

/// PrimeKernels::key_products with the accumulators of `Sum`.
template <typename Sum, bool moved>
bool key_sums(const PrimeConstants& prime, const KeyTerms& terms, u64* const* out,
              std::size_t count) {
  using A = typename Sum::Arithmetic;
  CanonicalCheck<A> check(A::set(prime.q));
  Sum tile[kLongRun / A::kLanes][2];
  const std::size_t most = most_terms<Sum, moved>(prime.bits);
  const std::size_t words = smaller(terms.count < kManyTerms ? kShortRun : kLongRun, count);
  for (std::size_t first = 0; first < count; first += words) {
    const std::size_t following = first + words;
    std::size_t added = 0;  // terms since the sums were folded
    for (std::size_t begin = 0; begin < terms.count; begin += kTermsAtOnce) {
      const std::size_t here = smaller(kTermsAtOnce, terms.count - begin);
      const bool last = begin + here == terms.count;
      const std::size_t next = last ? 0 : begin + here;
      const std::size_t next_count = smaller(kTermsAtOnce, terms.count - next);
      const std::size_t next_first = last && following < count ? following : first;
      added += here;
      const bool folds = last || added + next_count > most;
      added = folds ? 0 : added;
      const TermRun<Sum, moved> run(terms, begin, here, first);
      const TermRun<Sum, moved> fetched(terms, next, next_count, next_first);
      const RunSums<Sum> to{tile, {out[0] + first, out[1] + first}, begin == 0, folds, last};
      if (here == kTermsAtOnce) {
        add_terms<Sum, moved, kTermsAtOnce>(prime, terms, run, fetched, to, words, check);
      } else {
        add_terms<Sum, moved, 1>(prime, terms, run, fetched, to, words, check);
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
