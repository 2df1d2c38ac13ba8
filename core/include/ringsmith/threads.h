// How many threads the library computes with.
#pragma once

#include <cstddef>

namespace ringsmith {

/// The most threads that can be asked for.
inline constexpr std::size_t kMaxThreads = 1024;

/// Threads that all computations of this process share: what set_threads was given, else the
/// environment variable RINGSMITH_THREADS, else the processors that this process may use (its
/// affinity, and the processor quota of its control group). Results never depend on it.
/// @throws ParameterError if the variable is no number from 1 to kMaxThreads
[[nodiscard]] std::size_t threads();

/// Sets that number. One thread starts no others; of more, as many work as the system gives. Safe
/// while computations run: they end with the threads that they have.
/// @throws ParameterError unless 1 <= count <= kMaxThreads
void set_threads(std::size_t count);

}  // namespace ringsmith
