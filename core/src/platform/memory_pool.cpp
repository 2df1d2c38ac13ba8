#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "process_mutex.h"
#include "ringsmith/aligned_memory.h"
#include "scratch.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ringsmith {
namespace {

constexpr std::size_t kSmallest = std::size_t{32} << 10;   // smaller blocks the heap serves well
constexpr std::size_t kHugePage = std::size_t{2} << 20;    // of x86-64 and of most ARM systems
constexpr std::size_t kMostKept = std::size_t{512} << 20;  // bytes that wait for a taker

struct Block {
  void* memory;
  std::size_t bytes;
};

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : 64};
}

void* allocate(std::size_t bytes) {
  void* const memory = ::operator new(bytes, alignment_of(bytes));
#if defined(__linux__)
  if (bytes >= kHugePage) {  // a wish: a system without huge pages gives small ones
    static_cast<void>(madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
  }
#endif
  return memory;
}

void release(const Block& block) noexcept {
  ::operator delete(block.memory, block.bytes, alignment_of(block.bytes));
}

// Blocks that wait for a taker.
class Pool {
 public:
  // A block of this size, or of up to `most` bytes. Of the smallest such size, the block that was
  // given back last, whose words may still be in a cache; nullptr if there is no block.
  // @throws std::bad_alloc
  void* take(std::size_t bytes, std::size_t most) {
    const std::lock_guard lock(process_mutex(Guarded::kMemoryPool));
    const auto smallest = by_size_.lower_bound(bytes);
    if (smallest == by_size_.end() || smallest->first > most) {
      return nullptr;
    }
    const auto found = std::prev(by_size_.upper_bound(smallest->first));
    const Block block = *found->second;
    if (block.bytes != bytes) {
      larger_.emplace(block.memory, block.bytes);
    }
    by_age_.erase(found->second);
    by_size_.erase(found);
    kept_ -= block.bytes;
    return block.memory;
  }

  // The size of a block that was taken as one of `bytes`, which it is no longer.
  std::size_t size_of(void* memory, std::size_t bytes) noexcept {
    const std::lock_guard lock(process_mutex(Guarded::kMemoryPool));
    const auto found = larger_.find(memory);
    if (found == larger_.end()) {
      return bytes;
    }
    const std::size_t size = found->second;
    larger_.erase(found);
    return size;
  }

  // Keeps a block of at most kMostKept bytes. To stay below the limit, blocks that have waited
  // longest move to `leaving`, for the caller to release without holding the lock.
  // @throws std::bad_alloc; the block is not kept then
  void keep(const Block& block, std::list<Block>& leaving) {
    std::list<Block> newest{block};
    const std::lock_guard lock(process_mutex(Guarded::kMemoryPool));
    by_size_.emplace(block.bytes, newest.begin());  // behind those of its size
    by_age_.splice(by_age_.end(), newest);
    kept_ += block.bytes;
    while (kept_ > kMostKept) {
      const std::size_t bytes = by_age_.front().bytes;
      by_size_.erase(by_size_.lower_bound(bytes));  // the oldest of all is the first of its size
      leaving.splice(leaving.end(), by_age_, by_age_.begin());
      kept_ -= bytes;
    }
  }

 private:
  std::list<Block> by_age_;                                         // the oldest first
  std::multimap<std::size_t, std::list<Block>::iterator> by_size_;  // of a size, the oldest first
  std::unordered_map<void*, std::size_t> larger_;  // blocks that are larger than was asked for
  std::size_t kept_ = 0;                           // bytes that wait
};

// Never destroyed: vectors with static lifetime may give memory back after the end of main.
Pool& pool() {
  static Pool* const only = new Pool;
  return *only;
}

void* take(std::size_t bytes, std::size_t most) {
  void* const kept = bytes >= kSmallest ? pool().take(bytes, most) : nullptr;
  return kept != nullptr ? kept : allocate(bytes);
}

}  // namespace

void* take_memory(std::size_t bytes) { return take(bytes, bytes); }

void* take_scratch(std::size_t bytes) { return take(bytes, 2 * bytes); }

void give_back_memory(void* memory, std::size_t bytes) noexcept {
  if (bytes < kSmallest) {
    release({memory, bytes});
    return;
  }
  const Block block{memory, pool().size_of(memory, bytes)};
  if (block.bytes > kMostKept) {
    release(block);
    return;
  }
  std::list<Block> leaving;
  try {
    pool().keep(block, leaving);
  } catch (const std::bad_alloc&) {
    release(block);
  }
  for (const Block& old : leaving) {
    release(old);
  }
}

}  // namespace ringsmith
