// Words that a computation needs for a moment.
#pragma once

#include <span>

#include "ringsmith/aligned_memory.h"

namespace ringsmith {

/// Takes words from the pool and gives them back at its end; they are not set. Not for secrets.
class ScratchWords {
 public:
  explicit ScratchWords(std::size_t count)
      : words_(static_cast<u64*>(take_memory(count * sizeof(u64))), count) {}
  ~ScratchWords() { give_back_memory(words_.data(), words_.size_bytes()); }
  ScratchWords(const ScratchWords&) = delete;
  ScratchWords& operator=(const ScratchWords&) = delete;

  [[nodiscard]] std::span<u64> words() { return words_; }

 private:
  std::span<u64> words_;
};

}  // namespace ringsmith
