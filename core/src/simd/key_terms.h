// Digits and keys as sums of their products read them. Only for the kernel sets' own source files
// (see transform.h).
#pragma once

#include "permute.h"
#include "pointwise.h"

namespace ringsmith::simd {
namespace {

// Limbs are powers of two apart, so words of equal position of all keys are in one set of the
// caches, which holds fewer. So a few terms are added at a time, to the sums of a run of
// words. All that they read is fetched ahead: one core reads memory fastest where it alternates
// between several positions and waits for many cache lines at once. Limbs of precomputed keys are
// in several sets, and more terms at a time save time with AVX2; with AVX-512 that has not been
// measured.
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

/// or precomputed for the sum.
template <typename Sum>
struct PrecomputedKeys {
  using Of = typename Sum::Precomputed;
  using A = typename Of::Arithmetic;
  static constexpr bool kRaw = false;
  static constexpr std::size_t kPerWord = residues_in_word(Of::kKeyCode);

  RINGSMITH_INLINE explicit PrecomputedKeys(const PrimeConstants&) {}
  RINGSMITH_INLINE auto load(const u64* limb, std::size_t i, int v) {
    return Of::precomputed_key(limb, i, v);
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

}  // namespace
}  // namespace ringsmith::simd
