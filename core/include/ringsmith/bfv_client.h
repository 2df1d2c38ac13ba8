// BFV encryption and decryption: what the client does. Keys are those of keys.h.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/bfv.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/sampling.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Public-key encryption of N coefficients in [0, t), at the first level.
/// @param public_key 2 * K * N words, NTT form
[[nodiscard]] Ciphertext bfv_encrypt(const BfvContext& context, std::span<const u64> public_key,
                                     std::span<const u64> plain, RandomSource& random);

/// Secret-key encryption of N coefficients in [0, t), at the first level.
[[nodiscard]] Ciphertext bfv_encrypt_symmetric(const BfvContext& context,
                                               std::span<const u64> secret_key,
                                               std::span<const u64> plain, RandomSource& random);

/// The N coefficients in [0, t) of a ciphertext of any size and level. SEAL's
/// RNSTool::decrypt_scale_and_round, also where the noise is too great and they are wrong.
///
/// Right while bfv_noise_budget is above 0. What somebody learns of whether decryptions go wrong
/// tells of the secret key.
[[nodiscard]] std::vector<u64> bfv_decrypt(const BfvContext& context,
                                           std::span<const u64> secret_key,
                                           CiphertextView ciphertext);

/// Bits that the invariant noise may still grow by: bits(q) - bits(|t * (c_0 + c_1 s + ...) mod q|)
/// - 1 with the largest centred coefficient, and 0 where that is negative. SEAL's
/// Decryptor::invariant_noise_budget.
[[nodiscard]] std::size_t bfv_noise_budget(const BfvContext& context,
                                           std::span<const u64> secret_key,
                                           CiphertextView ciphertext);

}  // namespace ringsmith
