#include "ringsmith/ntt.h"

#include "ringsmith/error.h"
#include "ringsmith/primes.h"
#include "text.h"

namespace ringsmith {
namespace {

std::vector<ShoupFactor> bit_reversed_powers(const Modulus& modulus, int log_degree, u64 base) {
  std::vector<ShoupFactor> powers(std::size_t{1} << log_degree);
  u64 power = 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    powers[reverse_bits(i, log_degree)] = ShoupFactor(power, modulus);
    power = modulus.multiply(power, base);
  }
  return powers;
}

void check_length(std::size_t length, std::size_t degree) {
  if (length != degree) {
    throw ParameterError(text("a limb of ", length, " words does not fit an NTT of N = ", degree));
  }
}

u64 at_most_once(u64 x, u64 bound) { return x >= bound ? x - bound : x; }

}  // namespace

NttTables::NttTables(const Modulus& modulus, std::size_t degree, u64 root)
    : modulus_(modulus), root_(root) {
  const int log_degree = log2_degree(degree);
  if (root >= modulus.value() || !is_primitive_root(modulus, degree, root)) {
    throw ParameterError(text(root, " is not a primitive 2N-th root of unity modulo ",
                              modulus.value(), " for N = ", degree,
                              ": smallest_root gives the one that SEAL uses"));
  }
  const u64 inverse_root = modulus.inverse(root);
  forward_ = bit_reversed_powers(modulus, log_degree, root);
  backward_ = bit_reversed_powers(modulus, log_degree, inverse_root);
  const u64 inverse_degree = modulus.inverse(degree);
  inverse_degree_ = ShoupFactor(inverse_degree, modulus);
  last_backward_ = ShoupFactor(modulus.multiply(inverse_degree, backward_[1].factor), modulus);
}

void NttTables::forward(std::span<u64> limb) const {
  check_length(limb.size(), degree());
  const u64 q = modulus_.value();
  const u64 twice_q = 2 * q;
  // Invariant: every word is in [0, 4q) between the stages.
  for (std::size_t groups = 1, half = degree() / 2; half > 0; groups *= 2, half /= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const ShoupFactor twiddle = forward_[groups + group];
      u64* upper = &limb[2 * half * group];
      u64* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const u64 u = at_most_once(upper[i], twice_q);
        const u64 v = twiddle.multiply_lazy(lower[i], q);
        upper[i] = u + v;
        lower[i] = u + twice_q - v;
      }
    }
  }
  for (u64& word : limb) {
    word = at_most_once(at_most_once(word, twice_q), q);
  }
}

void NttTables::inverse(std::span<u64> limb) const {
  check_length(limb.size(), degree());
  const u64 q = modulus_.value();
  const u64 twice_q = 2 * q;
  // Invariant: every word is in [0, 2q) between the stages.
  std::size_t half = 1;
  for (std::size_t groups = degree() / 2; groups > 1; groups /= 2, half *= 2) {
    for (std::size_t group = 0; group < groups; ++group) {
      const ShoupFactor twiddle = backward_[groups + group];
      u64* upper = &limb[2 * half * group];
      u64* lower = upper + half;
      for (std::size_t i = 0; i < half; ++i) {
        const u64 u = upper[i];
        const u64 v = lower[i];
        upper[i] = at_most_once(u + v, twice_q);
        lower[i] = twiddle.multiply_lazy(u + twice_q - v, q);
      }
    }
  }
  // The last stage has one twiddle; the division by N is merged into it.
  u64* upper = limb.data();
  u64* lower = upper + half;
  for (std::size_t i = 0; i < half; ++i) {
    const u64 u = upper[i];
    const u64 v = lower[i];
    upper[i] = inverse_degree_.multiply(u + v, q);
    lower[i] = last_backward_.multiply(u + twice_q - v, q);
  }
}

}  // namespace ringsmith
