// Locks of the whole process that a fork leaves open.
#pragma once

#include <cstdint>
#include <mutex>

namespace ringsmith {

// What a lock guards, in the order in which one thread may take several.
enum class Guarded : std::uint8_t { kKeyLevels, kMemoryPool };

// The process's lock. A thread that forks takes all of them first, so that its child finds what
// they guard whole, and no lock held by a thread that the child does not have.
[[nodiscard]] std::mutex& process_mutex(Guarded what);

}  // namespace ringsmith
