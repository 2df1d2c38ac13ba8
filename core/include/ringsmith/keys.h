// Key generation, encryption and decryption: what the client does.
//
// A secret key is K * N words over all primes, NTT form, in memory that is wiped when freed.
// Randomness comes from the given source: SystemRandom, except in tests.
#pragma once

#include <span>

#include "ringsmith/ciphertext.h"
#include "ringsmith/ckks.h"
#include "ringsmith/sampling.h"
#include "ringsmith/secret_memory.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// A uniformly ternary secret: K * N words, NTT form.
[[nodiscard]] SecretVector<u64> generate_secret_key(const CkksContext& context,
                                                    RandomSource& random);

/// An encryption of zero at the key level: 2 * K * N words (b = -(a s + e), a), NTT form.
[[nodiscard]] std::vector<u64> generate_public_key(const CkksContext& context,
                                                   std::span<const u64> secret_key,
                                                   RandomSource& random);

/// The key that switches from s^2 to s, in KeySwitchKeyView's layout with dnum digits.
[[nodiscard]] std::vector<u64> generate_relin_key(const CkksContext& context,
                                                  std::span<const u64> secret_key,
                                                  RandomSource& random);

/// The key that switches from s(x^element) to s, in KeySwitchKeyView's layout with dnum digits.
/// @throws ParameterError unless element is odd and below 2N
[[nodiscard]] std::vector<u64> generate_galois_key(const CkksContext& context,
                                                   std::span<const u64> secret_key, u64 element,
                                                   RandomSource& random);

/// Public-key encryption: zero is encrypted one prime above the plaintext's level and divided back
/// with rounding, which shrinks its error; then the plaintext is added. SEAL's Encryptor::encrypt.
/// @param public_key 2 * K * N words
/// @param plain      limbs * N words, NTT form
[[nodiscard]] Ciphertext encrypt(const CkksContext& context, std::span<const u64> public_key,
                                 std::span<const u64> plain, RandomSource& random);

/// Secret-key encryption at the plaintext's level: (plain - (a s + e), a).
[[nodiscard]] Ciphertext encrypt_symmetric(const CkksContext& context,
                                           std::span<const u64> secret_key,
                                           std::span<const u64> plain, RandomSource& random);

/// c_0 + c_1 s + c_2 s^2 + ...: limbs * N words, NTT form.
[[nodiscard]] std::vector<u64> decrypt(const CkksContext& context, std::span<const u64> secret_key,
                                       CiphertextView ciphertext);

}  // namespace ringsmith
