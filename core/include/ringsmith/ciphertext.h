// Ciphertexts and key-switching keys as arrays of words, in Microsoft SEAL's layout.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A non-owning view of a ciphertext: `size` polynomials of `limbs` limbs, all in one form (CKKS:
/// NTT, BFV: coefficients). Word index: (polynomial * limbs + limb) * N + position.
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

/// A ciphertext that owns its words.
struct Ciphertext {
  Words data;
  std::size_t size = 0;
  std::size_t limbs = 0;

  /// Leaves the words uninitialised.
  Ciphertext(std::size_t polynomials, std::size_t limb_count, std::size_t degree)
      : data(polynomials * limb_count * degree), size(polynomials), limbs(limb_count) {}

  [[nodiscard]] CiphertextView view() const { return {data, size, limbs}; }
  [[nodiscard]] std::span<u64> polynomial(std::size_t index) {
    const std::size_t words = data.size() / size;
    return std::span<u64>(data).subspan(index * words, words);
  }
};

class PrecomputedKey;  // precomputed_key.h

/// A non-owning view of a key-switching key (b, a) per digit, in NTT form.
///
/// A full key has both parts: half 0 is the b part, half 1 the uniform a part. A key expanded on
/// the fly (seed-compressed) has the b part and a seed; expand_key_half makes the a part.
/// A precomputed key is in `precomputed`. All three compute the same words. Word index:
/// ((digit * halves + half) * limbs + row(prime)) * N + position. A key has limbs for all K primes,
/// special ones last, or for those of `base` only: a truncated key.
struct KeySwitchKeyView {
  std::span<const u64> data;
  std::size_t digits = 0;
  std::size_t word_bits = 0;      ///< 0: the context's RNS digits; else bits of a digit
  const KeySeed* seed = nullptr;  ///< of a seed-compressed key; else null
  const PrecomputedKey* precomputed = nullptr;  ///< a precomputed key, not in `data`
  BaseView base = {};  ///< ascending, the primes of its limbs; empty: all, in order

  /// Returns how many parts `data` holds.
  [[nodiscard]] std::size_t halves() const {
    if (precomputed != nullptr) {
      return 0;
    }
    return seed == nullptr ? 2 : 1;
  }
  /// Returns which limb is a prime's, which the key must have.
  [[nodiscard]] std::size_t row(std::size_t prime) const {
    return base.empty()
               ? prime
               : static_cast<std::size_t>(std::ranges::lower_bound(base, prime) - base.begin());
  }
  /// Returns part `index` < halves() of one digit: limbs * N words.
  [[nodiscard]] std::span<const u64> half(std::size_t digit, std::size_t index) const {
    const std::size_t words = data.size() / (halves() * digits);
    return data.subspan((halves() * digit + index) * words, words);
  }
};

/// @throws ParameterError unless size >= 1, the limbs are a data level and the words fit them
void check(const RlweContext& context, const CiphertextView& ciphertext);

}  // namespace ringsmith
