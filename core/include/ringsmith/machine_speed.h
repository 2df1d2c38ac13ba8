// What the machine can do at best, to stand beside what an operation takes.
#pragma once

#include <cstddef>
#include <span>

#include "ringsmith/types.h"

namespace ringsmith {

/// CPU seconds of this thread to read the words once, in eight places in turn or one after another.
[[nodiscard]] double read_seconds(std::span<const u64> words, bool in_turn);

/// CPU seconds for one of the active kernel set's vector multiplications (of 52-bit words with
/// IFMA, of 32-bit halves else; of words in the scalar set), many of them independent of each
/// other, in registers.
[[nodiscard]] double multiplication_seconds();

/// Words that such a multiplication multiplies.
[[nodiscard]] std::size_t multiplication_lanes();

}  // namespace ringsmith
