// A seeded key's half 1, one limb at a time and in pieces.
#pragma once

#include <cstddef>
#include <span>

#include "ringsmith/trivium.h"
#include "ringsmith/types.h"
#include "simd/kernel_set.h"

namespace ringsmith {

/// One block of one limb of one digit, from its first coefficient on: the residues that
/// expand_key_half says, computed by the active kernel set as they are asked for.
class SeededLimb {
 public:
  /// @param prime of the limb, odd
  /// @throws ParameterError if digit, limb or block is not below kSeededIndices
  SeededLimb(const KeySeed& seed, std::size_t digit, std::size_t limb, std::size_t block,
             const simd::PrimeConstants& prime);

  /// The next out.size() residues, a multiple of simd::kSeedStreams; no more than kSeededBlock in
  /// all.
  void next(std::span<u64> out);

 private:
  simd::PrimeConstants prime_;
  simd::SeedStreams streams_{};
};

}  // namespace ringsmith
