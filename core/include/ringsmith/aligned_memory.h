// Vectors whose memory starts at a cache line.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "ringsmith/types.h"

namespace ringsmith {

/// An allocator that aligns to 64 bytes: a cache line, and the widest vector register.
template <typename Value>
struct AlignedAllocator {
  using value_type = Value;
  static constexpr std::align_val_t kAlignment{64};

  AlignedAllocator() = default;
  template <typename Other>
  AlignedAllocator(const AlignedAllocator<Other>&) {}  // NOLINT: allocators convert

  [[nodiscard]] Value* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Value)) {
      throw std::bad_array_new_length();
    }
    return static_cast<Value*>(::operator new(count * sizeof(Value), kAlignment));
  }
  void deallocate(Value* memory, std::size_t count) {
    ::operator delete(memory, count * sizeof(Value), kAlignment);
  }

  [[nodiscard]] bool operator==(const AlignedAllocator&) const { return true; }
};

/// Words from a cache line's start on.
using AlignedWords = std::vector<u64, AlignedAllocator<u64>>;

}  // namespace ringsmith
