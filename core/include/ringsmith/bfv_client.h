// BFV encryption and decryption, done by the client. keys.h makes the keys.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/bfv.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/sampling.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Encrypts N coefficients in [0, t) with the public key, at the first level.
/// @param public_key 2 * K * N words, NTT form
[[nodiscard]] Ciphertext bfv_encrypt(const BfvContext& context, std::span<const u64> public_key,
                                     std::span<const u64> plain, RandomSource& random);

/// Encrypts N coefficients in [0, t) with the secret key, at the first level.
[[nodiscard]] Ciphertext bfv_encrypt_symmetric(const BfvContext& context,
                                               std::span<const u64> secret_key,
                                               std::span<const u64> plain, RandomSource& random);

/// Decrypts a ciphertext of any size and level to N coefficients in [0, t). Bit for bit SEAL's
/// RNSTool::decrypt_scale_and_round, even if the noise is too large and the result is wrong.
///
/// The result is right if the noise never reached the modulus. bfv_noise_budget is 0 for most
/// results that are wrong, not for all. Do not reveal whether a decryption failed: that leaks
/// information about the secret key.
[[nodiscard]] std::vector<u64> bfv_decrypt(const BfvContext& context,
                                           std::span<const u64> secret_key,
                                           CiphertextView ciphertext);

/// Returns the bits that the invariant noise may still grow by: bits(q) - bits(|t * (c_0 + c_1 s +
/// ...) mod q|) - 1 with the largest centred coefficient, or 0 if that is negative. SEAL's
/// Decryptor::invariant_noise_budget. Noise that has wrapped around q may look small, so that a
/// positive budget does not prove a result right.
[[nodiscard]] std::size_t bfv_noise_budget(const BfvContext& context,
                                           std::span<const u64> secret_key,
                                           CiphertextView ciphertext);

}  // namespace ringsmith
