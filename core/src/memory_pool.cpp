#include <map>
#include <mutex>

#include "ringsmith/aligned_memory.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ringsmith {
namespace {

constexpr std::size_t kSmallest = std::size_t{32} << 10;   // smaller blocks the heap serves well
constexpr std::size_t kHugePage = std::size_t{2} << 20;    // of x86-64 and of most ARM systems
constexpr std::size_t kMostKept = std::size_t{256} << 20;  // bytes that wait for a taker

std::align_val_t alignment_of(std::size_t bytes) {
  return std::align_val_t{bytes >= kHugePage ? kHugePage : 64};
}

struct Pool {
  std::mutex mutex;
  std::multimap<std::size_t, void*> free;
  std::size_t kept = 0;
};

// Never destroyed: vectors with static lifetime may give memory back after the end of main.
Pool& pool() {
  static Pool* const only = new Pool;
  return *only;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  if (bytes >= kSmallest) {
    Pool& blocks = pool();
    const std::lock_guard lock(blocks.mutex);
    if (const auto found = blocks.free.find(bytes); found != blocks.free.end()) {
      void* const memory = found->second;
      blocks.free.erase(found);
      blocks.kept -= bytes;
      return memory;
    }
  }
  void* const memory = ::operator new(bytes, alignment_of(bytes));
#if defined(__linux__)
  if (bytes >= kHugePage) {  // a wish: a system without huge pages gives small ones
    static_cast<void>(madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
  }
#endif
  return memory;
}

void give_back_memory(void* memory, std::size_t bytes) noexcept {
  if (bytes >= kSmallest) {
    Pool& blocks = pool();
    const std::lock_guard lock(blocks.mutex);
    if (blocks.kept + bytes <= kMostKept) {
      try {
        blocks.free.emplace(bytes, memory);
        blocks.kept += bytes;
        return;
      } catch (const std::bad_alloc&) {  // then the block itself is freed
      }
    }
  }
  ::operator delete(memory, bytes, alignment_of(bytes));
}

}  // namespace ringsmith
