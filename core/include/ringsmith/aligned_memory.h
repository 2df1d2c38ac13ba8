// Vectors in memory that is aligned to cache lines and pooled for reuse.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "ringsmith/types.h"

namespace ringsmith {

/// Returns memory from the process's pool, aligned to a cache line. A large block lies in huge
/// pages if the system gives them. The contents are undefined.
/// @throws std::bad_alloc
[[nodiscard]] void* take_memory(std::size_t bytes);
/// Returns memory to the pool; `bytes` is the size it was taken with. Large blocks are kept for
/// reuse, up to 512 MiB in all: getting pages from the system costs more than most operations on a
/// ciphertext. Beyond that limit the oldest blocks are freed. Blocks are not wiped: never store
/// secrets here.
void give_back_memory(void* memory, std::size_t bytes) noexcept;

/// Allocates from the pool.
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
  /// Leaves words uninitialised if no value is given: the caller writes them all.
  template <typename Other>
  void construct(Other* value) noexcept {
    ::new (static_cast<void*>(value)) Other;
  }
  [[nodiscard]] bool operator==(const PooledAllocator&) const { return true; }
};

/// Words of limbs: aligned, pooled and uninitialised.
using Words = std::vector<u64, PooledAllocator<u64>>;

}  // namespace ringsmith
