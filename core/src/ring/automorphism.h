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

  /// What apply() does in NTT form, for who can permute while it reads; null in coefficient form.
  [[nodiscard]] const NttPermutation* permutation() const {
    return permutation_ ? &*permutation_ : nullptr;
  }

 private:
  const RnsContext& context_;
  u64 step_;                                   // the element's inverse
  std::optional<NttPermutation> permutation_;  // in NTT form
};

}  // namespace ringsmith::kernels
