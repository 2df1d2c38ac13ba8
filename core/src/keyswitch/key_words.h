// Where the words of a key-switching key are read: in memory, as they are or precomputed, or
// expanded from its seed.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "ring/seeded_limb.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {

/// About how many words an expanded one is worth, for parallel_for.
inline constexpr std::size_t kExpansionPasses = 6;

/// @param name what errors call the key
/// @throws ParameterError if a residue of a key's limb of prime number `prime` is not below it
void check_key_limb(std::span<const u64> limb, std::size_t prime, const Modulus& modulus,
                    std::string_view name);

/// One limb of some digits of a key, read in blocks, from its start or from the start of an
/// expanded block.
class KeyWords {
 public:
  /// For each key part and digit, the start of a block.
  using Pointers = std::array<std::vector<const u64*>, 2>;

  /// @param key    must outlive this object
  /// @param digits their numbers in the key; must outlive this object
  /// @param begin  the first word, a multiple of those that are wanted at a time; of a
  ///               seed-compressed key a multiple of kSeededBlock
  /// @param as_precomputed whether a precomputed key's words are wanted as they are, or the key's
  KeyWords(const RnsContext& context, const KeySwitchKeyView& key,
           std::span<const std::size_t> digits, std::size_t prime, std::size_t begin,
           bool as_precomputed);

  /// Key parts of a block that next() writes: those not in memory in the requested form.
  [[nodiscard]] static std::size_t written_halves(const KeySwitchKeyView& key,
                                                  bool as_precomputed) {
    return as_precomputed ? 0 : 2 - key.halves();
  }
  /// The next `words` words, a power of two and at least 8, of every digit and both halves.
  /// @param buffer buffer for written_halves() * digits * words words
  /// @return pointers, good until the next call
  [[nodiscard]] const Pointers& next(std::size_t words, std::span<u64> buffer);

 private:
  std::span<const std::size_t> digits_;
  std::size_t prime_;
  std::size_t position_;
  const PrecomputedKey* restored_ = nullptr;      // a precomputed key to be restored
  simd::KeyCode code_ = simd::KeyCode::kResidue;  // of the words in memory
  Pointers following_;
  Pointers block_;
  std::vector<SeededLimb> streams_;  // of each digit; none of another than a seed-compressed key
};

/// out = sum over d of digits[d] times one half of digit numbers[d] of a key, in NTT form.
/// @param digits each a polynomial over `base`
/// @param key    with canonical residues for all primes of `base`
void key_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits, const KeySwitchKeyView& key,
                       std::span<const std::size_t> numbers, std::size_t half, std::span<u64> out);

}  // namespace ringsmith::kernels
