// Digits times keys. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

// Limbs are powers of two apart, so the words at one place of all keys are in one set of the
// caches, which has room for fewer. So a few terms are added at a time, to the sums of a run of
// words. All that they read is fetched ahead: one core reads memory fastest where it reads in
// several places in turn and has many lines under way. Limbs of prepared keys are in several sets,
// and more terms at a time save time with AVX2; with AVX-512 that has not been measured.
template <typename Keys>
constexpr std::size_t kTermsAtOnce = Keys::kRaw || Keys::A::kLanes == 8 ? 4 : 8;
template <typename Sum>
constexpr std::size_t kRun = Sum::kStepwise ? 256 : 512;
constexpr std::size_t kKeysAhead = 32;                    // words of keys, from memory
constexpr std::size_t kDigitsAhead = 2 * kPermutedWords;  // words of digits, from a near cache
constexpr std::size_t kSumsAhead = 8 * kPermutedWords;    // words of sums, to a far cache

/// How keys are read: as they are, and then checked,
template <typename Sum>
struct RawKeys {
  using A = typename Sum::Arithmetic;
  using Of = Sum;
  static constexpr bool kRaw = true;
  static constexpr std::size_t kPerWord = 1;

  RINGSMITH_INLINE explicit RawKeys(const PrimeConstants& prime) : check(prime) {}
  /// The v-th vector from word i on.
  RINGSMITH_INLINE auto load(const u64* limb, std::size_t i, int v) {
    const auto word = A::load(limb + i + v * A::kLanes);
    const auto key = Sum::split(word);
    check.show(word, key);
    return key;
  }

  typename Sum::Check check;
};

/// or prepared for the sum.
template <typename Sum>
struct PreparedKeys {
  using Of = typename Sum::Prepared;
  using A = typename Of::Arithmetic;
  static constexpr bool kRaw = false;
  static constexpr std::size_t kPerWord =
      Of::kKeyCode == KeyCode::kResidue32 || Of::kKeyCode == KeyCode::kPairs32 ? 2 : 1;

  RINGSMITH_INLINE explicit PreparedKeys(const PrimeConstants&) {}
  RINGSMITH_INLINE auto load(const u64* limb, std::size_t i, int v) {
    return Of::prepared_key(limb, i, v);
  }
};

/// Up to kTermsAtOnce terms, from one word on.
template <typename Keys, bool moved>
class TermRun {
 public:
  using Sum = typename Keys::Of;
  using A = typename Sum::Arithmetic;
  static constexpr bool kScaled = moved && Sum::kScales;

  /// Terms begin ... begin + count - 1 from word `first` on, which `left` words are left from.
  RINGSMITH_INLINE TermRun(const PrimeConstants& prime, const KeyTerms& terms, std::size_t begin,
                           std::size_t count, std::size_t first, std::size_t left)
      : prime_(prime), count_(count), last_(left - A::kLanes) {
    if constexpr (moved) {
      permutation_ = {terms.permutation->blocks + first / kPermutedWords,
                      terms.permutation->patterns};
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t term = begin + i;
      const bool shifted = moved && !kScaled && terms.addends[term] != nullptr;
      values_[i] = terms.values[term] + (moved ? 0 : first);
      addends_[i] = shifted ? terms.addends[term] + first : nullptr;
      keys_[i][0] = terms.keys[0][term] + first / Keys::kPerWord;
      keys_[i][1] = terms.keys[1][term] + first / Keys::kPerWord;
      if constexpr (kScaled) {
        scaled_ = terms.scaled + first;
        scales_[i] = A::from_shift64(terms.scales[term], prime.q);
      }
    }
  }

