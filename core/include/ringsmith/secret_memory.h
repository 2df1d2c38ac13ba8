// Memory that is wiped before it is freed, for key material and ephemeral randomness.
#pragma once

#include <string.h>  // explicit_bzero

#include <cstddef>
#include <memory>
#include <vector>

namespace ringsmith {

/// The standard allocator, but it overwrites the memory with zeros before it frees it.
template <typename T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <typename Other>
  WipingAllocator(const WipingAllocator<Other>&) {
  }  // NOLINT: conversion is the allocator's contract

  [[nodiscard]] T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) {
    explicit_bzero(memory, count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  [[nodiscard]] bool operator==(const WipingAllocator&) const = default;
};

template <typename T>
using SecretVector = std::vector<T, WipingAllocator<T>>;

}  // namespace ringsmith
