// The arithmetic kernels that this processor supports and this process uses.
#pragma once

#include <string>
#include <vector>

namespace ringsmith {

/// Returns the kernel set that this process uses: the one that the environment variable
/// RINGSMITH_KERNEL names, else the last of kernel_names(). It is chosen at the first call of this
/// function or of any arithmetic.
/// @throws ParameterError if RINGSMITH_KERNEL is not in kernel_names()
[[nodiscard]] std::string kernel_name();

/// Returns the kernel sets of this build that this processor supports, slowest first: "scalar",
/// "avx2", "avx512", "avx512ifma". All compute the same words.
[[nodiscard]] std::vector<std::string> kernel_names();

}  // namespace ringsmith
