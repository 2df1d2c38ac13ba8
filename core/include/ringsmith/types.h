// Integer types that the whole library uses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringsmith {

using u64 = std::uint64_t;
using i64 = std::int64_t;
__extension__ using u128 = unsigned __int128;

/// Upper 64 bits of the 128-bit product a * b.
[[nodiscard]] constexpr u64 multiply_high(u64 a, u64 b) {
  return static_cast<u64>((static_cast<u128>(a) * b) >> 64);
}

/// Reverses the lowest `bits` bits of `value`; the bits above them must be zero.
[[nodiscard]] constexpr u64 reverse_bits(u64 value, int bits) {
  u64 reversed = 0;
  for (int i = 0; i < bits; ++i) {
    reversed = (reversed << 1) | ((value >> i) & 1);
  }
  return reversed;
}

}  // namespace ringsmith
