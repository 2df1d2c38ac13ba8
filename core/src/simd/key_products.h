// Digits times keys. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

// Limbs are powers of two apart, so the words at one place of all keys are in one set of the
// caches, which has room for fewer. So a few terms are added at a time, to the sums of a run of
// words. All that they read is fetched ahead: one core reads memory fastest where it reads in
// several places in turn and has many lines under way.
constexpr std::size_t kTermsAtOnce = 4;
template <typename Sum>
constexpr std::size_t kRun = Sum::kStepwise ? 256 : 512;
constexpr std::size_t kKeysAhead = 32;                    // words of keys, from memory
constexpr std::size_t kDigitsAhead = 2 * kPermutedWords;  // words of digits, from a near cache

/// Up to kTermsAtOnce terms, from one word on.
template <typename Sum, bool moved>
class TermRun {
 public:
  using A = typename Sum::Arithmetic;
  static constexpr bool kScaled = moved && Sum::kScales;

  /// Terms begin ... begin + count - 1 from word `first` on, which `left` words are left from.
  RINGSMITH_INLINE TermRun(u64 q, const KeyTerms& terms, std::size_t begin, std::size_t count,
                           std::size_t first, std::size_t left)
      : count_(count), last_(left - A::kLanes) {
    if constexpr (moved) {
      permutation_ = {terms.permutation->blocks + first / kPermutedWords,
                      terms.permutation->patterns};
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t term = begin + i;
      const bool shifted = moved && !kScaled && terms.addends[term] != nullptr;
      values_[i] = terms.values[term] + (moved ? 0 : first);
      addends_[i] = shifted ? terms.addends[term] + first : nullptr;
      keys_[i][0] = terms.keys[0][term] + first;
      keys_[i][1] = terms.keys[1][term] + first;
      if constexpr (kScaled) {
        scaled_ = terms.scaled + first;
        scales_[i] = A::from_shift64(terms.scales[term], q);
      }
    }
  }

  /// Calls use(term, factor) with what words i ... of all terms are for the products with both
  /// keys.
  template <typename Use>
  RINGSMITH_INLINE void factors(std::size_t i, const A& arithmetic, Use use) const {
    if constexpr (moved) {
      const PermutedWords<A> words(permutation_, i);
      [[maybe_unused]] const auto scaled = A::value(kScaled ? A::load(scaled_ + i) : A::set(0));
      const std::size_t ahead = smaller(i + kDigitsAhead, last_);
      const std::size_t fetched = permuted_block(permutation_.blocks[ahead / kPermutedWords]);
      for (std::size_t term = 0; term < count_; ++term) {
        __builtin_prefetch(values_[term] + fetched);
        auto value = words.of(values_[term]);
        if constexpr (kScaled) {
          use(term, Sum::shared(arithmetic, value, scaled, scales_[term]));
        } else {
          if (addends_[term] != nullptr) {
            __builtin_prefetch(addends_[term] + i + kKeysAhead);
            value = A::reduce_once(A::add(value, A::load(addends_[term] + i)), arithmetic.q);
          }
          use(term, Sum::shared(arithmetic, value));
        }
      }
    } else {
      for (std::size_t term = 0; term < count_; ++term) {
        use(term, Sum::shared(arithmetic, A::load(values_[term] + i)));
      }
    }
  }

