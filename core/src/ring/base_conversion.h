// Steps that all fast base conversions have in common; kernels.h and lift_scale.h are made of them.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {

/// The product of the base's primes modulo `modulus`, without the prime at position `skip`, if any.
[[nodiscard]] u64 product(const RnsContext& context, BaseView base, const Modulus& modulus,
                          std::size_t skip = ~std::size_t{0});

/// D / d_i modulo `modulus` for every prime d_i of the base, D their product.
[[nodiscard]] std::vector<u64> complements(const RnsContext& context, BaseView base,
                                           const Modulus& modulus);

/// Bits of the base's widest prime.
[[nodiscard]] int widest(const RnsContext& context, BaseView base);

/// out_i = [x_i * factor * (D / d_i)^-1]_{d_i} for every limb; D is the product of the base's
/// primes d_i. May be in place.
void divide_by_complements(const RnsContext& context, BaseView base, std::span<const u64> in,
                           u64 factor, std::span<u64> out);
/// The same in place, with factor 1.
void divide_by_complements(const RnsContext& context, BaseView base, std::span<u64> words);

/// A limb that is added times a constant; none if it has no words.
struct ExtraLimb {
  std::span<const u64>
      words;       ///< any; below 2^52 where the other words and the modulus are narrower
  u64 factor = 0;  ///< canonical
};

/// out = sum over i of words_i * factors_i + offset + extra, modulo `target`.
/// @param words     factors.size() limbs below 2^word_bits
/// @param factors   canonical, as `offset`
void sum_limbs(const Modulus& target, std::span<const u64> words, int word_bits,
               std::span<const u64> factors, u64 offset, const ExtraLimb& extra,
               std::span<u64> out);

/// A modulus that limbs are converted to.
struct Target {
  const Modulus& modulus;
  u64 offset;  ///< canonical
  std::span<u64> out;
};

/// For each target: out = sum over i of words_i * (D / d_i) + offset. The words are read from
/// memory once for all of them.
void combine(const RnsContext& context, BaseView base, std::span<const u64> words,
             std::span<const Target> targets);
/// The same for one.
void combine(const RnsContext& context, BaseView base, std::span<const u64> words,
             const Target& target);

/// How many primes limbs over a number of others are converted to at a time: where those are many,
/// the conversion is bound by reading them; more results at a time would leave the caches.
[[nodiscard]] constexpr std::size_t primes_at_once(std::size_t others) {
  return others < 4 ? 1 : simd::kTargets;
}

}  // namespace ringsmith::kernels
