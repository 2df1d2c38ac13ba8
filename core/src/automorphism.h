// x -> x^element, one limb at a time.
#pragma once

#include <optional>
#include <span>

#include "ntt_permutation.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// What kernels::automorph does to each limb.
class Automorphism {
 public:
  /// @param form of the limbs
  /// @throws ParameterError unless element is odd and below 2N
  Automorphism(const RnsContext& context, Form form, u64 element);

  /// Not in place.
  /// @param in a limb of this prime, canonical
  void apply(std::size_t prime, std::span<const u64> in, std::span<u64> out) const;

 private:
  const RnsContext& context_;
  u64 element_;
  std::optional<NttPermutation> permutation_;  // in NTT form
};

}  // namespace ringsmith::kernels
