// Words that a computation needs for a moment.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/aligned_memory.h"

namespace ringsmith {

/// take_memory() of a block that is given back soon, and may be up to twice as large: as levels
/// fall, polynomials shrink, and blocks of a size of their own would all come from the system.
/// @throws std::bad_alloc
[[nodiscard]] void* take_scratch(std::size_t bytes);

/// Allocates such blocks.
template <typename Value>
struct ScratchAllocator : PooledAllocator<Value> {
  ScratchAllocator() = default;
  template <typename Other>
  ScratchAllocator(const ScratchAllocator<Other>&) {}  // NOLINT: allocators convert

  [[nodiscard]] Value* allocate(std::size_t count) {
    return static_cast<Value*>(take_scratch(count * sizeof(Value)));
  }
};

/// Words in them. They are not set. Not for secrets.
using ScratchVector = std::vector<u64, ScratchAllocator<u64>>;

/// Takes words from the pool and gives them back at its end; they are not set. Not for secrets.
class ScratchWords {
 public:
  explicit ScratchWords(std::size_t count)
      : words_(static_cast<u64*>(take_scratch(count * sizeof(u64))), count) {}
  ~ScratchWords() { give_back_memory(words_.data(), words_.size_bytes()); }
  ScratchWords(const ScratchWords&) = delete;
  ScratchWords& operator=(const ScratchWords&) = delete;

  [[nodiscard]] std::span<u64> words() { return words_; }

 private:
  std::span<u64> words_;
};

}  // namespace ringsmith
