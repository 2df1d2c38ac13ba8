// CKKS parameters as the evaluator sees them, and the encoder.
#pragma once

#include <algorithm>
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

/// RNS-CKKS: base q_0 ... q_{L-1}, p_0 ... p_{k-1}, and how key switching cuts it. Immutable.
///
/// Digit j of dnum is the data primes j * a ... min((j + 1) * a, L) - 1 with a = ceil(L / dnum).
/// Cheon, Han, Kim, Kim, Song 2018, "A full RNS variant of approximate homomorphic encryption";
/// Han, Ki 2020, "Better bootstrapping for approximate homomorphic encryption", section 3.
class CkksContext {
 public:
  /// @param primes  data primes, then the special primes
  /// @param special number k of special primes, at least 1
  /// @param dnum    number of digits; 0 for one data prime a digit, SEAL's and Medha's case
  /// @throws ParameterError unless a data prime is left and dnum digits of equal size (the last may
  ///         be smaller, none empty) make up the data primes, and as RnsContext does
  CkksContext(std::size_t degree, std::span<const u64> primes, std::size_t special = 1,
              std::size_t dnum = 0);

  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  [[nodiscard]] const FourierTables& fourier() const { return fourier_; }
  [[nodiscard]] std::size_t degree() const { return rns_.degree(); }
  /// Values in one plaintext: N / 2.
  [[nodiscard]] std::size_t slots() const { return rns_.degree() / 2; }
  /// Limbs of a fresh ciphertext: the number of data primes.
  [[nodiscard]] std::size_t max_limbs() const { return rns_.size() - special_; }
  /// The special primes.
  [[nodiscard]] Base special_base() const { return consecutive_base(special_, max_limbs()); }
  /// Number of digits of every key-switching key.
  [[nodiscard]] std::size_t dnum() const { return digits(max_limbs()); }
  /// Number of digits that a polynomial of `limbs` limbs has.
  [[nodiscard]] std::size_t digits(std::size_t limbs) const {
    return (limbs + digit_size_ - 1) / digit_size_;
  }
  /// The primes of one digit of a polynomial of `limbs` limbs, index below digits(limbs).
  [[nodiscard]] Base digit(std::size_t index, std::size_t limbs) const {
    const std::size_t first = index * digit_size_;
    return consecutive_base(std::min(digit_size_, limbs - first), first);
  }

  /// The base of `limbs` data primes.
  /// @throws ParameterError unless 1 <= limbs <= max_limbs()
  [[nodiscard]] Base data_base(std::size_t limbs) const;
  /// The same with the special primes after it: where key switching computes.
  [[nodiscard]] Base switching_base(std::size_t limbs) const;
  /// All primes: the key level.
  [[nodiscard]] Base key_base() const { return consecutive_base(rns_.size()); }

 private:
  RnsContext rns_;
  FourierTables fourier_;
  std::size_t special_;
  std::size_t digit_size_ = 1;  // data primes in a digit
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
