// The CKKS encoder: complex vectors to plaintexts and back.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// The complex Fourier transform at the odd powers of exp(i * pi / N), with the NTT's data flow.
class FourierTables {
 public:
  explicit FourierTables(std::size_t degree);

  /// In place: N coefficients to their values, value[i] at exponent 2 * brev(i) + 1.
  void forward(std::span<std::complex<double>> values) const;
  /// In place: values back to coefficients, times `factor` * N (pass scale / N to scale by
  /// `scale`).
  void inverse(std::span<std::complex<double>> values, double factor) const;

 private:
  std::vector<std::complex<double>> roots_;  // roots_[i] = exp(i * pi / N)^brev(i)
};

/// Encodes vectors of up to N / 2 complex values as plaintexts in NTT form, and back.
///
/// Slot i is the value at zeta^(3^i mod 2N), zeta = exp(i * pi / N), as in SEAL's CKKSEncoder.
class CkksEncoder {
 public:
  explicit CkksEncoder(std::shared_ptr<const RlweContext> context);

  [[nodiscard]] const RlweContext& context() const { return *context_; }
  /// Values in one plaintext: N / 2.
  [[nodiscard]] std::size_t slots() const { return positions_.size(); }

  /// Encodes; missing values are zero. Coefficients are multiplied by `scale` and rounded half away
  /// from zero.
  /// @param scale  positive, finite
  /// @param extended  whether the special primes follow the data primes
  /// @return       (limbs, or with the special primes) * N words, NTT form
  /// @throws ParameterError for too many or non-finite values, a bad scale, or coefficients that do
  ///         not fit the product of the `limbs` primes
  [[nodiscard]] std::vector<u64> encode(std::span<const std::complex<double>> values, double scale,
                                        std::size_t limbs, bool extended = false) const;

  /// Decodes a plaintext of up to max_limbs() limbs to N / 2 complex values.
  ///
  /// @param plain  limbs * N words, NTT form
  /// @throws ParameterError for a bad scale or size
  [[nodiscard]] std::vector<std::complex<double>> decode(std::span<const u64> plain,
                                                         double scale) const;

 private:
  std::shared_ptr<const RlweContext> context_;
  FourierTables fourier_;
  std::vector<SlotPositions> positions_;
};

}  // namespace ringsmith
