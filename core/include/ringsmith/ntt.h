// The negacyclic number-theoretic transform of one limb.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/modulus.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Negacyclic NTT over Z_q[x] / (x^N + 1) for one prime and one root.
///
/// Forward: natural order in, bit-reversed order out, output[i] = a(root^(2 * brev(i) + 1)), where
/// brev reverses log2 N bits. Inverse: the same backwards, with the division by N.
/// Cooley-Tukey and Gentleman-Sande butterflies with the lazy ranges of Harvey 2014; the twist by
/// powers of the 2N-th root is merged into them (Roy et al. 2014; Pöppelmann et al. 2015).
class NttTables {
 public:
  /// @param degree N, a power of two in 2^8 ... 2^16
  /// @param root   a primitive 2N-th root of unity modulo the prime
  /// @throws ParameterError if the degree or the root is not of that kind
  NttTables(const Modulus& modulus, std::size_t degree, u64 root);

  [[nodiscard]] const Modulus& modulus() const { return modulus_; }
  [[nodiscard]] std::size_t degree() const { return forward_.size(); }
  [[nodiscard]] u64 root() const { return root_; }

  /// In place on N canonical words; canonical results.
  void forward(std::span<u64> limb) const;
  /// In place on N canonical words; canonical results.
  void inverse(std::span<u64> limb) const;

 private:
  Modulus modulus_;
  u64 root_;
  std::vector<ShoupFactor> forward_;   // forward_[i] = root^brev(i)
  std::vector<ShoupFactor> backward_;  // backward_[i] = root^-brev(i)
  ShoupFactor inverse_degree_;         // N^-1
  ShoupFactor last_backward_;          // N^-1 * backward_[1], for the last inverse stage
};

}  // namespace ringsmith
