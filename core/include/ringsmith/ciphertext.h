// Ciphertexts and key-switching keys as plain words, in Microsoft SEAL's layout.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A ciphertext that somebody else owns: `size` polynomials of `limbs` limbs, all in one
/// form: NTT in CKKS, coefficients in BFV.
/// Word index: (polynomial * limbs + limb) * N + position.
struct CiphertextView {
  std::span<const u64> data;
  std::size_t size = 0;
  std::size_t limbs = 0;

  /// Polynomial `index`: limbs * N words.
  [[nodiscard]] std::span<const u64> polynomial(std::size_t index) const {
    const std::size_t words = data.size() / size;
    return data.subspan(index * words, words);
  }
};

/// A ciphertext with its own words.
struct Ciphertext {
  Words data;
  std::size_t size = 0;
  std::size_t limbs = 0;

  /// Its words are not set.
  Ciphertext(std::size_t polynomials, std::size_t limb_count, std::size_t degree)
      : data(polynomials * limb_count * degree), size(polynomials), limbs(limb_count) {}

  [[nodiscard]] CiphertextView view() const { return {data, size, limbs}; }
  [[nodiscard]] std::span<u64> polynomial(std::size_t index) {
    const std::size_t words = data.size() / size;
    return std::span<u64>(data).subspan(index * words, words);
  }
};

class PreparedKey;  // prepared_key.h

/// A key-switching key that somebody else owns, NTT form.
///
/// Whole, or compact: half 0 alone, and the seed that half 1 is expanded from while it is used
/// (expand_key_half), or prepared; all compute the same words.
/// Word index: ((digit * halves + half) * K + prime) * N + position, K all primes, special ones
/// last.
struct KeySwitchKeyView {
  std::span<const u64> data;
  std::size_t digits = 0;
  std::size_t word_bits = 0;      ///< 0: the context's digits of primes; else digits are such words
  const KeySeed* seed = nullptr;  ///< of a compact key; else null
  const PreparedKey* prepared = nullptr;  ///< a prepared key, whose words are not in `data`

  /// Halves whose words are in memory as they are.
  [[nodiscard]] std::size_t halves() const {
    if (prepared != nullptr) {
      return 0;
    }
    return seed == nullptr ? 2 : 1;
  }
  /// Half `index` < halves() of one digit: K * N words.
  [[nodiscard]] std::span<const u64> half(std::size_t digit, std::size_t index) const {
    const std::size_t words = data.size() / (halves() * digits);
    return data.subspan((halves() * digit + index) * words, words);
  }
};

/// @throws ParameterError unless size >= 1, the limbs are a data level and the words fit them
void check(const RlweContext& context, const CiphertextView& ciphertext);

}  // namespace ringsmith
