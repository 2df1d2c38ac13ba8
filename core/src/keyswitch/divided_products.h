// Complete key switching: digits times keys, then ModDown, limb by limb.
#pragma once

#include <array>
#include <span>

#include "key_multiplier.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// What one switching adds before and after the division, and where its polynomials go.
struct DividedPair {
  std::array<std::span<u64>, 2> out{};           ///< `keep` limbs each
  std::array<std::span<const u64>, 2> raised{};  ///< added to the sums times P: limbs of
                                                 ///< `raised_base` in NTT form, or empty
  Base raised_base{};                            ///< part of the base
  std::array<std::span<const u64>, 2> added{};   ///< after the division: `keep` limbs in the
                                                 ///< results' form, or empty
  u64 element = 1;  ///< x -> x^element is done to `raised` and `added` first
};

/// For each switching and key part: (sums + P * raised) divided by all primes of the base but the
/// first `keep`, as mod_down does, plus `added`; P is the product of the base's primes that
/// `raised` has no limbs of, and P * raised is 0 modulo those. Nothing but limbs of the dropped
/// primes is kept besides the results.
///
/// @param base the primes that the sums are taken at
/// @param keep at least 1; of the base's size: nothing is divided
/// @param form of the results
/// @param pairs one for each switching
/// @throws ParameterError if an element is no Galois element
void divided_products(const RnsContext& context, const Products& products, BaseView base,
                      std::size_t keep, Form form, std::span<const DividedPair> pairs);

}  // namespace ringsmith::kernels
