// Trivium, and the uniform a part of a key-switching key, which it expands from a public seed.
//
// Hardware expands the same key (rtl/prng), without substitutes and with any number of lanes.
// docs/reference/arithmetic.md states the definition and the security assumptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ringsmith/modulus.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// The stream cipher Trivium (De Canniere, Preneel: "Trivium specifications", eSTREAM 2006).
///
/// The three shift registers are kept with their oldest bit lowest, so that 64 rounds are a few
/// operations on words. Key and IV are in the byte order of the eSTREAM test vectors: bit 0 of the
/// specification's K_80 is bit 0 of byte 0.
class Trivium {
 public:
  static constexpr std::size_t kKeyBytes = 10;
  using Bytes80 = std::array<std::uint8_t, kKeyBytes>;

  Trivium(const Bytes80& key, const Bytes80& iv);

  /// The next 64 bits of the stream, the first one in bit 0.
  [[nodiscard]] u64 next_word();

 private:
  u128 a_;  // 93 bits: s_93 ... s_1 of the specification
  u128 b_;  // 84 bits: s_177 ... s_94
  u128 c_;  // 111 bits: s_288 ... s_178
};

/// The seed of a key-switching key's a part: a Trivium key. Public.
using KeySeed = Trivium::Bytes80;

/// Digits, limbs and blocks of one key must be numbered below this.
inline constexpr std::size_t kSeededIndices = std::size_t{1} << 16;

/// Coefficients of a limb's NTT form for which one set of streams is used.
inline constexpr std::size_t kSeededBlock = std::size_t{1} << 14;

/// Returns how many bits of a stream's word make a residue modulo q. It is log2 of the power of two
/// above q, or of the power below q if q exceeds that by less than 2^-20 of it.
[[nodiscard]] int seed_word_bits(u64 q);

/// Writes the words from which one limb of one digit of the a part is made, from a block's first
/// coefficient on. Hardware multiplies by these words.
///
/// The word of coefficient kSeededBlock * b + j of the limb, j < kSeededBlock, is the lowest
/// seed_word_bits(q) bits of word j div 8 of the stream with key `seed` and the IV j mod 8 + 2^16
/// limb + 2^32 digit + 2^48 b (a little-endian number).
/// @param digit, limb below kSeededIndices; limb counts the key's K primes
/// @param block       of out's first coefficient; this and all that follow below kSeededIndices
/// @throws ParameterError if an index is too large
void expand_seed_words(const KeySeed& seed, std::size_t digit, std::size_t limb, const Modulus& q,
                       std::span<u64> out, std::size_t block = 0);

/// Expands one limb of one digit of a key-switching key's a part: `out.size()` residues modulo q,
/// in NTT form (bit-reversed order).
///
/// Words of expand_seed_words that are below q are kept. The others of a block are replaced, in
/// order, by words of its stream number 8 that are below q. Parameters and errors are those of
/// expand_seed_words.
void expand_key_half(const KeySeed& seed, std::size_t digit, std::size_t limb, const Modulus& q,
                     std::span<u64> out, std::size_t block = 0);

}  // namespace ringsmith
