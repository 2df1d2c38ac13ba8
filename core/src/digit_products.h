// The inner loop of key switching: digits times keys, one prime at a time.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"
#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// One digit of a polynomial; the spans belong to the caller.
struct Digit {
  Base primes;
  std::span<const u64> coefficients;  ///< its limbs in coefficient form
  std::span<const u64> values;        ///< its limbs in NTT form if they are known, else empty
};

/// mod_up, ntt and ksk_inner_product as one pass: only one prime's limbs of all digits are in
/// memory, each digit is reduced while its transform first reads it, and each key word is read
/// once.
class DigitProducts {
 public:
  /// @throws ParameterError if there is no digit, one has no prime, or a size differs
  DigitProducts(const RnsContext& context, std::vector<Digit> digits);

  /// out_h = sum over d of ModUp(digit d) * key_h[d] at one prime, in NTT form.
  ///
  /// @param keys_0 for each digit its key's first half over the context's first primes, this prime
  ///               among them
  /// @param keys_1 the same of the second half
  /// @param out_0  N words
  /// @param out_1  N words
  void at(std::size_t prime, std::span<const std::span<const u64>> keys_0,
          std::span<const std::span<const u64>> keys_1, std::span<u64> out_0,
          std::span<u64> out_1) const;

 private:
  // Digit `index` at a prime, in NTT form: in `words`, or where it is known already.
  const u64* raise(std::size_t index, std::size_t prime, std::span<u64> words) const;

  const RnsContext& context_;
  std::vector<Digit> digits_;
  Words complements_;                   // of digits of several primes: [x_i (D / d_i)^-1] in d_i
  std::vector<std::span<u64>> scaled_;  // where each digit's are; empty for a digit of one prime
};

}  // namespace ringsmith::kernels
