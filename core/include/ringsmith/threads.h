// The number of threads that the library uses.
#pragma once

#include <cstddef>

namespace ringsmith {

/// The largest number of threads.
inline constexpr std::size_t kMaxThreads = 1024;

/// Returns the number of threads that all computations of this process share. It is the value given
/// to set_threads, else the environment variable RINGSMITH_THREADS, else the number of processors
/// that this process may use (affinity and control-group quota). Results never depend on it.
/// @throws ParameterError if the variable is no number from 1 to kMaxThreads
[[nodiscard]] std::size_t threads();

/// Sets that number. With 1, no other thread is started; with more, as many work as the system
/// provides. Safe while computations run: they finish with the threads that they have.
/// @throws ParameterError unless 1 <= count <= kMaxThreads
void set_threads(std::size_t count);

}  // namespace ringsmith
