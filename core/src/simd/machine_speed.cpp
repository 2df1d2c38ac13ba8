#include "ringsmith/machine_speed.h"

#include <ctime>

#include "kernel_set.h"

namespace ringsmith {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Its results go here, so that no compiler leaves the work out.
volatile u64 sink;

}  // namespace

double read_seconds(std::span<const u64> words, bool in_turn) {
  constexpr std::size_t kSums = 8;
  const std::size_t length = words.size() / kSums;
  const std::size_t step = in_turn ? 1 : kSums;
  const std::size_t apart = in_turn ? length : 1;
  const double begin = thread_seconds();
  u64 sums[kSums] = {};
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < kSums; ++k) {
      sums[k] ^= words[i * step + k * apart];
    }
  }
  const double seconds = thread_seconds() - begin;
  for (const u64 sum : sums) {
    sink = sum;
  }
  return seconds;
}

double multiplication_seconds() {
  constexpr std::size_t kCount = 12 << 13;
  const double begin = thread_seconds();
  sink = simd::kernel_set().multiplications(kCount);
  return (thread_seconds() - begin) / static_cast<double>(kCount);
}

std::size_t multiplication_lanes() {
  const simd::KernelSet& set = simd::kernel_set();
  // The widest class has lanes of 64 bits in every set.
  return static_cast<std::size_t>(set.classes[set.class_count - 1].lanes);
}

}  // namespace ringsmith
