// Digits that several keys are multiplied with, in memory.
#pragma once

#include <span>
#include <vector>

#include "key_multiplier.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// Where the limbs of digits over a base are: those of all digits at one prime follow each other.
/// Each limb's words are as simd::PrimeKernels::forward_digit leaves them.
class StoredDigits {
 public:
  StoredDigits(const RnsContext& context, BaseView base, std::size_t count)
      : degree_(context.degree()), base_(base.begin(), base.end()), count_(count) {}

  /// Words of all limbs, and of the gaps between them.
  [[nodiscard]] std::size_t words() const { return base_.size() * count_ * stride(); }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Base& base() const { return base_; }
  /// The limb of a digit at a position of the base.
  template <typename Word>
  [[nodiscard]] std::span<Word> limb(std::span<Word> words, std::size_t digit,
                                     std::size_t position) const {
    return words.subspan((position * count_ + digit) * stride(), degree_);
  }
  /// Writes a digit.
  /// @param coefficients over the base, canonical
  /// @param words        of all digits
  void store(const RnsContext& context, std::size_t digit, std::span<const u64> coefficients,
             std::span<u64> words) const;

 private:
  // Limbs are not powers of two apart, so that equal words of several are in several sets of a
  // cache.
  [[nodiscard]] std::size_t stride() const { return degree_ + kGap; }

  static constexpr std::size_t kGap = 40;  // five cache lines

  std::size_t degree_;
  Base base_;
  std::size_t count_;
};

/// Stored digits times keys. An automorphism is done to the digits, not before they are cut.
class StoredProducts final : public Products {
 public:
  /// @param layout     must outlive this object
  /// @param digits     layout.words() words, likewise
  /// @param switchings each with as many digits
  /// @throws ParameterError if an element is no Galois element, or numbers differ
  StoredProducts(const RnsContext& context, const StoredDigits& layout, std::span<const u64> digits,
                 std::vector<Switching> switchings);

  void at(BaseView primes, std::span<const LimbPair> out) const override;
  [[nodiscard]] std::size_t words_at_prime() const override;

  /// Whether run_at() takes less than whole limbs.
  [[nodiscard]] bool takes_runs() const { return multiplier_.takes_runs(); }
  /// at() of one prime, from word `begin` on.
  /// @param out as many words, a power of two and at least 64, of which `begin` is a multiple
  void run_at(std::size_t prime, std::size_t begin, std::span<const LimbPair> out) const;

 private:
  [[nodiscard]] Factors factors_at(std::size_t prime) const;

  const RnsContext& context_;
  const StoredDigits& layout_;
  std::span<const u64> digits_;
  KeyMultiplier multiplier_;
  std::vector<std::size_t> positions_;  // in the layout's base, of each prime of the context
};

}  // namespace ringsmith::kernels
