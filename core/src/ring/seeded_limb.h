// The a part of a seed-compressed key, expanded limb by limb in blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "ringsmith/trivium.h"
#include "ringsmith/types.h"
#include "simd/kernel_set.h"

namespace ringsmith {

/// One block of one limb of one digit, from its first coefficient on, computed by the active kernel
/// set as it is asked for: by each object either its words or its residues.
class SeededLimb {
 public:
  /// @param q of the limb
  /// @throws ParameterError if digit, limb or block is not below kSeededIndices
  SeededLimb(const KeySeed& seed, std::size_t digit, std::size_t limb, std::size_t block, u64 q);

  /// The next out.size() words, as expand_seed_words says, a multiple of simd::kSeedStreams; no
  /// more than kSeededBlock in all.
  /// @return whether all are below q
  bool next_words(std::span<u64> out);

  /// The next out.size() residues, as expand_key_half says, of the same number.
  void next(std::span<u64> out);

 private:
  u64 q_;
  u64 mask_;
  KeySeed seed_;
  u64 place_;
  simd::SeedStreams streams_{};
  std::optional<Trivium> substitutes_;
};

}  // namespace ringsmith
