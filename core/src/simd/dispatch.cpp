// Which kernel set this process computes with.
#include <bit>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_set.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/kernel_name.h"

namespace ringsmith {
namespace simd {
namespace {

struct Candidate {
  std::string_view name;
  const KernelSet* set;  // null where this build or this processor has none
};

// Slowest first.
std::vector<Candidate> candidates() {
  bool avx2 = false;
  bool avx512 = false;
  bool ifma = false;
#if defined(__x86_64__)
  __builtin_cpu_init();
  avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  ifma = avx512 && __builtin_cpu_supports("avx512ifma") != 0 &&
         __builtin_cpu_supports("avx512vbmi2") != 0;
#endif
  return {{"scalar", scalar_kernels()},
          {"avx2", avx2 ? avx2_kernels() : nullptr},
          {"avx512", avx512 ? avx512_kernels() : nullptr},
          {"avx512ifma", ifma ? avx512_ifma_kernels() : nullptr}};
}

const KernelSet& choose() {
  const char* const wish = std::getenv("RINGSMITH_KERNEL");
  const bool any = wish == nullptr || *wish == '\0';
  const KernelSet* chosen = nullptr;
  std::string names;
  for (const Candidate& candidate : candidates()) {
    if (candidate.set == nullptr) {
      continue;
    }
    names += std::string(names.empty() ? "" : ", ").append(candidate.name);
    if (any || candidate.name == wish) {
      chosen = candidate.set;
    }
  }
  if (chosen == nullptr) {
    throw ParameterError(text("RINGSMITH_KERNEL is '", wish, "'; this processor and build have ",
                              names, ": set one of them, or none for the fastest"));
  }
  return *chosen;
}

}  // namespace

const KernelSet& kernel_set() {
  static const KernelSet& chosen = choose();
  return chosen;
}

const PrimeKernels& kernels_for(u64 modulus) {
  const int bits = std::bit_width(modulus);
  const u64 gap = (u64{1} << bits) - modulus;
  const auto takes = [bits, gap](const PrimeKernels& kernels) {
    return bits <= kernels.max_bits &&
           (kernels.near_power == 0 || gap <= u64{1} << bits >> kernels.near_power);
  };
  const PrimeKernels* kernels = kernel_set().classes;
  while (!takes(*kernels)) {
    ++kernels;
  }
  return *kernels;
}

}  // namespace simd

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const simd::Candidate& candidate : simd::candidates()) {
    if (candidate.set != nullptr) {
      names.emplace_back(candidate.name);
    }
  }
  return names;
}

std::string kernel_name() { return simd::kernel_set().name; }

}  // namespace ringsmith
