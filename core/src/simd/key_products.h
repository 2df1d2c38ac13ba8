// Digits times keys. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "key_terms.h"

namespace ringsmith::simd {
namespace {

/// Where a run's sums come from and go to.
template <typename Keys>
struct RunSums {
  using Sum = typename Keys::Of;

  /// Starts the v-th vector's sum from word i on.
  RINGSMITH_INLINE void start(const typename Sum::Arithmetic& arithmetic, std::size_t i, int v,
                              int half, Sum& sum) const {
    if constexpr (!Keys::kRaw) {
      if (from[half] != nullptr) {
        sum.start_from(arithmetic, from[half], i, v);
        return;
      }
    }
    sum.start(arithmetic, Sum::Arithmetic::set(0));
  }

  /// Fetches where what follows words i ... i + count - 1 will go, if there are targets: a
  /// processor does not foresee them.
  template <std::size_t count>
  RINGSMITH_INLINE void fetch(std::size_t i) const {
    if constexpr (!Keys::kRaw) {
      if (targets.blocks == nullptr) {
        return;
      }
      RINGSMITH_UNROLL
      for (std::size_t ahead = kSumsAhead; ahead < kSumsAhead + count; ahead += kPermutedWords) {
        const std::uint32_t block = targets.blocks[smaller(i + ahead, last) / kPermutedWords];
        __builtin_prefetch(out[0] + permuted_block(block), 1);
        __builtin_prefetch(out[1] + permuted_block(block), 1);
      }
    }
  }
  /// Words i ... of both halves, this many vectors of one block.
  template <int kVectors>
  RINGSMITH_INLINE void store(std::size_t i, const typename Sum::Vec (*folded)[2]) const {
    using A = typename Sum::Arithmetic;
    static_assert(kVectors * A::kLanes <= kPermutedWords);
    if constexpr (!Keys::kRaw) {
      if (targets.blocks != nullptr) {
        const TargetBlock<A> block(targets, i);
        RINGSMITH_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          block.store(out, i + v * A::kLanes, folded[v]);
        }
        return;
      }
    }
    RINGSMITH_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      A::store(out[0] + i + v * A::kLanes, folded[v][0]);
      A::store(out[1] + i + v * A::kLanes, folded[v][1]);
    }
  }

  Sum (*tile)[2];       // for each vector of the run, unless it starts or ends here
  const u64* from[2];   // what the sums start from, or null: zero
  u64* out[2];          // of the whole limb, where there are targets
  Permutation targets;  // or null: here
  std::size_t last;     // of the words that there are targets for
  bool starts, folds, ends;
};

/// Vectors' sums that are folded together.
template <typename Sum>
constexpr int kFolded = requires { &Sum::fold_two; } ? 2 : 1;

/// Writes what kFolded vectors' sums of one half are modulo q, canonical.
template <typename Sum>
RINGSMITH_INLINE void fold_sums(const typename Sum::Arithmetic& arithmetic,
                                const PrimeConstants& prime, const Sum (*sums)[2], int half,
                                typename Sum::Vec (*folded)[2]) {
  if constexpr (kFolded<Sum> == 2) {
    Sum::fold_two(arithmetic, sums[0][half], sums[1][half], folded[0][half], folded[1][half]);
  } else {
    folded[0][half] = sums[0][half].fold(arithmetic, prime);
  }
}

/// Folds the sums of kVectors vectors from word i on, and stores what they are.
template <int kVectors, typename Keys, typename Sum = typename Keys::Of>
RINGSMITH_INLINE void fold_and_store(const typename Sum::Arithmetic& arithmetic,
                                     const PrimeConstants& prime, const Sum (*sums)[2],
                                     const RunSums<Keys>& to, std::size_t i) {
  constexpr int kBlock = static_cast<int>(kPermutedWords) / Sum::Arithmetic::kLanes;
  constexpr int kStored = kVectors < kBlock ? kVectors : kBlock;
  RINGSMITH_UNROLL
  for (int v = 0; v < kVectors; v += kStored) {
    typename Sum::Vec folded[kStored][2];
    RINGSMITH_UNROLL
    for (int f = 0; f < kStored; f += kFolded<Sum>) {
      fold_sums(arithmetic, prime, sums + v + f, 0, folded + f);
      fold_sums(arithmetic, prime, sums + v + f, 1, folded + f);
    }
    to.template store<kStored>(i + v * Sum::Arithmetic::kLanes, folded);
  }
}

