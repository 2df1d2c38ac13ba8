// Complete key switching: digits times keys, then ModDown, limb by limb.
#pragma once

#include <array>
#include <span>

#include "digit_products.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// What one switching adds before the division, and where its polynomials go.
struct DividedPair {
  std::array<std::span<u64>, 2> out{};           ///< `keep` limbs each
  std::array<std::span<const u64>, 2> raised{};  ///< limbs of the base's first primes, NTT form;
                                                 ///< or empty
  std::array<std::span<const u64>, 2> added{};   ///< after the division: `keep` limbs in the
                                                 ///< results' form, or empty
  u64 element = 1;                               ///< x -> x^element is done to `added` first
};

/// For each switching and key part: (sums + P * raised) divided by all primes of the base but the
/// first `keep`, as mod_down does, plus `added`; P is the product of the primes that `raised` has
/// no limbs of. Nothing but limbs of the dropped primes is kept besides the results.
///
/// @param base the primes that the sums are taken at
/// @param keep at least 1 and fewer than the base has
/// @param form of the results
/// @param pairs one for each switching
/// @throws ParameterError if an element is no Galois element
void divided_products(const RnsContext& context, const DigitProducts& products, BaseView base,
                      std::size_t keep, Form form, std::span<const DividedPair> pairs);

}  // namespace ringsmith::kernels
