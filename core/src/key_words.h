// Where the words of a key-switching key are read: in memory, or expanded from its seed.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"
#include "seeded_limb.h"

namespace ringsmith::kernels {

/// About how many words an expanded one is worth, for parallel_for.
inline constexpr std::size_t kExpansionPasses = 6;

/// One limb of some digits of a key, read from its beginning or from a seeded block's, in pieces.
class KeyWords {
 public:
  /// For each half and digit, where a piece begins.
  using Pointers = std::array<std::vector<const u64*>, 2>;

  /// @param key    must outlive this object
  /// @param digits their numbers in the key
  /// @param begin  the first word; of a compact key a multiple of kSeededBlock
  KeyWords(const RnsContext& context, const KeySwitchKeyView& key,
           std::span<const std::size_t> digits, std::size_t prime, std::size_t begin);

  /// The next `words` words of every digit and both halves.
  /// @param expanded room for digits * words words, which a compact key's half 1 is written to;
  ///                 not touched for a whole key
  /// @return pointers, good until the next call
  [[nodiscard]] const Pointers& next(std::size_t words, std::span<u64> expanded);

 private:
  Pointers following_;
  Pointers piece_;
  std::vector<SeededLimb> streams_;  // of each digit; none of a whole key
};

/// ksk_inner_product with one half of some digits of a key, canonical.
/// @param numbers of the digits in the key
void key_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits, const KeySwitchKeyView& key,
                       std::span<const std::size_t> numbers, std::size_t half, std::span<u64> out);

}  // namespace ringsmith::kernels
