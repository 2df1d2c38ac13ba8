// Key-switching keys kept as this process's kernels multiply by them.
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

/// A whole key-switching key for many uses: found canonical once, aligned, and each residue in the
/// form that the kernels of its prime read fastest. It takes as much memory as the key's words,
/// with kernels that pack the residues of narrow primes half of it, and what is kept for rotations.
///
/// A Galois key is prepared for its automorphism: its limbs are moved back, so that sums are made
/// of digits as they are, and the sums are moved. What the negative coefficients add to such a sum
/// (src/keyswitch/digit_products.h) depends on the key and the level alone; it is computed when it
/// is first wanted and kept, two limbs for each prime of a level, of the levels that were used
/// last: eight, or as many as the key has digits.
///
/// The same words are computed as by the key itself. The form depends on the kernel set, and so is
/// for this process alone: save the key, not this. It does not refer to what it was made from, and
/// may be read by several threads.
class PreparedKey {
 public:
  /// @param key     whole, in digits of primes
  /// @param element of the automorphism that it is used for: with any other it is as slow as a key
  ///                that is not prepared, or slower
  /// @throws ParameterError if the key is compact, in digits of words or prepared already, does not
  ///         fit the context, or has a residue that is not below its prime, or if there is no such
  ///         automorphism
  PreparedKey(const RlweContext& context, const KeySwitchKeyView& key, u64 element = 1);
  PreparedKey(const PreparedKey&) = delete;
  PreparedKey& operator=(const PreparedKey&) = delete;
  ~PreparedKey();

  /// What stands for the key in operations; good while this object is.
  [[nodiscard]] KeySwitchKeyView view() const;
  /// Memory that the key takes, with what has been kept for the levels that it was used at.
  [[nodiscard]] std::size_t bytes() const;
  /// Of the automorphism that it is prepared for.
  [[nodiscard]] u64 element() const { return element_; }
  /// Whether it is of this degree, and of the first `primes` primes and their roots.
  [[nodiscard]] bool is_of(const RnsContext& rns, std::size_t primes) const;

  /// Where the residues from `position` on, a multiple of 8, of a limb are, in the form of
  /// simd::PrimeKernels::key_code and key_shift: of x -> x^(1 / element) of the key.
  [[nodiscard]] const u64* limb(std::size_t digit, std::size_t half, std::size_t prime,
                                std::size_t position = 0) const;
  /// An aligned run of a limb's residues as the key had them.
  /// @param begin a multiple of out.size(), which is a power of two, at least 8
  void restore(std::size_t digit, std::size_t half, std::size_t prime, std::size_t begin,
               std::span<u64> out) const;
  /// Digits of a level: their numbers in the key, and the primes of each.
  struct Level {
    std::vector<std::size_t> numbers;
    std::vector<Base> digits;
    auto operator<=>(const Level&) const = default;
  };
  /// A limb of each half, as limb() has them, and what they are in.
  struct Shift {
    std::shared_ptr<const Words> words;
    std::array<const u64*, 2> halves{};
  };
  /// x -> x^(1 / element) of u times the sum over i of factors[i] times the key of digit
  /// numbers[i], all coefficients of u being 1 / 2.
  /// @param factors canonical modulo the prime, and always the same for a level and prime
  [[nodiscard]] Shift shift(const Level& level, std::size_t prime,
                            std::span<const u64> factors) const;

 private:
  class Automorphism;

  // Words from one limb of a prime to the next.
  [[nodiscard]] std::size_t stride(std::size_t prime) const;
  void write_shift(const Level& level, std::size_t prime, std::span<const u64> factors,
                   std::size_t half, u64* out) const;
  // Prepares a limb that is moved already, and what is between it and the next.
  bool prepare(std::size_t prime, std::span<const u64> residues, u64* out) const;
  // The same of residues that are scaled already.
  bool pack(std::size_t prime, std::span<const u64> scaled, u64* out) const;

  RnsContext rns_;
  u64 element_;
  std::size_t digits_;
  std::vector<std::size_t> begins_;  // of each prime's limbs, and where the last one's end
  Words words_;
  std::unique_ptr<Automorphism> automorphism_;
};

}  // namespace ringsmith
