#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <new>

#include "process_mutex.h"
#include "ringsmith/aligned_memory.h"

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

// Blocks that wait for a taker of their size.
class Pool {
 public:
  // The block of this size that was given back last, whose words may still be in a cache; nullptr
  // if there is no block.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(process_mutex(Guarded::kMemoryPool));
    const auto after = by_size_.upper_bound(bytes);
    if (after == by_size_.begin() || std::prev(after)->first != bytes) {
      return nullptr;
    }
    const auto found = std::prev(after);
    void* const memory = found->second->memory;
    by_age_.erase(found->second);
    by_size_.erase(found);
    kept_ -= bytes;
    return memory;
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
  std::size_t kept_ = 0;                                            // bytes
};

// Never destroyed: vectors with static lifetime may give memory back after the end of main.
Pool& pool() {
  static Pool* const only = new Pool;
  return *only;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  void* const kept = bytes >= kSmallest ? pool().take(bytes) : nullptr;
  return kept != nullptr ? kept : allocate(bytes);
}

void give_back_memory(void* memory, std::size_t bytes) noexcept {
  std::list<Block> leaving;
  const Block block{memory, bytes};
  if (bytes < kSmallest || bytes > kMostKept) {
    release(block);
    return;
  }
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
