// P times a polynomial, added to sums over a larger base.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ring/ntt_permutation.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// P * b over a base, for polynomials b in NTT form over a part of it, after x -> x^element. P is
/// the product of the base's primes that b lacks, and P * b is 0 modulo those.
class Raised {
 public:
  /// @param from the polynomials' base; if empty, nothing is added
  /// @throws ParameterError if the element is no Galois element
  Raised(const RnsContext& context, BaseView base, BaseView from, u64 element);

  /// Adds P times the polynomial to the limb of a prime, from word `begin` on; both are multiples
  /// of 64 words.
  void add_to(std::size_t prime, std::size_t begin, std::span<const u64> polynomial,
              std::span<u64> sums) const;

 private:
  const RnsContext& context_;
  Base from_;
  bool scales_;                       // P is not 1
  std::vector<ShoupFactor> factors_;  // P modulo each of those primes
  std::optional<NttPermutation> permutation_;
};

}  // namespace ringsmith::kernels
