// Words that a computation needs for a moment, without asking the system for pages every time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ringsmith/aligned_memory.h"

namespace ringsmith {

/// Borrows uninitialized words from the calling thread's pool and hands them back at its end.
/// Not for secrets: a pool is not wiped.
class ScratchWords {
 public:
  explicit ScratchWords(std::size_t count) : count_(count) {
    std::vector<AlignedWords>& free = pool();
    if (!free.empty()) {
      words_ = std::move(free.back());
      free.pop_back();
    }
    if (words_.size() < count) {
      words_ = AlignedWords(count);
    }
  }
  ~ScratchWords() { pool().push_back(std::move(words_)); }
  ScratchWords(const ScratchWords&) = delete;
  ScratchWords& operator=(const ScratchWords&) = delete;

  [[nodiscard]] std::span<u64> words() { return std::span<u64>(words_).first(count_); }

 private:
  // What was borrowed at once stays: as many buffers as calls are nested.
  static std::vector<AlignedWords>& pool() {
    thread_local std::vector<AlignedWords> free;
    return free;
  }

  std::size_t count_;
  AlignedWords words_;
};

}  // namespace ringsmith