/// Vectors whose sums wait in memory to be folded one after the other, or 0: a fold is a long chain
/// of operations, and a processor that looks ahead of it only to the next vector's products waits.
template <typename Sum>
constexpr int kWaiting = [] {
  if constexpr (requires { Sum::kFoldedInTurn; }) {
    return Sum::kFoldedInTurn;
  } else {
    return 0;
  }
}();

/// Makes headroom for more terms in a sum.
template <typename Sum>
RINGSMITH_INLINE void make_headroom(const typename Sum::Arithmetic& arithmetic,
                                    const PrimeConstants& prime, Sum& sum) {
  if constexpr (requires { &Sum::make_headroom; }) {
    sum.make_headroom(arithmetic);
  } else {
    sum.start(arithmetic, sum.fold(arithmetic, prime));
  }
}

/// Adds terms to `words` sums.
template <typename Keys, bool moved, typename Sum = typename Keys::Of>
RINGSMITH_INLINE void add_terms(const PrimeConstants& prime, const TermRun<Keys, moved>& run,
                                const RunSums<Keys>& to, std::size_t words, Keys& shown) {
  using A = typename Sum::Arithmetic;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  auto keys = shown;  // in registers
  constexpr int kVectors = Sum::kAtOnce;
  [[maybe_unused]] Sum waiting[kWaiting<Sum> == 0 ? 1 : kWaiting<Sum>][2];
  for (std::size_t i = 0; i < words; i += kVectors * A::kLanes) {
    if (to.ends) {
      to.template fetch<kVectors * A::kLanes>(i);
    }
    Sum sums[kVectors][2];
    Sum(*const tile)[2] = to.tile + i / A::kLanes;
    RINGSMITH_UNROLL
    for (int s = 0; s < 2 * kVectors; ++s) {
      if (to.starts) {
        to.start(arithmetic, i, s / 2, s % 2, sums[s / 2][s % 2]);
      } else {
        sums[s / 2][s % 2] = tile[s / 2][s % 2];
      }
    }
    run.template factors<kVectors>(i, arithmetic, [&](std::size_t term, const auto* factors) {
      run.template add_products<kVectors>(term, i, factors, keys, sums);
    });
    if (to.ends) {
      if constexpr (kWaiting<Sum> == 0) {
        fold_and_store<kVectors>(arithmetic, prime, sums, to, i);
      } else {
        const std::size_t at = i / A::kLanes % kWaiting<Sum>;
        RINGSMITH_UNROLL
        for (int s = 0; s < 2 * kVectors; ++s) {
          waiting[at + s / 2][s % 2] = sums[s / 2][s % 2];
        }
        if (at + kVectors == kWaiting<Sum>) {
          fold_and_store<kWaiting<Sum>>(arithmetic, prime, waiting, to, i - at * A::kLanes);
        }
      }
      continue;
    }
    RINGSMITH_UNROLL
    for (int s = 0; s < 2 * kVectors; ++s) {
      if (to.folds) {
        make_headroom(arithmetic, prime, sums[s / 2][s % 2]);
      }
      tile[s / 2][s % 2] = sums[s / 2][s % 2];
    }
  }
  shown = keys;
}

/// The same in steps, a loop over the words each: where what becomes of one word is a longer chain
/// of operations than a processor looks ahead, its multipliers would wait.
template <typename Keys, bool moved, typename Sum = typename Keys::Of>
RINGSMITH_INLINE void add_terms_stepwise(const PrimeConstants& prime,
                                         const TermRun<Keys, moved>& run, const RunSums<Keys>& to,
                                         std::size_t words, Keys& shown) {
  using A = typename Sum::Arithmetic;
  using Vec = typename A::Vec;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  Vec factors[kRun<Sum> / A::kLanes][kTermsAtOnce<Keys>];
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Vec* const at = factors[i / A::kLanes];
    run.template factors<1>(i, arithmetic,
                            [at](std::size_t term, const Vec* factor) { at[term] = *factor; });
  }
  if (to.starts) {
    for (std::size_t i = 0; i < words; i += A::kLanes) {
      for (int half = 0; half < 2; ++half) {
        to.start(arithmetic, i, 0, half, to.tile[i / A::kLanes][half]);
      }
    }
  }
  auto keys = shown;  // in registers
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Sum sums[1][2] = {{to.tile[i / A::kLanes][0], to.tile[i / A::kLanes][1]}};
    for (std::size_t term = 0; term < run.count(); ++term) {
      run.template add_products<1>(term, i, &factors[i / A::kLanes][term], keys, sums);
    }
    for (int half = 0; half < 2; ++half) {
      to.tile[i / A::kLanes][half] = sums[0][half];
    }
  }
  shown = keys;
  if (!to.folds) {
    return;
  }
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Sum* const sums = to.tile[i / A::kLanes];
    const Vec folded[][2] = {{sums[0].fold(arithmetic, prime), sums[1].fold(arithmetic, prime)}};
    if (to.ends) {
      to.template store<1>(i, folded);
      continue;
    }
    for (int half = 0; half < 2; ++half) {
      sums[half].start(arithmetic, folded[0][half]);
    }
  }
}

