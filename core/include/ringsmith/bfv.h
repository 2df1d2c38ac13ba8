// BFV's parameters and plaintexts, over the ring and keys of rlwe.h.
//
// A plaintext is N coefficients in [0, t). A ciphertext is in coefficient form, as in SEAL.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ringsmith/lift_scale.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// RNS-BFV: data and special primes of an RlweContext, a plain modulus t, and extension primes.
/// Products are computed modulo data and extension primes. Immutable. Fan, Vercauteren 2012,
/// "Somewhat practical fully homomorphic encryption".
class BfvContext {
 public:
  /// The widest t, and the widest data prime: SEAL's bounds, below its own 61-bit primes.
  static constexpr int kMaxPlainBits = 60;

  /// @param plain_modulus    t, 2 ... 2^60 - 1, no multiple of a data prime
  /// @param extension_primes may be empty if nothing is multiplied. behz_extension_primes gives
  ///                         SEAL's, m_sk first; kHps accepts any NTT primes
  /// @throws ParameterError for an illegal t, t >= q, or a data prime of more than 60 bits
  BfvContext(std::shared_ptr<const RlweContext> rlwe, u64 plain_modulus,
             std::span<const u64> extension_primes);

  [[nodiscard]] const RlweContext& rlwe() const { return *rlwe_; }
  [[nodiscard]] const std::shared_ptr<const RlweContext>& shared_rlwe() const { return rlwe_; }
  /// Data, special, then extension primes; a subroutine graph's indices refer to this list.
  [[nodiscard]] const RnsContext& rns() const { return rns_; }
  [[nodiscard]] std::size_t degree() const { return rns_.degree(); }
  /// t.
  [[nodiscard]] const Modulus& plain_modulus() const { return plain_modulus_; }
  /// SEAL's gamma, the auxiliary prime of decryption.
  [[nodiscard]] const Modulus& gamma() const { return gamma_; }
  /// The NTT modulo t, if t is a prime and 1 mod 2N. Plaintexts are then vectors of N slots.
  [[nodiscard]] const std::optional<NttTables>& batching() const { return batching_; }
  /// Limbs of the lowest level: with fewer data primes, q does not exceed t.
  [[nodiscard]] std::size_t min_limbs() const { return min_limbs_; }
  /// The base of `limbs` data primes.
  /// @throws ParameterError unless min_limbs() <= limbs <= rlwe().max_limbs()
  [[nodiscard]] Base data_base(std::size_t limbs) const;
  /// Returns the extension primes for products of `limbs` limbs, as indices into rns().
  ///
  /// kBehz: SEAL's choice: m_sk and as many primes as there are limbs, one more if 32 + bits(t) +
  /// bits(q) >= 61 * (limbs + 1). kHps: the fewest primes whose product p satisfies p >= size * N *
  /// t * q.
  ///
  /// @param size number of polynomials of the smaller operand
  /// @throws ParameterError if there are too few primes, or for kBehz if one does not have 61 bits
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

/// Returns SEAL's extension primes for BEHZ: m_sk, then the primes of B, all of 61 bits.
/// @param primes the data primes
[[nodiscard]] std::vector<u64> behz_extension_primes(std::size_t degree,
                                                     std::span<const u64> primes,
                                                     u64 plain_modulus);

/// @throws ParameterError where t does not batch
void require_batching(const BfvContext& context);

/// Converts signed integers to residues modulo t: adds t to negative ones.
/// @throws ParameterError for a value outside -floor(t / 2) ... t - 1
[[nodiscard]] std::vector<u64> residues_of_signed(const BfvContext& context,
                                                  std::span<const i64> values);

/// Encodes N slot values in [0, t) as a plaintext. The first N/2 are row 0, at exponents 3^i mod
/// 2N; the others are row 1, at 2N - 3^i. SEAL's BatchEncoder::encode.
/// @throws ParameterError if t does not batch, for another count, or for a value of t or more
[[nodiscard]] std::vector<u64> bfv_encode(const BfvContext& context, std::span<const u64> values);
/// Returns the N slot values of a plaintext.
[[nodiscard]] std::vector<u64> bfv_decode(const BfvContext& context, std::span<const u64> plain);

/// Returns floor((q * m + floor((t + 1) / 2)) / t) for every coefficient m, to be added to a
/// ciphertext of `limbs` limbs. SEAL's multiply_add_plain_with_scaling_variant.
/// @return limbs * N words, coefficient form
[[nodiscard]] std::vector<u64> scale_plain(const BfvContext& context, std::span<const u64> plain,
                                           std::size_t limbs);
/// Lifts a plaintext for a product with a ciphertext of `limbs` limbs: coefficients m >= (t + 1) /
/// 2 become m - t, modulo each prime. A plaintext of one term stays unchanged if t is below every
/// prime, as in SEAL's multiply_plain_normal.
/// @return limbs * N words, coefficient form
[[nodiscard]] std::vector<u64> lift_plain(const BfvContext& context, std::span<const u64> plain,
                                          std::size_t limbs);

}  // namespace ringsmith
