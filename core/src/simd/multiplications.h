// Multiplications for their own sake. Only for the kernel sets' own source files (see transform.h).
#pragma once

#include "transform.h"

namespace ringsmith::simd {
namespace {

/// KernelSet::multiplications with `multiply`, a function of two vectors.
template <typename V, auto multiply>
u64 multiplications(std::size_t count) {
  constexpr std::size_t kIndependent = 12;  // as many as are on their way at once
  typename V::Vec values[kIndependent];
  for (std::size_t i = 0; i < kIndependent; ++i) {
    values[i] = V::set(2 * i + 1);
  }
  const auto factor = V::set(0x123456789abcdef);
  for (std::size_t i = 0; i < count; i += kIndependent) {
    RINGSMITH_UNROLL
    for (std::size_t k = 0; k < kIndependent; ++k) {
      values[k] = multiply(values[k], factor);
    }
  }
  auto total = values[0];
  for (std::size_t i = 1; i < kIndependent; ++i) {
    total = V::add(total, values[i]);
  }
  u64 words[V::kLanes];
  V::store(words, total);
  return words[0];
}

}  // namespace
}  // namespace ringsmith::simd
