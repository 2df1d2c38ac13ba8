// Primality, the search for NTT primes in Microsoft SEAL's order, and roots of unity.
#pragma once

#include <vector>

#include "ringsmith/modulus.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// Smallest and largest ring degree N: Z_q[x] / (x^N + 1) with N a power of two.
inline constexpr std::size_t kMinDegree = std::size_t{1} << 8;
inline constexpr std::size_t kMaxDegree = std::size_t{1} << 16;

/// log2 of the ring degree.
/// @throws ParameterError unless `degree` is a power of two in [kMinDegree, kMaxDegree]
[[nodiscard]] int log2_degree(std::size_t degree);

/// Checks whether `value` is prime: Miller-Rabin with the twelve smallest prime bases, which is a
/// proof for every 64-bit number (Sorenson, Webster 2015).
[[nodiscard]] bool is_prime(u64 value);

/// The `count` largest primes of exactly `bits` bits with q = 1 mod 2N, largest first.
///
/// The search starts at floor((2^bits - 1) / 2N) * 2N + 1 and steps down by 2N, as SEAL's
/// util::get_primes does; SEAL's CoeffModulus::Create returns the same primes, smallest first.
///
/// @param bits   2 ... 61
/// @throws ParameterError for an illegal size or degree, or if there are not that many primes
[[nodiscard]] std::vector<u64> prime_search(int bits, std::size_t degree, std::size_t count);

/// Whether `root` is a primitive 2N-th root of unity modulo the prime q: root^N = -1.
[[nodiscard]] bool is_primitive_root(const Modulus& modulus, std::size_t degree, u64 root);

/// The numerically smallest primitive 2N-th root of unity modulo the prime q, which is SEAL's.
/// @throws ParameterError if q is not a prime with q = 1 mod 2N
[[nodiscard]] u64 smallest_root(const Modulus& modulus, std::size_t degree);

}  // namespace ringsmith
