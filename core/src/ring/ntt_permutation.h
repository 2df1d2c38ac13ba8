// What an automorphism does to a limb in NTT form.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ringsmith/types.h"
#include "simd/kernel_set.h"

namespace ringsmith {

/// @throws ParameterError unless element is odd and below 2N
void check_element(u64 element, std::size_t degree);

/// The element whose automorphism undoes that of an odd element: its inverse modulo 2N.
[[nodiscard]] u64 inverse_element(u64 element, std::size_t degree);

/// x -> x^element in NTT form: out[i] = in[j] with 2 brev(j) + 1 = element (2 brev(i) + 1) mod 2N.
/// SEAL's GaloisTool::apply_galois_ntt.
///
/// The three low bits of i are the three high bits of brev(i). With g the element, i = 8 b + r and
/// g (2 brev(8 b) + 1) = hi N / 4 + lo mod 2N, lo < N / 4, all j for one b have the same 2 brev(j)
/// + 1 modulo N / 4, which is lo, and above it (g brev3(r) + hi) mod 8: eight neighbours come from
/// eight neighbours, in one of eight orders, which hi chooses.
class NttPermutation {
 public:
  /// @param log_degree log2 N, at least 3
  /// @throws ParameterError unless element is odd and below 2N
  NttPermutation(int log_degree, u64 element);

  /// Permutes a limb. Not in place.
  void apply(std::span<const u64> in, std::span<u64> out) const;
  /// Where the words of an aligned run go, which is such a run again: a word's position is brev(i),
  /// and the low bits of j, which are the high bits of its new position, follow from the low bits
  /// of i.
  /// @param begin a multiple of `words`
  /// @param words a power of two, at least 8
  [[nodiscard]] std::size_t destination(std::size_t begin, std::size_t words) const;
  /// For kernels: the permuted limb from word `begin` on, a multiple of 8.
  [[nodiscard]] simd::Permutation from(std::size_t begin) const;
  /// For kernels: for each block from word `begin` on, a multiple of 8, where it goes, with the
  /// pattern by which it is permuted there.
  [[nodiscard]] simd::Permutation targets(std::size_t begin) const;
  /// Permutes an aligned run of a limb. Not in place.
  /// @param begin where `in` begins, a multiple of its size, which is a power of two, at least 8
  /// @param out   the block of the permuted limb that destination() returns
  void apply_run(std::size_t begin, std::span<const u64> in, std::span<u64> out) const;

 private:
  std::vector<std::uint32_t> blocks_;
  std::vector<std::uint32_t> targets_;
  std::array<u64[simd::kPermutedWords], simd::kPermutedWords> patterns_;
};

}  // namespace ringsmith
