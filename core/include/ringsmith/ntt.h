// The negacyclic number-theoretic transform of one limb.
#pragma once

#include <memory>
#include <span>

#include "ringsmith/modulus.h"
#include "ringsmith/types.h"

namespace ringsmith {

namespace simd {
struct NttPlan;
struct PrimeKernels;
}  // namespace simd

/// Negacyclic NTT over Z_q[x] / (x^N + 1) for one prime and one root.
///
/// Forward: natural order in, bit-reversed order out, output[i] = a(root^(2 * brev(i) + 1)), where
/// brev reverses log2 N bits. Inverse: the same backwards, with the division by N.
/// Cooley-Tukey and Gentleman-Sande butterflies with the lazy ranges of Harvey 2014; the twist by
/// powers of the 2N-th root is merged into them (Roy et al. 2014; Pöppelmann et al. 2015).
/// Copies share their tables.
class NttTables {
 public:
  /// @param degree N, a power of two in 2^8 ... 2^16
  /// @param root   a primitive 2N-th root of unity modulo the prime
  /// @throws ParameterError if the degree or the root is not of that kind
  NttTables(const Modulus& modulus, std::size_t degree, u64 root);

  [[nodiscard]] const Modulus& modulus() const { return modulus_; }
  [[nodiscard]] std::size_t degree() const { return degree_; }
  [[nodiscard]] u64 root() const { return root_; }

  /// In place on N canonical words; canonical results.
  void forward(std::span<u64> limb) const;
  /// In place on N canonical words; canonical results.
  void inverse(std::span<u64> limb) const;

  /// From the N words in[i] + offset, below `bound` and of any prime, to canonical results; may be
  /// in place. The words are shifted and reduced modulo this prime while they are first read.
  /// @param bound at most 2^62
  void forward(std::span<const u64> in, u64 bound, u64 offset, std::span<u64> out) const;
  /// From N canonical words to canonical results; may be in place.
  void inverse(std::span<const u64> in, std::span<u64> out) const;
  /// The same times `factor` and plus `offset`, both canonical; may be in place.
  void inverse(std::span<const u64> in, u64 factor, u64 offset, std::span<u64> out) const;

  /// Returns the transform of the sign-correction polynomial, whose coefficients are all 1 / 2. It
  /// is computed at the first call.
  [[nodiscard]] std::span<const u64> halves() const;

  /// The tables that this prime's modulus-size kernels read (src/simd/kernel_set.h).
  [[nodiscard]] const simd::NttPlan& plan() const { return *plan_; }
  /// This prime's modulus-size kernels.
  [[nodiscard]] const simd::PrimeKernels& kernels() const { return *kernels_; }

 private:
  Modulus modulus_;
  std::size_t degree_;
  u64 root_;
  u64 inverse_degree_;
  u64 last_backward_;  // N^-1 times the factor of the inverse's last layer
  const simd::PrimeKernels* kernels_;
  std::shared_ptr<const simd::NttPlan> plan_;
  struct Halves;
  std::shared_ptr<Halves> halves_;
};

}  // namespace ringsmith
