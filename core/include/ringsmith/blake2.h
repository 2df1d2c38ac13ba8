// BLAKE2b (RFC 7693) and its extendable-output form BLAKE2Xb, as Microsoft SEAL uses them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "ringsmith/types.h"

namespace ringsmith {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

/// The tree parameters of one BLAKE2b call; the defaults are sequential hashing.
/// "BLAKE2: simpler, smaller, fast as MD5", section 2.5 and "BLAKE2X", section 2.
struct Blake2bParameters {
  std::uint8_t digest_length = 64;  // bytes, 1 ... 64
  std::uint8_t fanout = 1;
  std::uint8_t depth = 1;
  std::uint32_t leaf_length = 0;
  std::uint32_t node_offset = 0;
  std::uint32_t xof_length = 0;
  std::uint8_t node_depth = 0;
  std::uint8_t inner_length = 0;
};

/// BLAKE2b of `input` under `key` (at most 64 bytes, may be empty).
/// @throws ParameterError for a longer key or a digest length outside 1 ... 64
[[nodiscard]] Bytes blake2b(BytesView input, BytesView key, const Blake2bParameters& parameters);

/// BLAKE2Xb: `length` bytes of output from `input` under `key`.
/// @throws ParameterError for a key of more than 64 bytes
[[nodiscard]] Bytes blake2xb(BytesView input, BytesView key, std::uint32_t length);

/// SEAL's parms_id: the unkeyed BLAKE2b-256 of the words [scheme, N, q_0, ..., t].
using ParmsId = std::array<std::uint8_t, 32>;

/// The identifier of SEAL's encryption parameters (EncryptionParameters::compute_parms_id).
///
/// @param scheme        1 BFV, 2 CKKS, 3 BGV
/// @param degree        N
/// @param primes        all primes of the level, special prime included at the key level
/// @param plain_modulus t; 0 for CKKS, which still counts as one word
[[nodiscard]] ParmsId parms_id(std::uint8_t scheme, u64 degree, std::span<const u64> primes,
                               u64 plain_modulus);

}  // namespace ringsmith
