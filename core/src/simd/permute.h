// What automorphisms do to a limb. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// Where the words come from that the permuted limb has from word i on, a multiple of V::kLanes:
/// Permutation::blocks.
RINGSMITH_INLINE std::size_t permuted_block(const std::uint32_t* blocks, std::size_t i) {
  return blocks[i / kPermutedWords] & ~std::uint32_t{kPermutedWords - 1};
}

/// Words i ... i + V::kLanes - 1 of the permuted limb.
template <typename V>
RINGSMITH_INLINE auto load_permuted(const u64* in, const Permutation& permutation, std::size_t i) {
  const std::uint32_t block = permutation.blocks[i / kPermutedWords];
  const u64* const from = in + permuted_block(permutation.blocks, i);
  const u64* const pattern = permutation.patterns[block % kPermutedWords] + i % kPermutedWords;
  if constexpr (V::kLanes == kPermutedWords) {
    return V::permute(V::load(from), V::load(pattern));
  } else {
    u64 words[V::kLanes];
    for (int k = 0; k < V::kLanes; ++k) {
      words[k] = from[pattern[k]];
    }
    return V::load(words);
  }
}

/// KernelSet::permute.
template <typename V>
void permute_words(const u64* in, const Permutation& permutation, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, load_permuted<V>(in, permutation, i));
  }
}

/// KernelSet::automorph.
template <typename V>
void automorph_words(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
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

}  // namespace
}  // namespace ringsmith::simd
