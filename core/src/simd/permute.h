// What automorphisms do to a limb. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// Source positions of a block's words, from Permutation::blocks.
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
    positions_ = V::positions(permutation.patterns[block % kPermutedWords] + i % kPermutedWords);
  }

  [[nodiscard]] RINGSMITH_INLINE typename V::Vec of(const u64* limb) const {
    return V::permute(limb + from_, positions_);
  }

 private:
  std::size_t from_;  // the block's first word
  typename V::Positions positions_;
};

/// Target positions of the words of word i's block, from KeyTerms::targets. All words of a vector
/// go to one: the first of a block's go where the pattern's first come from.
template <typename V>
class TargetBlock {
 public:
  RINGSMITH_INLINE TargetBlock(const Permutation& targets, std::size_t i) {
    const std::uint32_t block = targets.blocks[i / kPermutedWords];
    to_ = permuted_block(block);
    pattern_ = targets.patterns[block % kPermutedWords];
    first_ = *pattern_ & V::kLanes;
  }

  /// Words i ... of two limbs.
  RINGSMITH_INLINE void store(u64* const* limbs, std::size_t i,
                              const typename V::Vec* words) const {
    const std::size_t within = (i % kPermutedWords) ^ first_;
    const auto positions = V::positions(pattern_ + within);
    V::store(limbs[0] + to_ + within, V::permute(words[0], positions));
    V::store(limbs[1] + to_ + within, V::permute(words[1], positions));
  }

 private:
  std::size_t to_;  // the block's first word
  const u64* pattern_;
  std::size_t first_;  // where its first vector goes in it
};

/// KernelSet::permute.
template <typename V>
void permute_words(const u64* in, const Permutation& permutation, u64* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += V::kLanes) {
    V::store(out + i, PermutedWords<V>(permutation, i).of(in));
  }
}

/// Exponents k * step for lanes from a multiple of V::kLanes on, whose bit at `degree` tells a
/// sign.
template <typename V>
class Exponents {
 public:
  using Vec = typename V::Vec;

  RINGSMITH_INLINE Exponents(u64 step, std::size_t degree)
      : log_degree_(__builtin_ctzll(degree)), next_(V::set(step * V::kLanes)), one_(V::set(1)) {
    u64 first[V::kLanes];
    for (u64 k = 0; k < V::kLanes; ++k) {
      first[k] = k * step;
    }
    now = V::load(first);
  }
  /// All ones where the sign is negative, else 0.
  [[nodiscard]] RINGSMITH_INLINE Vec negative() const {
    return V::sub(V::set(0), V::bit_and(V::shift_right(now, log_degree_), one_));
  }
  RINGSMITH_INLINE void advance() { now = V::add(now, next_); }

  Vec now;

 private:
  int log_degree_;
  Vec next_, one_;
};

/// KernelSet::mask_signs.
template <typename V>
void mask_signs_of_words(u64 q, u64 g, const u64* in, u64* out, std::size_t degree) {
  const auto modulus = V::set(q);
  const auto one = V::set(1);
  Exponents<V> exponents(g, degree);
  for (std::size_t i = 0; i < degree; i += V::kLanes) {
    const auto kept = V::add(V::load(in + i), modulus);
    const auto negated = V::add(V::reduce_once(V::sub(kept, one), modulus), one);  // q for 0
    V::store(out + i, V::and_xor(V::bit_xor(kept, negated), exponents.negative(), kept));
    exponents.advance();
  }
}

/// KernelSet::automorph, for vectors whose gathers are fast.
template <typename V>
void automorph_gathered(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
  const auto modulus = V::set(q);
  const auto above = V::set(q + 1);  // ~word + q + 1 = q - word
  const auto positions = V::set(degree - 1);
  Exponents<V> exponents(step, degree);
  for (std::size_t i = 0; i < degree; i += V::kLanes) {
    const auto words = V::gather(in, V::bit_and(exponents.now, positions));
    const auto negative = exponents.negative();
    const auto moved = V::add(V::bit_xor(words, negative), V::bit_and(above, negative));
    V::store(out + i, V::reduce_once(moved, modulus));
    exponents.advance();
  }
}

/// KernelSet::automorph, for vectors of four words, which are loaded one by one. Exponents are at
/// the top of the lanes, where sums are modulo 2N and the sign bit is the first.
template <typename V>
void automorph_loaded(u64 q, u64 step, const u64* in, u64* out, std::size_t degree) {
  const int unused = 63 - __builtin_ctzll(degree);
  const u64 positions = degree - 1;
  const auto modulus = V::set(q);
  const auto next = V::set(4 * step << unused);
  const u64 first[4] = {0, step << unused, 2 * step << unused, 3 * step << unused};
  auto exponent = V::load(first);
  u64 at[4] = {0, step & positions, 2 * step & positions, 3 * step & positions};
  for (std::size_t i = 0; i < degree; i += 4) {
    const auto words = V::collect(in[at[0]], in[at[1]], in[at[2]], in[at[3]]);
    const auto moved = V::choose_by_sign(exponent, words, V::sub(modulus, words));
    V::store(out + i, V::reduce_once(moved, modulus));
    exponent = V::add(exponent, next);
    RINGSMITH_UNROLL
    for (u64& position : at) {
      position = (position + 4 * step) & positions;
    }
  }
}

}  // namespace
}  // namespace ringsmith::simd