  /// Adds a term's products with words i ... of the keys to the sums of both halves.
  template <typename Factor>
  RINGSMITH_INLINE void add_products(std::size_t term, std::size_t i, const Factor& factor,
                                     CanonicalCheck<A>& check, Sum* sums) const {
    for (int half = 0; half < 2; ++half) {
      const u64* const key = keys_[term][half] + i;
      __builtin_prefetch(key + kKeysAhead + A::kLanes - 1);  // vectors may cross lines
      sums[half].add(factor, Sum::split(check.load(key)));
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  std::size_t last_;                  // where the limb's last vector begins
  const u64* values_[kTermsAtOnce];   // permuted ones: of the whole limb
  const u64* addends_[kTermsAtOnce];  // or null
  const u64* scaled_;                 // read in place of addends, times scales
  typename A::Twiddle scales_[kTermsAtOnce];
  const u64* keys_[kTermsAtOnce][2];
  Permutation permutation_;
};

/// Where a run's sums come from and go to.
template <typename Sum>
struct RunSums {
  Sum (*tile)[2];  // for each vector of the run, unless it starts or ends here
  u64* out[2];
  bool starts, folds, ends;
};

/// Adds terms to `words` sums.
template <typename Sum, bool moved>
RINGSMITH_INLINE void add_terms(const PrimeConstants& prime, const TermRun<Sum, moved>& run,
                                const RunSums<Sum>& to, std::size_t words,
                                CanonicalCheck<typename Sum::Arithmetic>& shown) {
  using A = typename Sum::Arithmetic;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  auto check = shown;  // in a register
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Sum sums[2];
    for (int half = 0; half < 2; ++half) {
      if (to.starts) {
        sums[half].start(arithmetic, A::set(0));
      } else {
        sums[half] = to.tile[i / A::kLanes][half];
      }
    }
    run.factors(i, arithmetic, [&](std::size_t term, const auto& factor) {
      run.add_products(term, i, factor, check, sums);
    });
    for (int half = 0; half < 2; ++half) {
      if (to.folds) {
        const auto folded = sums[half].fold(arithmetic, prime);
        if (to.ends) {
          A::store(to.out[half] + i, folded);
          continue;
        }
        sums[half].start(arithmetic, folded);
      }
      to.tile[i / A::kLanes][half] = sums[half];
    }
  }
  shown = check;
}

/// The same in steps, a loop over the words each: where what becomes of one word is a longer chain
/// of operations than a processor looks ahead, its multipliers would wait.
template <typename Sum, bool moved>
RINGSMITH_INLINE void add_terms_stepwise(const PrimeConstants& prime,
                                         const TermRun<Sum, moved>& run, const RunSums<Sum>& to,
                                         std::size_t words,
                                         CanonicalCheck<typename Sum::Arithmetic>& shown) {
  using A = typename Sum::Arithmetic;
  using Vec = typename A::Vec;
  const A arithmetic = Sum::arithmetic(prime, prime.bits);
  Vec factors[kRun<Sum> / A::kLanes][kTermsAtOnce];
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Vec* const at = factors[i / A::kLanes];
    run.factors(i, arithmetic, [at](std::size_t term, Vec factor) { at[term] = factor; });
  }
  if (to.starts) {
    for (std::size_t i = 0; i < words; i += A::kLanes) {
      for (int half = 0; half < 2; ++half) {
        to.tile[i / A::kLanes][half].start(arithmetic, A::set(0));
      }
    }
  }
  auto check = shown;  // in a register
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    Sum sums[2] = {to.tile[i / A::kLanes][0], to.tile[i / A::kLanes][1]};
    for (std::size_t term = 0; term < run.count(); ++term) {
      run.add_products(term, i, factors[i / A::kLanes][term], check, sums);
    }
    for (int half = 0; half < 2; ++half) {
      to.tile[i / A::kLanes][half] = sums[half];
    }
  }
  shown = check;
  if (!to.folds) {
    return;
  }
  for (std::size_t i = 0; i < words; i += A::kLanes) {
    for (int half = 0; half < 2; ++half) {
      Sum& sum = to.tile[i / A::kLanes][half];
      const Vec folded = sum.fold(arithmetic, prime);
      if (to.ends) {
        A::store(to.out[half] + i, folded);
      } else {
        sum.start(arithmetic, folded);
      }
    }
  }
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

std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// PrimeKernels::key_products with the accumulators of `Sum`.
template <typename Sum, bool moved>
bool key_sums(const PrimeConstants& prime, const KeyTerms& terms, u64* const* out,
              std::size_t count) {
  using A = typename Sum::Arithmetic;
  CanonicalCheck<A> check(A::set(prime.q));
  Sum tile[kRun<Sum> / A::kLanes][2];
  const std::size_t most = most_terms<Sum, moved>(prime.bits);
  const std::size_t parts = quotient_up(terms.count, smaller(kTermsAtOnce, most));
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
      const TermRun<Sum, moved> run(prime.q, terms, begin, here, first, count - first);
      const RunSums<Sum> to{tile, {out[0] + first, out[1] + first}, begin == 0, folds, last};
      if constexpr (Sum::kStepwise) {
        add_terms_stepwise(prime, run, to, words, check);
      } else {
        add_terms(prime, run, to, words, check);
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