std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// Whether all keys are, if the sums' check did not say so: it may be wrong.
template <typename A>
bool are_canonical(const PrimeConstants& prime, const KeyTerms& terms, std::size_t count) {
  bool all = true;
  for (const u64* const* half : terms.keys) {
    for (std::size_t term = 0; term < terms.count; ++term) {
      all = all && is_canonical<A>(prime, half[term], count);
    }
  }
  return all;
}

/// PrimeKernels::key_products with the accumulators of `Sum`.
template <typename Keys, bool moved>
bool key_sums(const PrimeConstants& prime, const KeyTerms& terms, u64* const* out,
              std::size_t count) {
  using Sum = typename Keys::Of;
  using A = typename Sum::Arithmetic;
  Keys keys(prime);
  Sum tile[kRun<Sum> / A::kLanes][2];
  const std::size_t most = [&prime] {
    if constexpr (moved) {
      return Sum::moved_terms(prime.bits);
    } else {
      return Sum::digit_terms(prime.bits);
    }
  }();
  const std::size_t parts = quotient_up(terms.count, smaller(kTermsAtOnce<Keys>, most));
  const std::size_t part = quotient_up(terms.count, parts);
  const std::size_t words = smaller(kRun<Sum>, count);
  for (std::size_t first = 0; first < count; first += words) {
    std::size_t added = 0;  // terms since the sums were folded
    for (std::size_t begin = 0; begin < terms.count; begin += part) {
      const std::size_t here = smaller(part, terms.count - begin);
      const bool last = begin + here == terms.count;
      added += here;
      const std::size_t next = smaller(part, terms.count - begin - here);
      const bool folds = last || added + next > most;
      added = folds ? 0 : added;
      const TermRun<Keys, moved> run(prime, terms, begin, here, first, count - first);
      RunSums<Keys> to{
          tile,  {},  {out[0] + first, out[1] + first}, {}, count - first - 1, begin == 0,
          folds, last};
      if constexpr (!Keys::kRaw) {
        for (int half = 0; half < 2; ++half) {
          const u64* const start = terms.starts[half];
          to.from[half] = start == nullptr ? nullptr : start + first / Keys::kPerWord;
          to.out[half] = out[half] + (terms.targets == nullptr ? first : 0);
        }
        if (terms.targets != nullptr) {
          to.targets = {terms.targets->blocks + first / kPermutedWords, terms.targets->patterns};
        }
      }
      if constexpr (Sum::kStepwise) {
        add_terms_stepwise<Keys, moved>(prime, run, to, words, keys);
      } else {
        add_terms<Keys, moved>(prime, run, to, words, keys);
      }
    }
  }
  if constexpr (Keys::kRaw) {
    return keys.check.passed() || are_canonical<A>(prime, terms, count);
  } else {
    return true;
  }
}

template <typename Sum>
bool key_products(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                  std::size_t count) {
  u64* const out[] = {out_0, out_1};
  using Raw = RawKeys<Sum>;
  using Precomputed = PrecomputedKeys<Sum>;
  if (terms.precomputed) {
    return key_sums<Precomputed, false>(prime, terms, out, count);
  }
  return terms.permutation == nullptr ? key_sums<Raw, false>(prime, terms, out, count)
                                      : key_sums<Raw, true>(prime, terms, out, count);
}

}  // namespace
}  // namespace ringsmith::simd
