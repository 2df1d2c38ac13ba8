// Randomness and the distributions of RLWE: uniform, ternary, errors.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ringsmith/blake2.h"
#include "ringsmith/rns.h"
#include "ringsmith/secret_memory.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A stream of random bytes.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// Fills `bytes` with the next bytes of the stream.
  virtual void fill(std::span<std::uint8_t> bytes) = 0;
  /// The next eight bytes as a little-endian word.
  [[nodiscard]] u64 next_word();
};

/// The operating system's generator, getrandom(2): what keys and encryptions are made from.
class SystemRandom final : public RandomSource {
 public:
  /// @throws std::system_error if the system call fails
  void fill(std::span<std::uint8_t> bytes) override;
};

using Seed = std::array<std::uint8_t, 64>;

/// SEAL's Blake2xbPRNG: block i of 4096 bytes is BLAKE2Xb under the seed of the word i.
///
/// Expands seeds that SEAL stored. Use it as a source of secrets in tests only.
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(const Seed& seed) : seed_(seed) {}
  void fill(std::span<std::uint8_t> bytes) override;

 private:
  static constexpr std::uint32_t kBlockBytes = 4096;
  Seed seed_;
  u64 counter_ = 0;
  Bytes block_;
  std::size_t used_ = 0;
};

/// Uniform residues: base.size() limbs of N words, each uniform below its prime.
///
/// SEAL's sample_poly_uniform: all words are read at once; a word of the short last range is
/// replaced by the next eight bytes after the bulk.
[[nodiscard]] std::vector<u64> sample_uniform(const RnsContext& context, BaseView base,
                                              RandomSource& random);

/// Small secret integers of one polynomial: N coefficients.
using SmallPolynomial = SecretVector<std::int32_t>;

/// Uniform in {-1, 0, 1}: secret keys and the encryption's ephemeral key.
[[nodiscard]] SmallPolynomial sample_ternary(std::size_t degree, RandomSource& random);

/// Exactly `weight` coefficients are 1 or -1, the others 0; uniform among such polynomials. No
/// memory access and no branch depends on the result. The ephemeral secrets of bootstrapping.
/// @throws ParameterError unless the weight is in 1 ... degree
[[nodiscard]] SmallPolynomial sample_sparse(std::size_t degree, std::size_t weight,
                                            RandomSource& random);

/// What the errors of keys and encryptions are drawn from.
class ErrorDistribution {
 public:
  /// The largest standard deviation: sampling compares with every possible value.
  static constexpr double kMaxDeviation = 1024;

  /// The centred binomial distribution of 2 * 21 bits: standard deviation sqrt(10.5) = 3.24, values
  /// in [-21, 21]. SEAL's default error distribution, sample_poly_cbd.
  ErrorDistribution() = default;
  /// A Gaussian of that standard deviation, rounded to the nearest integer: a sign, and a magnitude
  /// that is the number of k >= 1 with u < 2^63 * P(|x| > k - 1/2) for a 63-bit uniform u. All k
  /// are compared, so that the time is constant. Values end where that probability is below 2^-63,
  /// near nine deviations.
  /// @param deviation in [1, kMaxDeviation]; 0 stands for the centred binomial distribution
  /// @throws ParameterError for another deviation
  explicit ErrorDistribution(double deviation);

  [[nodiscard]] double deviation() const { return deviation_; }
  /// The largest magnitude that can be drawn.
  [[nodiscard]] std::size_t bound() const {
    return thresholds_.empty() ? kBinomialBits : thresholds_.size();
  }
  [[nodiscard]] SmallPolynomial sample(std::size_t degree, RandomSource& random) const;

 private:
  static constexpr std::size_t kBinomialBits = 21;

  double deviation_ = 3.24037034920393;  // sqrt(10.5)
  std::vector<u64> thresholds_;  // of the Gaussian, for k = 1, 2, ...; empty for the binomial
};

/// Small integers as residues: base.size() limbs of N words, coefficient form.
[[nodiscard]] SecretVector<u64> to_residues(const RnsContext& context, BaseView base,
                                            std::span<const std::int32_t> small);

}  // namespace ringsmith
