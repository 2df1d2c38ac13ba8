#include "ringsmith/primes.h"

#include <algorithm>
#include <array>
#include <bit>

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {
namespace {

constexpr std::array<u64, 12> kSmallPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

// Plain 128-bit arithmetic: primality is asked for any word, wider than Modulus allows.
u64 multiply_mod(u64 a, u64 b, u64 q) { return static_cast<u64>(static_cast<u128>(a) * b % q); }

u64 power_mod(u64 base, u64 exponent, u64 q) {
  u64 result = 1;
  for (base %= q; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = multiply_mod(result, base, q);
    }
    base = multiply_mod(base, base, q);
  }
  return result;
}

// One Miller-Rabin round for an odd value > base: false proves that value is composite.
bool passes_round(u64 value, u64 base) {
  const int twos = std::countr_zero(value - 1);
  u64 x = power_mod(base, (value - 1) >> twos, value);
  if (x == 1) {
    return true;
  }
  for (int i = 0; i < twos; ++i) {
    if (x == value - 1) {
      return true;
    }
    x = multiply_mod(x, x, value);
  }
  return false;
}

}  // namespace

int log2_degree(std::size_t degree) {
  if (!std::has_single_bit(degree) || degree < kMinDegree || degree > kMaxDegree) {
    throw ParameterError(text("ring degree ", degree, " is not a power of two between ", kMinDegree,
                              " and ", kMaxDegree));
  }
  return std::countr_zero(degree);
}

bool is_prime(u64 value) {
  for (const u64 prime : kSmallPrimes) {
    if (value % prime == 0) {
      return value == prime;
    }
  }
  return value > 1 && std::all_of(kSmallPrimes.begin(), kSmallPrimes.end(),
                                  [value](u64 base) { return passes_round(value, base); });
}

std::vector<u64> prime_search(int bits, std::size_t degree, std::size_t count) {
  const u64 step = u64{2} << log2_degree(degree);
  if (bits < 2 || bits > Modulus::kMaxBits) {
    throw ParameterError(
        text("a prime of ", bits, " bits is outside 2 ... ", Modulus::kMaxBits, " bits"));
  }
  std::vector<u64> primes;
  const u64 lower = u64{1} << (bits - 1);
  u64 candidate = ((u64{1} << bits) - 1) / step * step + 1;
  while (primes.size() < count && candidate > lower) {
    if (is_prime(candidate)) {
      primes.push_back(candidate);
    }
    candidate -= std::min(step, candidate);
  }
  if (primes.size() < count) {
    throw ParameterError(text("only ", primes.size(), " primes of ", bits, " bits are 1 mod ", step,
                              " (N = ", degree, "), ", count,
                              " were asked for: take more bits or fewer primes"));
  }
  return primes;
}

bool is_primitive_root(const Modulus& modulus, std::size_t degree, u64 root) {
  return modulus.power(root, degree) == modulus.value() - 1;
}

u64 smallest_root(const Modulus& modulus, std::size_t degree) {
  const u64 q = modulus.value();
  const u64 order = u64{2} << log2_degree(degree);
  if (!is_prime(q) || q % order != 1) {
    throw ParameterError(text("modulus ", q, " is not a prime with q = 1 mod 2N = ", order,
                              ": prime_search finds primes that are"));
  }
  u64 root = 0;
  for (u64 base = 2; root == 0; ++base) {  // half of all bases are non-residues and end the search
    const u64 candidate = modulus.power(base, (q - 1) / order);
    root = is_primitive_root(modulus, degree, candidate) ? candidate : 0;
  }
  // All primitive roots are the odd powers of one of them.
  const u64 square = modulus.multiply(root, root);
  u64 smallest = root;
  for (std::size_t i = 1; i < degree; ++i) {
    root = modulus.multiply(root, square);
    smallest = std::min(smallest, root);
  }
  return smallest;
}

}  // namespace ringsmith