  /// Calls use(term, factors) with what words i ... of all terms are for the products with both
  /// keys, kVectors vectors of them.
  template <int kVectors, typename Use>
  RINGSMITH_INLINE void factors(std::size_t i, const A& arithmetic, Use use) const {
    typename Sum::Shared factors[kVectors];
    if constexpr (moved) {
      const PermutedWords<A> words[] = {{permutation_, i},
                                        {permutation_, i + (kVectors - 1) * A::kLanes}};
      [[maybe_unused]] const auto scaled = A::value(kScaled ? A::load(scaled_ + i) : A::set(0));
      const std::size_t ahead = smaller(i + kDigitsAhead, last_);
      const std::size_t fetched = permuted_block(permutation_.blocks[ahead / kPermutedWords]);
      for (std::size_t term = 0; term < count_; ++term) {
        __builtin_prefetch(values_[term] + fetched);
        if constexpr (kScaled) {
          static_assert(kVectors == 1);
          const auto value = words[0].of(values_[term]);
          factors[0] = Sum::digit(arithmetic, value, scaled, scales_[term]);
        } else if (addends_[term] != nullptr) {
          __builtin_prefetch(addends_[term] + i + kKeysAhead);
          RINGSMITH_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            const auto addend = A::load(addends_[term] + i + v * A::kLanes);
            factors[v] = Sum::digit(arithmetic, prime_, words[v].of(values_[term]), addend);
          }
        } else {
          RINGSMITH_UNROLL
          for (int v = 0; v < kVectors; ++v) {
            factors[v] = Sum::digit(arithmetic, words[v].of(values_[term]));
          }
        }
        use(term, factors);
      }
    } else {
      for (std::size_t term = 0; term < count_; ++term) {
        RINGSMITH_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          factors[v] = Sum::digit(arithmetic, A::load(values_[term] + i + v * A::kLanes));
        }
        use(term, factors);
      }
    }
  }

  /// Adds a term's products with words i ... of the keys to the sums of both halves.
  template <int kVectors>
  RINGSMITH_INLINE void add_products(std::size_t term, std::size_t i,
                                     const typename Sum::Shared* factors, Keys& keys,
                                     Sum (*sums)[2]) const {
    RINGSMITH_UNROLL
    for (int half = 0; half < 2; ++half) {
      const u64* const limb = keys_[term][half];
      const std::size_t last = (i + kVectors * A::kLanes) / Keys::kPerWord - 1;
      __builtin_prefetch(limb + last + kKeysAhead);  // vectors may cross lines
      RINGSMITH_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[v][half].add(factors[v], keys.load(limb, i, v));
      }
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  const PrimeConstants& prime_;
  std::size_t count_;
  std::size_t last_;                        // where the limb's last vector begins
  const u64* values_[kTermsAtOnce<Keys>];   // permuted ones: of the whole limb
  const u64* addends_[kTermsAtOnce<Keys>];  // or null
  const u64* scaled_;                       // read in place of addends, times scales
  typename A::Twiddle scales_[kTermsAtOnce<Keys>];
  const u64* keys_[kTermsAtOnce<Keys>][2];
  Permutation permutation_;
};

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
  /// Words i ... of both halves.
  RINGSMITH_INLINE void store(std::size_t i, const typename Sum::Vec* folded) const {
    using A = typename Sum::Arithmetic;
    if constexpr (!Keys::kRaw) {
      if (targets.blocks != nullptr) {
        const TargetWords<A> words(targets, i);
        words.store(out[0], folded[0]);
        words.store(out[1], folded[1]);
        return;
      }
    }
    A::store(out[0] + i, folded[0]);
    A::store(out[1] + i, folded[1]);
  }

  Sum (*tile)[2];       // for each vector of the run, unless it starts or ends here
  const u64* from[2];   // what the sums start from, or null: zero
  u64* out[2];          // of the whole limb, where there are targets
  Permutation targets;  // or null: here
  std::size_t last;     // of the words that there are targets for
  bool starts, folds, ends;
};

/// Adds terms to `words` sums.
template <typename Keys, bool moved, typename Sum = typename Keys::Of>
RINGSMITH_INLINE void add_terms(const PrimeConstants& prime, const TermRun<Keys, moved>& run,
                                const RunSums<Keys>& to, std::size_t words, Keys& shown) {
  using A = typename Sum::Arithmetic;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  auto keys = shown;  // in registers
  constexpr int kVectors = Sum::kAtOnce;
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
    RINGSMITH_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      if (to.ends) {
        const typename Sum::Vec folded[] = {sums[v][0].fold(arithmetic, prime),
                                            sums[v][1].fold(arithmetic, prime)};
        to.store(i + v * A::kLanes, folded);
        continue;
      }
      RINGSMITH_UNROLL
      for (int half = 0; half < 2; ++half) {
        if (to.folds) {
          sums[v][half].start(arithmetic, sums[v][half].fold(arithmetic, prime));
        }
        tile[v][half] = sums[v][half];
      }
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
    const Vec folded[] = {sums[0].fold(arithmetic, prime), sums[1].fold(arithmetic, prime)};
    if (to.ends) {
      to.store(i, folded);
      continue;
    }
    for (int half = 0; half < 2; ++half) {
      sums[half].start(arithmetic, folded[half]);
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
  const std::size_t most = moved ? Sum::moved_terms(prime.bits) : Sum::digit_terms(prime.bits);
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
  using Prepared = PreparedKeys<Sum>;
  if (terms.prepared) {
    return key_sums<Prepared, false>(prime, terms, out, count);
  }
  return terms.permutation == nullptr ? key_sums<Raw, false>(prime, terms, out, count)
                                      : key_sums<Raw, true>(prime, terms, out, count);
}

}  // namespace
}  // namespace ringsmith::simd
