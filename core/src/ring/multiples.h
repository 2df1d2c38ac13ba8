// Sums of polynomials times scalars.
#pragma once

#include <span>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// A polynomial, or its multiple by a scalar for each limb.
struct Multiple {
  std::span<const u64> polynomial;
  std::span<const u64> scalars;  ///< canonical; none: the polynomial itself
};

/// out = the sum of the terms, of which the last may be `out`. Of no terms it does nothing.
void sum_of_multiples(const RnsContext& context, BaseView base, std::span<const Multiple> terms,
                      std::span<u64> out);

/// The same of `count` words of limbs at one prime, a multiple of 32: out = the sum over i of
/// factors[i] * words[i]. The last words may be `out`.
void sum_of_multiples(const RnsContext& context, std::size_t prime,
                      std::span<const u64* const> words, std::span<const u64> factors, u64* out,
                      std::size_t count);

}  // namespace ringsmith::kernels
