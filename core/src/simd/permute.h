// What automorphisms do to a limb. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// Where the words of a block were before, as Permutation::blocks tells it.
RINGSMITH_INLINE std::size_t permuted_block(std::uint32_t block) {
  return block & ~std::uint32_t{kPermutedWords - 1};
}

/// Words i ... i + V::kLanes - 1 of limbs that one permutation moves, i a multiple of V::kLanes.
template <typename V>
class PermutedWords {
 public:
  RINGSMITH_INLINE PermutedWords(const Permutation& permutation, std::size_t i) {
    const std::uint32_t block = permutation.blocks[i / kPermutedWords];
    from_ = permuted_block(block);
    places_ = V::places(permutation.patterns[block % kPermutedWords] + i % kPermutedWords);
  }

  [[nodiscard]] RINGSMITH_INLINE typename V::Vec of(const u64* limb) const {
    return V::permute(limb + from_, places_);
  }

 private:
  std::size_t from_;  // the block's first word
  typename V::Places places_;
};

/// KernelSet::permute.
template <typename V>
void permute_words(const u64* in, const Permutation& permutation, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, PermutedWords<V>(permutation, i).of(in));
  }
}

/// KernelSet::automorph, for vectors whose gathers are fast.
template <typename V>
void automorph_gathered(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
  const int log_degree = __builtin_ctzll(degree);
  const auto zero = V::set(0);
  const auto one = V::set(1);
  const auto modulus = V::set(q);
  const auto above = V::set(q + 1);  // ~word + q + 1 = q - word
  const auto places = V::set(degree - 1);
  const auto next = V::set(step * V::kLanes);
  u64 first[V::kLanes];
  for (u64 k = 0; k < V::kLanes; ++k) {
    first[k] = k * step;
  }
  auto exponent = V::load(first);  // its bit at N tells the sign
  for (std::size_t i = 0; i < degree; i += V::kLanes) {
    const auto words = V::gather(in, V::bit_and(exponent, places));
    const auto negative = V::sub(zero, V::bit_and(V::shift_right(exponent, log_degree), one));
    const auto moved = V::add(V::bit_xor(words, negative), V::bit_and(above, negative));
    V::store(out + i, V::reduce_once(moved, modulus));
    exponent = V::add(exponent, next);
  }
}

/// KernelSet::automorph, for vectors of four words, which are loaded one by one. Exponents are at
/// the top of the lanes, where sums are modulo 2N and the bit that tells the sign is the first.
template <typename V>
void automorph_loaded(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
  const int unused = 63 - __builtin_ctzll(degree);
  const u64 places = degree - 1;
  const auto modulus = V::set(q);
  const auto next = V::set(4 * step << unused);
  const u64 first[4] = {0, step << unused, 2 * step << unused, 3 * step << unused};
  auto exponent = V::load(first);
  u64 at[4] = {0, step & places, 2 * step & places, 3 * step & places};
  for (std::size_t i = 0; i < degree; i += 4) {
    const auto words = V::collect(in[at[0]], in[at[1]], in[at[2]], in[at[3]]);
    const auto moved = V::choose_by_sign(exponent, words, V::sub(modulus, words));
    V::store(out + i, V::reduce_once(moved, modulus));
    exponent = V::add(exponent, next);
    RINGSMITH_UNROLL
    for (u64& place : at) {
      place = (place + 4 * step) & places;
    }
  }
}

}  // namespace
}  // namespace ringsmith::simd
