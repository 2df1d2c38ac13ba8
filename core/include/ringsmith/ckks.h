// CKKS parameters as the evaluator sees them, and the encoder.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// The complex Fourier transform at the odd powers of exp(i * pi / N); the NTT's data flow.
class FourierTables {
 public:
  explicit FourierTables(std::size_t degree);

  /// In place: N coefficients to their values, value[i] at exponent 2 * brev(i) + 1.
  void forward(std::span<std::complex<double>> values) const;
  /// In place: values back to coefficients, times `factor` * N (give scale / N to scale by
  /// `scale`).
  void inverse(std::span<std::complex<double>> values, double factor) const;

 private:
  std::vector<std::complex<double>> roots_;  // roots_[i] = exp(i * pi / N)^brev(i)
};

/// RNS-CKKS with one special prime: base q_0 ... q_{L-1}, p. Immutable.
///
/// Cheon, Han, Kim, Kim, Song 2018, "A full RNS variant of approximate homomorphic encryption".
class CkksContext {
 public:
  /// @param primes data primes, then the special prime
  /// @throws ParameterError for fewer than two primes, and as RnsContext does
  CkksContext(std::size_t degree, std::span<const u64> primes);

  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  [[nodiscard]] const FourierTables& fourier() const { return fourier_; }
  [[nodiscard]] std::size_t degree() const { return rns_.degree(); }
  /// Values in one plaintext: N / 2.
  [[nodiscard]] std::size_t slots() const { return rns_.degree() / 2; }
  /// Limbs of a fresh ciphertext: the number of data primes.
  [[nodiscard]] std::size_t max_limbs() const { return rns_.size() - 1; }
  /// Index of the special prime.
  [[nodiscard]] std::size_t special() const { return rns_.size() - 1; }

  /// The base of `limbs` data primes.
  /// @throws ParameterError unless 1 <= limbs <= max_limbs()
  [[nodiscard]] Base data_base(std::size_t limbs) const;
  /// The same with the special prime after it: where key switching computes.
  [[nodiscard]] Base switching_base(std::size_t limbs) const;
  /// All primes: the key level.
  [[nodiscard]] Base key_base() const { return consecutive_base(rns_.size()); }

 private:
  RnsContext rns_;
  FourierTables fourier_;
};

/// Encodes up to N / 2 complex values; missing ones are zero.
///
/// Slot i is the value at zeta^(3^i mod 2N), zeta = exp(i * pi / N). Coefficients are multiplied by
/// `scale` and rounded half away from zero. As SEAL's CKKSEncoder::encode.
/// @param scale  positive, finite
/// @return       limbs * N words, NTT form
/// @throws ParameterError for too many or non-finite values, a bad scale, or coefficients that do
///         not fit the product of the `limbs` primes
[[nodiscard]] std::vector<u64> encode(const CkksContext& context,
                                      std::span<const std::complex<double>> values, double scale,
                                      std::size_t limbs);

/// The N / 2 complex values of a plaintext of any number of limbs up to max_limbs().
///
/// @param plain  limbs * N words, NTT form
/// @throws ParameterError for a bad scale or size
[[nodiscard]] std::vector<std::complex<double>> decode(const CkksContext& context,
                                                       std::span<const u64> plain, double scale);

}  // namespace ringsmith
