#include "ntt_permutation.h"

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {
namespace {

constexpr int kBlockBits = 3;
constexpr u64 kBlock = simd::kPermutedWords;
static_assert(kBlock == u64{1} << kBlockBits);

}  // namespace

void check_element(u64 element, std::size_t degree) {
  if (element % 2 == 0 || element >= 2 * degree) {
    throw ParameterError(text("Galois element ", element, " is not an odd number below 2N = ",
                              2 * degree, ": galois_element gives the one of a rotation"));
  }
}

u64 inverse_element(u64 element, std::size_t degree) {
  // Newton's iteration: x is right modulo 2^3, and each step doubles the bits.
  u64 x = element;
  for (int bits = 3; bits < 64; bits *= 2) {
    x *= 2 - element * x;
  }
  return x & (2 * degree - 1);
}

NttPermutation::NttPermutation(int log_degree, u64 element)
    : blocks_((std::size_t{1} << log_degree) / kBlock), targets_(blocks_.size()) {
  const u64 degree = u64{1} << log_degree;
  check_element(element, degree);
  for (u64 high = 0; high < kBlock; ++high) {
    for (u64 word = 0; word < kBlock; ++word) {
      const u64 moved = (element * reverse_bits(word, kBlockBits) + high) % kBlock;
      patterns_[high][word] = reverse_bits(moved, kBlockBits);
    }
  }
  std::vector<std::uint32_t> reversed(blocks_.size());  // of block numbers
  for (std::size_t i = 1; i < reversed.size(); ++i) {
    reversed[i] = static_cast<std::uint32_t>(reversed[i / 2] / 2 + (i % 2) * (blocks_.size() / 2));
  }
  const int low_bits = log_degree + 1 - kBlockBits;
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const u64 moved = (element * (2 * u64{reversed[block]} + 1)) & (2 * degree - 1);
    const u64 low = moved & ((u64{1} << low_bits) - 1);
    const u64 pattern = moved >> low_bits;
    const u64 source = reversed[low / 2];
    blocks_[block] = static_cast<std::uint32_t>(source * kBlock + pattern);
    targets_[source] = static_cast<std::uint32_t>(block * kBlock + pattern);
  }
}

void NttPermutation::apply(std::span<const u64> in, std::span<u64> out) const {
  simd::kernel_set().permute(in.data(), from(0), out.data(), out.size());
}

std::size_t NttPermutation::destination(std::size_t begin, std::size_t words) const {
  return targets_[begin / kBlock] / words * words;
}

void NttPermutation::apply_run(std::size_t begin, std::span<const u64> in,
                               std::span<u64> out) const {
  const std::size_t to = destination(begin, in.size());
  std::vector<std::uint32_t> blocks(in.size() / kBlock);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = blocks_[to / kBlock + i] - static_cast<std::uint32_t>(begin);
  }
  simd::kernel_set().permute(in.data(), {blocks.data(), patterns_.data()}, out.data(), in.size());
}

simd::Permutation NttPermutation::targets(std::size_t begin) const {
  return {&targets_[begin / kBlock], patterns_.data()};
}

simd::Permutation NttPermutation::from(std::size_t begin) const {
  return {&blocks_[begin / kBlock], patterns_.data()};
}

}  // namespace ringsmith
