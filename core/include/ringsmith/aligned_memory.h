// Vectors whose memory starts at a cache line, and vectors whose memory is used again.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "ringsmith/types.h"

namespace ringsmith {

/// Memory from the process's pool: at a cache line's start, in huge pages where the block is large
/// and the system gives them. Its contents are undefined.
/// @throws std::bad_alloc
[[nodiscard]] void* take_memory(std::size_t bytes);
/// Gives memory back, with the size that it was taken with. Large blocks are kept for the next
/// taker of that size, up to 512 MiB in all, since getting pages from the system costs more than
/// most operations on a ciphertext; beyond that, those that have waited longest are freed. Blocks
/// are not wiped, so no secret belongs here.
void give_back_memory(void* memory, std::size_t bytes) noexcept;

/// An allocator of the pool's memory.
template <typename Value>
struct PooledAllocator {
  using value_type = Value;

  PooledAllocator() = default;
  template <typename Other>
  PooledAllocator(const PooledAllocator<Other>&) {}  // NOLINT: allocators convert

  [[nodiscard]] Value* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Value)) {
      throw std::bad_array_new_length();
    }
    return static_cast<Value*>(take_memory(count * sizeof(Value)));
  }
  void deallocate(Value* memory, std::size_t count) noexcept {
    give_back_memory(memory, count * sizeof(Value));
  }
  /// Without a value, words are left as they are: whoever makes them writes them all.
  template <typename Other>
  void construct(Other* value) noexcept {
    ::new (static_cast<void*>(value)) Other;
  }
  [[nodiscard]] bool operator==(const PooledAllocator&) const { return true; }
};

/// Words of limbs: aligned, pooled, and not set before they are written.
using Words = std::vector<u64, PooledAllocator<u64>>;

}  // namespace ringsmith
