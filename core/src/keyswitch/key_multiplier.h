// Digits that are at hand, times keys, at one prime.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "key_words.h"
#include "ring/ntt_permutation.h"
#include "ringsmith/aligned_memory.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/precomputed_key.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// One use of a polynomial's digits.
struct Switching {
  u64 element = 1;                  ///< x -> x^element is done to the polynomial or its digits
  KeySwitchKeyView key;             ///< with limbs for all primes that are asked for
  std::vector<std::size_t> digits;  ///< for each digit of the polynomial its number in the key
  std::string name = "the key-switching key";  ///< what errors call it
};

/// Whether its key is precomputed for its automorphism.
[[nodiscard]] bool is_precomputed(const Switching& switching);

/// The two halves of a sum at one prime: N words each.
using LimbPair = std::array<std::span<u64>, 2>;

/// What is multiplied with keys: for each digit its value at a prime, as
/// simd::PrimeKernels::forward_digit leaves it, which a switching by an automorphism permutes, and
/// what is added then, or null or 0 where it is nothing. It is given as words or, to kernels that
/// scale, as factors of the sign-correction polynomial.
struct Factors {
  explicit Factors(std::size_t digits) : values(digits), addends(digits), scales(digits) {}

  std::vector<const u64*> values;
  std::vector<const u64*> addends;
  std::vector<simd::Factor> scales;
};

/// What only one switching has: values that replace those of all, if any, and the words of new
/// ones; and, with a precomputed key, what the sums start from.
struct OwnFactors {
  std::vector<const u64*> values;
  std::vector<Words> words;
  PrecomputedKey::Shift shift;
};

/// The inner loop of key switching. Each key word is read from memory or expanded once, a few
/// thousand words of each digit at a time, and all switchings read the same words of digits.
///
/// A key precomputed for an automorphism has its inverse applied: the digits are multiplied
/// unpermuted, and the sums are permuted. With other keys the digits are permuted as they are read.
class KeyMultiplier {
 public:
  /// @throws ParameterError if an element is no Galois element
  KeyMultiplier(const RnsContext& context, std::vector<Switching> switchings);

  /// For each switching the sums of its automorphism of the values times its key.
  /// @param own none, or one for each switching
  /// @throws ParameterError if a residue of a key is not below its prime
  void multiply(std::size_t prime, const Factors& factors, std::span<const OwnFactors> own,
                std::span<const LimbPair> out) const;

  /// Whether all keys' words are in memory as they are.
  [[nodiscard]] bool takes_runs() const;
  /// The same from word `begin` on, where takes_runs() is true.
  /// @param out as many words, a power of two and at least 64, of which `begin` is a multiple
  /// @throws ParameterError if a residue of a key is not below its prime
  void multiply_run(std::size_t prime, const Factors& factors, std::size_t begin,
                    std::span<const LimbPair> out) const;

  [[nodiscard]] const std::vector<Switching>& switchings() const { return switchings_; }
  /// Whether any switching has an automorphism.
  [[nodiscard]] bool moves() const { return !permutations_.empty(); }

 private:
  // Says which residue of the switching's keys is not below the prime.
  void refuse_keys(std::size_t prime, const Switching& switching) const;
  // Whether the sums of switching `index` are permuted as they are written.
  [[nodiscard]] bool scatters(std::size_t index) const;
  // Words begin ... begin + words - 1 of the sums of switching `index`, with its keys' words there.
  // They go to `out`, or where they are permuted into the limbs that begin there.
  void multiply_block(std::size_t prime, const Factors& factors, const OwnFactors& own,
                      std::size_t index, const KeyWords::Pointers& keys, std::size_t begin,
                      std::size_t words, const std::array<u64*, 2>& out) const;

  const RnsContext& context_;
  std::vector<Switching> switchings_;
  std::vector<NttPermutation> permutations_;  // of each switching; none if all elements are 1
};

/// Digits times keys, one prime at a time, for divided_products().
class Products {
 public:
  Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  virtual ~Products() = default;

  /// For each prime and switching the sum over d of digit d * key_h[d], h = 0, 1, in NTT form.
  /// @param out for each prime all switchings' sums
  /// @throws ParameterError if a residue of a key is not below its prime
  virtual void at(BaseView primes, std::span<const LimbPair> out) const = 0;
  /// About how many words at() goes over for each prime, for parallel_for.
  [[nodiscard]] virtual std::size_t words_at_prime() const = 0;
};

}  // namespace ringsmith::kernels
