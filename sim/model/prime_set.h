// What an RPAU knows of one of its primes: modulus, twiddle tables, constants.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/program.h"
#include "ringsmith/modulus.h"
#include "ringsmith/ntt.h"
#include "ringsmith/types.h"

namespace ringsmith::sim {

/// One prime set. Tables may be written in any order; they are held against the modulus when an
/// instruction first needs them, and again after one of them was written anew.
class PrimeSet {
 public:
  explicit PrimeSet(const Design& design) : design_(design) {}

  // What the host writes. Lengths must be right; words must fit the design's word width.

  void write_constants(std::span<const u64> words);
  /// @param words q; mu = floor(2^(W+k) / q) - 2^W, or 0 in a design of sparse primes; k, the bits
  ///        of q; the index of q among the design's sparse primes, or 0
  /// @throws ModelError if a word is not what q asks for, or q is no legal modulus
  void write_modulus(std::span<const u64> words);
  void write_twiddle_lo(std::span<const u64> words);
  void write_twiddle_hi(std::span<const u64> words);
  /// @param words psi^brev(j) for 0 <= j < N, in a design that stores all factors; otherwise those
  ///        of an NTT's first steps: psi^(N/2), once for each core, and psi^(N - brev(N/2 + b)) for
  ///        the first blocks b of the inverse transform
  void write_twiddles(std::span<const u64> words);

  // What instructions use. Each throws ModelError if it was never written or is not what it should
  // be.

  [[nodiscard]] const Modulus& modulus() const;
  [[nodiscard]] const NttTables& tables();
  [[nodiscard]] u64 constant(int index) const;

 private:
  [[nodiscard]] u64 generated_root() const;
  void expect_first_twiddles(u64 root) const;
  [[nodiscard]] u64 stored_root() const;

  Design design_;
  std::optional<Modulus> modulus_;
  std::optional<NttTables> tables_;
  std::vector<u64> constants_;
  std::vector<u64> twiddle_lo_;
  std::vector<u64> twiddle_hi_;
  std::vector<u64> twiddles_;
};

/// @throws ModelError unless there are `size` words
void expect_size(std::span<const u64> words, std::size_t size);

}  // namespace ringsmith::sim
