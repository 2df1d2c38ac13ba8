#include "ringsmith/machine_speed.h"

#include <ctime>

#include "simd/kernel_set.h"

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

double read_seconds(std::span<const u64> words) {
  constexpr std::size_t kStreams = 8;
  const std::size_t length = words.size() / kStreams;
  const double begin = thread_seconds();
  u64 sums[kStreams] = {};
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      sums[stream] ^= words[stream * length + i];
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
  return static_cast<std::size_t>(simd::kernel_set().classes[0].lanes);
}

}  // namespace ringsmith
