// Randomness and the distributions of RLWE: uniform, ternary, centred binomial.
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
  /// @throws std::system_error if the system refuses
  void fill(std::span<std::uint8_t> bytes) override;
};

using Seed = std::array<std::uint8_t, 64>;

/// SEAL's Blake2xbPRNG: block i of 4096 bytes is BLAKE2Xb under the seed of the word i.
///
/// Reads what SEAL stored as a seed. As a source of secrets it is for tests only.
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
using SmallPolynomial = SecretVector<std::int8_t>;

/// Uniform in {-1, 0, 1}: secret keys and the encryption's ephemeral key.
[[nodiscard]] SmallPolynomial sample_ternary(std::size_t degree, RandomSource& random);

/// The centred binomial distribution of 2 * 21 bits: standard deviation sqrt(10.5) = 3.24, values
/// in [-21, 21]. SEAL's default error distribution, sample_poly_cbd.
[[nodiscard]] SmallPolynomial sample_error(std::size_t degree, RandomSource& random);

/// Small integers as residues: base.size() limbs of N words, coefficient form.
[[nodiscard]] SecretVector<u64> to_residues(const RnsContext& context, BaseView base,
                                            std::span<const std::int8_t> small);

}  // namespace ringsmith
