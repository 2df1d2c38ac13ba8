// The parameters that CKKS and BFV share: a ring, its primes, and the digits of key switching.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "ringsmith/rns.h"
#include "ringsmith/sampling.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// RLWE over the base q_0 ... q_{L-1}, p_0 ... p_{k-1}: data primes, then special primes.
/// Immutable.
///
/// Digits are consecutive data primes, of given numbers, or dnum digits of ceil(L / dnum) primes
/// each of which the last may have fewer. A polynomial of fewer limbs has the first digits, the
/// last of them cut off. Without special primes, keys are at the data level and nothing is divided.
/// Their digits then have a number of bits, or are residue digits if dnum is given: a polynomial
/// modulo each digit's primes. Cheon, Han, Kim, Kim, Song 2018, "A full RNS variant of approximate
/// homomorphic encryption"; Han, Ki 2020, "Better bootstrapping for approximate homomorphic
/// encryption", section 3.
class RlweContext {
 public:
  /// @param primes  data primes, then the special primes
  /// @param special number k of special primes
  /// @param dnum    number of digits; 0: one data prime a digit (SEAL's and Medha's case), and
  ///                without special primes no residue digits
  /// @param error   error distribution of keys and encryptions
  /// @param digit_sizes data primes in each digit, in place of dnum; empty: dnum says
  /// @throws ParameterError unless a data prime is left and dnum digits of equal size (the last may
  ///         be smaller, none empty), or those of digit_sizes, make up the data primes, and as
  ///         RnsContext does
  RlweContext(std::size_t degree, std::span<const u64> primes, std::size_t special = 1,
              std::size_t dnum = 0, ErrorDistribution error = ErrorDistribution(),
              std::span<const std::size_t> digit_sizes = {});

  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  [[nodiscard]] const ErrorDistribution& error() const { return error_; }
  [[nodiscard]] std::size_t degree() const { return rns_.degree(); }
  /// Limbs of a fresh ciphertext: the number of data primes.
  [[nodiscard]] std::size_t max_limbs() const { return rns_.size() - special_; }
  /// The special primes; may be empty.
  [[nodiscard]] Base special_base() const { return consecutive_base(special_, max_limbs()); }
  /// Whether key-switching keys without bit digits have residue digits: exact, with no division by
  /// special primes.
  [[nodiscard]] bool residue_digits() const { return residue_digits_; }
  /// Number of digits of every key-switching key without bit digits.
  [[nodiscard]] std::size_t dnum() const { return digit_starts_.size(); }
  /// Number of digits that a polynomial of `limbs` limbs has.
  [[nodiscard]] std::size_t digits(std::size_t limbs) const {
    return std::ranges::lower_bound(digit_starts_, limbs) - digit_starts_.begin();
  }
  /// The primes of one digit of a polynomial of `limbs` limbs, index below digits(limbs).
  [[nodiscard]] Base digit(std::size_t index, std::size_t limbs) const {
    const std::size_t first = digit_starts_[index];
    const std::size_t next = index + 1 < dnum() ? digit_starts_[index + 1] : max_limbs();
    return consecutive_base(std::min(next, limbs) - first, first);
  }
  /// Number of digits of `word_bits` bits in a coefficient of `limbs` limbs; the last may be
  /// shorter.
  /// @throws ParameterError unless word_bits is at least 1 and `limbs` a data level
  [[nodiscard]] std::size_t words(std::size_t limbs, std::size_t word_bits) const;

  /// The base of `limbs` data primes.
  /// @throws ParameterError unless 1 <= limbs <= max_limbs()
  [[nodiscard]] Base data_base(std::size_t limbs) const;
  /// The same, followed by the special primes: the base of key switching.
  [[nodiscard]] Base switching_base(std::size_t limbs) const;
  /// All primes: the key level.
  [[nodiscard]] Base key_base() const { return consecutive_base(rns_.size()); }

 private:
  RnsContext rns_;
  ErrorDistribution error_;
  std::size_t special_;
  std::vector<std::size_t> digit_starts_;  // the first data prime of each digit
  bool residue_digits_;
};

/// Positions of slot i and its partner in bit-reversed order.
struct SlotPositions {
  std::size_t value;    ///< of the exponent 3^i mod 2N
  std::size_t partner;  ///< of the exponent 2N - 3^i: CKKS's conjugate, BFV's second row
};

/// For i = 0 ... N/2 - 1. SEAL's matrix_reps_index_map.
[[nodiscard]] std::vector<SlotPositions> slot_positions(std::size_t degree);

}  // namespace ringsmith
