#include "process_mutex.h"

#include <array>
#include <cstddef>
#include <ranges>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace ringsmith {
namespace {

constexpr std::size_t kCount = static_cast<std::size_t>(Guarded::kMemoryPool) + 1;
using Mutexes = std::array<std::mutex, kCount>;

Mutexes& mutexes();

void lock_all() {
  for (std::mutex& each : mutexes()) {
    each.lock();
  }
}

void unlock_all() {
  for (std::mutex& each : mutexes() | std::views::reverse) {
    each.unlock();
  }
}

// Never destroyed: vectors with static lifetime may give memory back after the end of main.
Mutexes& mutexes() {
  static Mutexes* const only = [] {
    auto* const made = new Mutexes;
#if defined(__linux__)
    pthread_atfork(lock_all, unlock_all, unlock_all);
#endif
    return made;
  }();
  return *only;
}

// Made before there are threads: a fork may not find them half made.
[[maybe_unused]] const Mutexes& made_first = mutexes();

}  // namespace

std::mutex& process_mutex(Guarded what) { return mutexes()[static_cast<std::size_t>(what)]; }

}  // namespace ringsmith
