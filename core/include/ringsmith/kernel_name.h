// Which arithmetic kernels this processor has and this process uses.
#pragma once

#include <string>
#include <vector>

namespace ringsmith {

/// The kernel set that this process computes with: what the environment variable RINGSMITH_KERNEL
/// names, else the last of kernel_names(). Chosen at the first call of this or of any arithmetic.
/// @throws ParameterError if RINGSMITH_KERNEL is none of kernel_names()
[[nodiscard]] std::string kernel_name();

/// The kernel sets that this build and this processor have, slowest first: "scalar", and of "avx2",
/// "avx512", "avx512ifma" those there are. All compute the same words.
[[nodiscard]] std::vector<std::string> kernel_names();

}  // namespace ringsmith
