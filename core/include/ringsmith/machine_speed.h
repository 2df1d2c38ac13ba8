// The machine's peak speeds, for roofline bounds of operations.
#pragma once

#include <cstddef>
#include <span>

#include "ringsmith/types.h"

namespace ringsmith {

/// Returns the CPU seconds of this thread to read the words once: in eight interleaved streams if
/// `in_turn`, else sequentially.
[[nodiscard]] double read_seconds(std::span<const u64> words, bool in_turn);

/// Returns the CPU seconds for one vector multiplication of the active kernel set: of 52-bit words
/// with IFMA, of words in the scalar set, else of 32-bit halves. It is measured with many
/// independent multiplications in registers.
[[nodiscard]] double multiplication_seconds();

/// Returns how many words one such multiplication processes.
[[nodiscard]] std::size_t multiplication_lanes();

}  // namespace ringsmith
