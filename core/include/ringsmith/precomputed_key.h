// Precomputed key-switching keys, in the form that this process's kernels use.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A precomputed key-switching key, with both parts, for many uses. It is checked once for
/// canonical residues, aligned, and each residue has the form that its prime's kernels read
/// fastest. It takes as much memory as the key's words, or half of that where kernels pack the
/// residues of narrow primes, and the values kept for rotations.
///
/// A Galois key is precomputed for its automorphism: the inverse automorphism is applied to its
/// limbs. Sums then use the unpermuted digits, and the automorphism is applied to the sums. The
/// correction for negated coefficients (src/keyswitch/digit_products.h) depends only on the key and
/// the level. It is computed at its first use and kept, two limbs for each prime of a level.
/// Corrections of the last eight levels are kept, or of as many levels as the key has digits.
///
/// Results equal those of the key itself. The form depends on the kernel set, so it is valid only
/// in this process: save the key, not this object. It does not refer to the original key, and
/// several threads may read it.
class PrecomputedKey {
 public:
  /// @param key     with both parts, of RNS digits; it may be truncated
  /// @param element of the automorphism that it is used for; with any other it is as slow as a key
  ///                that is not precomputed, or slower
  /// @throws ParameterError if the key is seed-compressed, of bit digits or precomputed already, if
  ///         it does not fit the context or has a residue not below its prime, or if there is no
  ///         such automorphism
  PrecomputedKey(const RlweContext& context, const KeySwitchKeyView& key, u64 element = 1);
  PrecomputedKey(const PrecomputedKey&) = delete;
  PrecomputedKey& operator=(const PrecomputedKey&) = delete;
  ~PrecomputedKey();

  /// Returns a view for use in operations, valid during this object's lifetime.
  [[nodiscard]] KeySwitchKeyView view() const;
  /// Returns the memory that the key takes, including the kept corrections.
  [[nodiscard]] std::size_t bytes() const;
  /// The Galois element that it is precomputed for.
  [[nodiscard]] u64 element() const { return element_; }
  /// Checks that it is of this degree, and of the first `primes` primes and their roots.
  [[nodiscard]] bool is_of(const RnsContext& rns, std::size_t primes) const;
  /// The primes that it has limbs for, ascending.
  [[nodiscard]] BaseView base() const { return base_; }

  /// Returns a pointer to a limb's residues from `position` on, a multiple of 8, after x -> x^(1 /
  /// element). simd::PrimeKernels::key_code and key_shift define their form.
  [[nodiscard]] const u64* limb(std::size_t digit, std::size_t half, std::size_t prime,
                                std::size_t position = 0) const;
  /// Restores an aligned block of a limb's residues as in the original key.
  /// @param begin a multiple of out.size(), which is a power of two, at least 8
  void restore(std::size_t digit, std::size_t half, std::size_t prime, std::size_t begin,
               std::span<u64> out) const;
  /// The digits of a level: their numbers in the key, and the primes of each.
  struct Level {
    std::vector<std::size_t> numbers;
    std::vector<Base> digits;
    auto operator<=>(const Level&) const = default;
  };
  /// A limb of each part in the form of limb(), and the memory that holds them.
  struct Shift {
    std::shared_ptr<const Words> words;
    std::array<const u64*, 2> halves{};
  };
  /// Returns the correction for negated coefficients: x -> x^(1 / element) of u times the sum over
  /// i of factors[i] times the key of digit numbers[i]. u is the sign-correction polynomial; its
  /// coefficients are all 1 / 2.
  /// @param factors canonical modulo the prime, and always the same for a level and prime
  [[nodiscard]] Shift shift(const Level& level, std::size_t prime,
                            std::span<const u64> factors) const;

 private:
  class Automorphism;

  // Words from one limb of a prime to the next.
  [[nodiscard]] std::size_t stride(std::size_t prime) const;
  void write_shift(const Level& level, std::size_t prime, std::span<const u64> factors,
                   std::size_t half, u64* out) const;
  // Precomputes a limb after its automorphism, and the padding between it and the next.
  bool precompute(std::size_t prime, std::span<const u64> residues, u64* out) const;
  // The same for residues that are scaled already.
  bool pack(std::size_t prime, std::span<const u64> scaled, u64* out) const;

  RnsContext rns_;
  u64 element_;
  std::size_t digits_;
  Base base_;
  std::vector<std::size_t> begins_;  // start of each prime's limbs, if any, and the end of the last
  Words words_;
  std::unique_ptr<Automorphism> automorphism_;
};

}  // namespace ringsmith
