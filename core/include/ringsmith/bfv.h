// BFV's plaintexts and what its products are computed in, over the ring and keys of rlwe.h.
//
// A plaintext is N coefficients in [0, t). A ciphertext is in coefficient form, as SEAL's.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringsmith/lift_scale.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// RNS-BFV: data and special primes of an RlweContext, a plain modulus t, and the extension primes
/// that products are computed in beside the data primes. Immutable.
/// Fan, Vercauteren 2012, "Somewhat practical fully homomorphic encryption".
class BfvContext {
 public:
  /// The widest t, and the widest data prime: SEAL's bounds, below its own 61-bit primes.
  static constexpr int kMaxPlainBits = 60;

  /// @param plain_modulus    t, 2 ... 2^60 - 1, no multiple of a data prime
  /// @param extension_primes may be empty where nothing is multiplied; behz_extension_primes gives
  ///                         SEAL's, m_sk first, and any NTT primes serve kHps
  /// @throws ParameterError for an illegal t, t >= q, or a data prime of more than 60 bits
  BfvContext(std::shared_ptr<const RlweContext> rlwe, u64 plain_modulus,
             std::span<const u64> extension_primes);

  [[nodiscard]] const RlweContext& rlwe() const { return *rlwe_; }
  [[nodiscard]] const std::shared_ptr<const RlweContext>& shared_rlwe() const { return rlwe_; }
  /// Data, special, then extension primes: what the indices in a subroutine graph refer to.
  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  [[nodiscard]] std::size_t degree() const { return rns_.degree(); }
  /// t.
  [[nodiscard]] const Modulus& plain_modulus() const { return plain_modulus_; }
  /// SEAL's gamma, the auxiliary prime of decryption.
  [[nodiscard]] const Modulus& gamma() const { return gamma_; }
  /// The transform modulo t, where t is a prime and 1 mod 2N: then plaintexts are vectors of N
  /// slots.
  [[nodiscard]] const std::optional<NttTables>& batching() const { return batching_; }
  /// Limbs of the lowest level: fewer data primes make a q that does not exceed t.
  [[nodiscard]] std::size_t min_limbs() const { return min_limbs_; }
  /// The base of `limbs` data primes.
  /// @throws ParameterError unless min_limbs() <= limbs <= rlwe().max_limbs()
  [[nodiscard]] Base data_base(std::size_t limbs) const;
  /// The extension primes, as indices into rns(), that products at a level of `limbs` limbs take.
  ///
  /// kBehz: SEAL's choice: m_sk, and as many primes as there are limbs, one more where 32 + bits(t)
  /// + bits(q) >= 61 * (limbs + 1). kHps: the fewest whose product p holds p >= size * N * t * q.
  ///
  /// @param size polynomials of the smaller of two operands
  /// @throws ParameterError if there are not enough, or for kBehz not of 61 bits
  [[nodiscard]] Base extension_base(std::size_t limbs, Multiplication variant,
                                    std::size_t size = 2) const;

 private:
  std::shared_ptr<const RlweContext> rlwe_;
  Modulus plain_modulus_;
  Modulus gamma_;
  RnsContext rns_;
  std::optional<NttTables> batching_;
  std::size_t min_limbs_ = 1;
};

/// SEAL's extension primes for BEHZ: m_sk, then the primes of B, all of 61 bits.
/// @param primes the data primes
[[nodiscard]] std::vector<u64> behz_extension_primes(std::size_t degree,
                                                     std::span<const u64> primes,
                                                     u64 plain_modulus);

/// @throws ParameterError where t does not batch
void require_batching(const BfvContext& context);

/// Signed integers as residues modulo t: negative ones plus t.
/// @throws ParameterError for a value outside -floor(t / 2) ... t - 1
[[nodiscard]] std::vector<u64> residues_of_signed(const BfvContext& context,
                                                  std::span<const i64> values);

/// N slot values in [0, t) to a plaintext: the first N/2 are row 0, at exponents 3^i mod 2N, the
/// others row 1, at 2N - 3^i. SEAL's BatchEncoder::encode.
/// @throws ParameterError where t does not batch, or for another count or a value of t or more
[[nodiscard]] std::vector<u64> bfv_encode(const BfvContext& context, std::span<const u64> values);
/// The N slot values of a plaintext.
[[nodiscard]] std::vector<u64> bfv_decode(const BfvContext& context, std::span<const u64> plain);

/// floor((q * m + floor((t + 1) / 2)) / t) for every coefficient m: what is added to a ciphertext
/// of `limbs` limbs. SEAL's multiply_add_plain_with_scaling_variant.
/// @return limbs * N words, coefficient form
[[nodiscard]] std::vector<u64> scale_plain(const BfvContext& context, std::span<const u64> plain,
                                           std::size_t limbs);
/// Coefficients m >= (t + 1) / 2 as m - t, modulo the primes of `limbs` limbs: what multiplies a
/// ciphertext. Only a plaintext of one term stays as it is where t is below every prime, as in
/// SEAL's multiply_plain_normal.
/// @return limbs * N words, coefficient form
[[nodiscard]] std::vector<u64> lift_plain(const BfvContext& context, std::span<const u64> plain,
                                          std::size_t limbs);

}  // namespace ringsmith
