#include "ringsmith/rns.h"

#include <algorithm>
#include <numeric>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "ringsmith/primes.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

void check_primes(std::span<const u64> primes, std::size_t degree) {
  if (primes.empty()) {
    throw ParameterError("a residue number system needs at least one prime");
  }
  const u64 order = u64{2} << log2_degree(degree);
  for (std::size_t i = 0; i < primes.size(); ++i) {
    if (primes[i] % order != 1 || !is_prime(primes[i])) {
      throw ParameterError(text("modulus ", primes[i], " (index ", i,
                                ") is not a prime with q = 1 ", "mod 2N = ", order,
                                ": prime_search finds primes that are"));
    }
    if (std::find(primes.begin(), primes.begin() + static_cast<std::ptrdiff_t>(i), primes[i]) !=
        primes.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw ParameterError(text("prime ", primes[i], " occurs twice: the primes must be distinct"));
    }
  }
}

std::vector<u64> smallest_roots(std::size_t degree, std::span<const u64> primes) {
  check_primes(primes, degree);
  std::vector<u64> roots;
  for (const u64 prime : primes) {
    roots.push_back(smallest_root(Modulus(prime), degree));
  }
  return roots;
}

}  // namespace

Base consecutive_base(std::size_t count, std::size_t first) {
  Base base(count);
  std::iota(base.begin(), base.end(), first);
  return base;
}

RnsContext::RnsContext(std::size_t degree, std::span<const u64> primes)
    : RnsContext(degree, primes, smallest_roots(degree, primes)) {}

RnsContext::RnsContext(std::size_t degree, std::span<const u64> primes, std::span<const u64> roots)
    : degree_(degree), log_degree_(log2_degree(degree)) {
  check_primes(primes, degree);
  if (roots.size() != primes.size()) {
    throw ParameterError(
        text(roots.size(), " roots for ", primes.size(), " primes: give one root for each prime"));
  }
  tables_.reserve(primes.size());
  for (std::size_t i = 0; i < primes.size(); ++i) {
    tables_.push_back(std::make_shared<const NttTables>(Modulus(primes[i]), degree, roots[i]));
  }
}

RnsContext RnsContext::extended_by(std::span<const u64> primes) const {
  RnsContext extended = *this;
  std::vector<u64> all = this->primes();
  all.insert(all.end(), primes.begin(), primes.end());
  check_primes(all, degree_);
  for (const u64 prime : primes) {
    const Modulus modulus(prime);
    extended.tables_.push_back(
        std::make_shared<const NttTables>(modulus, degree_, smallest_root(modulus, degree_)));
  }
  return extended;
}

std::vector<u64> RnsContext::primes() const {
  std::vector<u64> values;
  for (const auto& tables : tables_) {
    values.push_back(tables->modulus().value());
  }
  return values;
}

std::vector<u64> RnsContext::roots() const {
  std::vector<u64> values;
  for (const auto& tables : tables_) {
    values.push_back(tables->root());
  }
  return values;
}

void RnsContext::check_size(std::size_t words, std::size_t limbs, std::string_view what) const {
  if (words != limbs * degree_) {
    throw ParameterError(text(what, " has ", words, " words; ", limbs, " limbs of N = ", degree_,
                              " need ", limbs * degree_));
  }
}

void RnsContext::check_canonical(std::span<const u64> words, BaseView base,
                                 std::string_view what) const {
  const std::size_t limbs = words.size() / degree_;
  check_size(words.size(), limbs, what);
  for (std::size_t limb = 0; limb < limbs; ++limb) {
    const NttTables& tables = ntt(base[limb % base.size()]);
    const std::span<const u64> values = limb_of(words, limb, degree_);
    if (tables.kernels().is_canonical(tables.plan().prime, values.data(), degree_)) {
      continue;
    }
    const u64 q = tables.modulus().value();
    const auto bad =
        std::find_if(values.begin(), values.end(), [q](u64 word) { return word >= q; });
    throw ParameterError(text(what, " has ", *bad, " at position ", bad - values.begin(),
                              " of limb ", limb % base.size(), ", which is not below its prime ", q,
                              ": residues must be canonical"));
  }
}

}  // namespace ringsmith
