#include "ringsmith/ntt.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "platform/text.h"
#include "ringsmith/aligned_memory.h"
#include "ringsmith/error.h"
#include "ringsmith/primes.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

using simd::Factor;

// A plan with the memory that it points into.
struct OwnedPlan {
  simd::NttPlan plan;
  Words words;  // factors and quotients forward, then backward
  std::vector<simd::SplitFactor> nodes[2];
};

// Entry i of factors or quotients, of 32 bits for the class that reads such words.
void write_word(std::span<u64> words, std::size_t i, u64 value, simd::TwiddleCode code) {
  if (code == simd::TwiddleCode::kShift32) {
    const auto half = static_cast<std::uint32_t>(value);
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + i * sizeof half, &half, sizeof half);
  } else {
    words[i] = value;
  }
}

// Writes the powers of `base` to where the nodes of the transform's tree look for them.
simd::TwiddleView write_powers(const Modulus& modulus, int log_degree, u64 base,
                               const simd::PrimeKernels& kernels, std::span<u64> words,
                               std::vector<simd::SplitFactor>& nodes) {
  const std::size_t degree = std::size_t{1} << log_degree;
  const std::span<u64> factors = words.first(degree);
  const std::span<u64> quotients = words.subspan(degree, degree);
  const bool splits = kernels.splits && simd::can_split(modulus);
  nodes.resize(splits ? degree / static_cast<std::size_t>(kernels.lanes) : 0);
  u64 power = 1;
  for (std::size_t i = 0; i < degree; ++i) {
    const std::size_t node = reverse_bits(i, log_degree);
    const std::size_t position =
        simd::twiddle_position(node, degree, static_cast<std::size_t>(kernels.lanes));
    const Factor factor = simd::factor_of(power, modulus, kernels.code);
    write_word(factors, position, factor.factor, kernels.code);
    write_word(quotients, position, factor.quotient, kernels.code);
    if (node < nodes.size()) {
      nodes[node] = simd::split_factor_of(power, modulus);
    }
    power = modulus.multiply(power, base);
  }
  return {factors.data(), quotients.data(), splits ? nodes.data() : nullptr};
}

std::shared_ptr<const simd::NttPlan> make_plan(const Modulus& modulus, int log_degree, u64 root,
                                               u64 inverse_degree, u64 last_backward,
                                               const simd::PrimeKernels& kernels) {
  const std::size_t degree = std::size_t{1} << log_degree;
  const auto owned = std::make_shared<OwnedPlan>();
  owned->words.resize(4 * degree);
  const std::span<u64> words(owned->words);
  owned->plan = {
      .prime = simd::constants_of(modulus),
      .log_degree = log_degree,
      .forward = write_powers(modulus, log_degree, root, kernels, words.first(2 * degree),
                              owned->nodes[0]),
      .backward = write_powers(modulus, log_degree, modulus.inverse(root), kernels,
                               words.last(2 * degree), owned->nodes[1]),
      .inverse_degree = simd::factor_of(inverse_degree, modulus, kernels.code),
      .last_backward = simd::factor_of(last_backward, modulus, kernels.code),
  };
  return {owned, &owned->plan};
}

void check_length(std::size_t length, std::size_t degree) {
  if (length != degree) {
    throw ParameterError(text("a limb of ", length, " words does not fit an NTT of N = ", degree));
  }
}

}  // namespace

struct NttTables::Halves {
  std::once_flag made;
  Words words;
};

NttTables::NttTables(const Modulus& modulus, std::size_t degree, u64 root)
    : modulus_(modulus),
      degree_(degree),
      root_(root),
      kernels_(&simd::kernels_for(modulus.value())),
      halves_(std::make_shared<Halves>()) {
  const int log_degree = log2_degree(degree);
  if (root >= modulus.value() || !is_primitive_root(modulus, degree, root)) {
    throw ParameterError(text(root, " is not a primitive 2N-th root of unity modulo ",
                              modulus.value(), " for N = ", degree,
                              ": smallest_root gives the one that SEAL uses"));
  }
  inverse_degree_ = modulus.inverse(degree);
  // brev(1) = N / 2: the factor of the tree's root.
  last_backward_ =
      modulus.multiply(inverse_degree_, modulus.power(modulus.inverse(root), degree / 2));
  plan_ = make_plan(modulus, log_degree, root, inverse_degree_, last_backward_, *kernels_);
}

std::span<const u64> NttTables::halves() const {
  std::call_once(halves_->made, [this] {
    halves_->words.assign(degree_, modulus_.inverse(2));
    forward(halves_->words);
  });
  return halves_->words;
}

void NttTables::forward(std::span<u64> limb) const { forward(limb, modulus_.value(), 0, limb); }

void NttTables::inverse(std::span<u64> limb) const { inverse(limb, limb); }

void NttTables::forward(std::span<const u64> in, u64 bound, u64 offset, std::span<u64> out) const {
  check_length(in.size(), degree_);
  check_length(out.size(), degree_);
  kernels_->forward(*plan_, in.data(), bound, offset, out.data());
}

void NttTables::inverse(std::span<const u64> in, std::span<u64> out) const {
  check_length(in.size(), degree_);
  check_length(out.size(), degree_);
  kernels_->inverse(*plan_, in.data(), 0, out.data());
}

void NttTables::inverse(std::span<const u64> in, u64 factor, u64 offset, std::span<u64> out) const {
  check_length(in.size(), degree_);
  check_length(out.size(), degree_);
  simd::NttPlan scaled = *plan_;
  const auto times = [&](u64 last) {
    return simd::factor_of(modulus_.multiply(last, factor), modulus_, kernels_->code);
  };
  scaled.inverse_degree = times(inverse_degree_);
  scaled.last_backward = times(last_backward_);
  kernels_->inverse(scaled, in.data(), offset, out.data());
}

}  // namespace ringsmith
