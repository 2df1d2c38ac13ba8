// Key generation, encryption and decryption, done by the client.
//
// Both schemes use the same keys; a ciphertext is in NTT form in CKKS, in coefficient form in BFV.
// A secret key is K * N words over all primes, NTT form, in memory that is wiped when freed.
// Randomness comes from the given source: SystemRandom, except in tests.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/sampling.h"
#include "ringsmith/secret_memory.h"
#include "ringsmith/trivium.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Generates a uniformly ternary secret key: K * N words, NTT form.
[[nodiscard]] SecretVector<u64> generate_secret_key(const RlweContext& context,
                                                    RandomSource& random);

/// Generates an encryption of zero at the key level: 2 * K * N words (b = -(a s + e), a), NTT form.
[[nodiscard]] std::vector<u64> generate_public_key(const RlweContext& context,
                                                   std::span<const u64> secret_key,
                                                   RandomSource& random);

/// Generates the key that switches from s^2 to s, in KeySwitchKeyView's layout.
///
/// @param word_bits 0: dnum digits, RNS or residue digits; else digits of this many bits, as many
/// as
///                  the product of all data primes has
/// @param key_seed  seed of the a part (expand_key_half), never used before with this secret key;
///                  null: the a part is drawn from `random`
/// @param limbs     0: the full key; else of a truncated key, for ciphertexts of up to this many
///                  limbs: it has their digits, and limbs for their primes and the special primes.
///                  The a part of a seed is the full key's in those limbs
/// @throws ParameterError for RNS digits without a special prime, unless they are residue digits,
///         and for more limbs than the context has
[[nodiscard]] std::vector<u64> generate_relin_key(const RlweContext& context,
                                                  std::span<const u64> secret_key,
                                                  RandomSource& random, std::size_t word_bits = 0,
                                                  const KeySeed* key_seed = nullptr,
                                                  std::size_t limbs = 0);

/// Generates the key that switches from s(x^element) to s; parameters as for generate_relin_key.
/// @throws ParameterError unless element is odd and below 2N
[[nodiscard]] std::vector<u64> generate_galois_key(const RlweContext& context,
                                                   std::span<const u64> secret_key, u64 element,
                                                   RandomSource& random, std::size_t word_bits = 0,
                                                   const KeySeed* key_seed = nullptr,
                                                   std::size_t limbs = 0);

/// What the keys to and from an ephemeral sparse secret are made for.
struct SparseSecret {
  std::size_t weight = 0;   ///< coefficients of the secret that are not zero
  std::size_t limbs = 0;    ///< data limbs of what is switched to it: the lowest level of a set
  std::size_t special = 0;  ///< special primes, from the first, of the key that switches to it
  std::size_t raised = 0;   ///< data limbs of what is switched back
};

/// The keys to and from an ephemeral sparse secret, in KeySwitchKeyView's layout.
struct SparseKeys {
  /// From s to the sparse secret: one digit, over the primes of the lowest level and some special
  /// primes only.
  std::vector<u64> to_sparse;
  /// From the sparse secret to s: as of a relinearization key for `raised` limbs.
  std::vector<u64> from_sparse;
};

/// The largest modulus, in bits, that a key to a sparse secret may have.
inline constexpr std::size_t kMaxSparseBits = 121;

/// Generates the keys to and from an ephemeral sparse secret, which is forgotten.
///
/// Encryptions under the sparse secret exist modulo the primes of its key only. For weight 32 and
/// at most 121 bits this has 128 bits of security from N = 2^15 on (Bossuat, Troncoso-Pastoriza,
/// Hubaux 2022, eprint 2022/024, sparse-secret encapsulation).
/// @param seeds seeds of the a parts of both keys, as `key_seed` above; null: drawn from `random`
/// @throws ParameterError when the primes of the key to the sparse secret have more than
///         kMaxSparseBits bits, or the context has fewer
[[nodiscard]] SparseKeys generate_sparse_keys(const RlweContext& context,
                                              std::span<const u64> secret_key,
                                              const SparseSecret& sparse, RandomSource& random,
                                              const std::array<KeySeed, 2>* seeds = nullptr);

/// Encrypts with the public key. Zero is encrypted one prime above the message's level, if there is
/// one, then divided by that prime with rounding. This reduces its error. Then the message is
/// added. SEAL's Encryptor::encrypt.
/// @param form       of message and result: NTT for CKKS, coefficients for BFV
/// @param public_key 2 * K * N words, NTT form
/// @param message    limbs * N words
[[nodiscard]] Ciphertext encrypt(const RlweContext& context, Form form,
                                 std::span<const u64> public_key, std::span<const u64> message,
                                 RandomSource& random);

/// Encrypts with the secret key at the message's level: (message - (a s + e), a).
/// @param form       of message and result
[[nodiscard]] Ciphertext encrypt_symmetric(const RlweContext& context, Form form,
                                           std::span<const u64> secret_key,
                                           std::span<const u64> message, RandomSource& random);

/// c_0 + c_1 s + c_2 s^2 + ...: limbs * N words. CKKS's decryption; the phase of BFV's.
/// @param form       of ciphertext and result
[[nodiscard]] std::vector<u64> decrypt(const RlweContext& context, Form form,
                                       std::span<const u64> secret_key, CiphertextView ciphertext);

}  // namespace ringsmith
