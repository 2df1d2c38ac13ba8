#include "ringsmith/rlwe.h"

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/error.h"
#include "ringsmith/primes.h"

namespace ringsmith {
namespace {

// The first data prime of each of dnum digits of equal size; of dnum = 0 of one prime each.
std::vector<std::size_t> equal_digits(std::size_t limbs, std::size_t dnum) {
  const std::size_t size = dnum == 0 ? 1 : (limbs + dnum - 1) / dnum;
  std::vector<std::size_t> starts;
  for (std::size_t start = 0; start < limbs; start += size) {
    starts.push_back(start);
  }
  if (dnum != 0 && starts.size() != dnum) {
    throw ParameterError(text("dnum = ", dnum, " does not cut ", limbs, " data primes: digits of ",
                              size, " make ", starts.size(), " digits: take that as dnum"));
  }
  return starts;
}

// The first data prime of each digit of given sizes.
std::vector<std::size_t> sized_digits(std::size_t limbs, std::size_t dnum,
                                      std::span<const std::size_t> sizes) {
  std::vector<std::size_t> starts;
  std::size_t start = 0;
  for (const std::size_t size : sizes) {
    if (size < 1 || size > limbs - start) {
      throw ParameterError(text("a digit of ", size, " primes from prime ", start, " of ", limbs,
                                " data primes: name 1 ... ", limbs - start));
    }
    starts.push_back(start);
    start += size;
  }
  if (start != limbs || (dnum != 0 && dnum != sizes.size())) {
    throw ParameterError(text(sizes.size(), " digits of ", start, " primes together, of ", limbs,
                              " data primes and dnum = ", dnum, ": name the primes of each digit"));
  }
  return starts;
}

}  // namespace

RlweContext::RlweContext(std::size_t degree, std::span<const u64> primes, std::size_t special,
                         std::size_t dnum, ErrorDistribution error,
                         std::span<const std::size_t> digit_sizes)
    : rns_(degree, primes),
      error_(std::move(error)),
      special_(special),
      residue_digits_(special == 0 && dnum != 0) {
  if (special >= primes.size()) {
    throw ParameterError(text(special, " special primes of ", primes.size(),
                              " primes: leave at least one data prime"));
  }
  digit_starts_ = digit_sizes.empty() ? equal_digits(max_limbs(), dnum)
                                      : sized_digits(max_limbs(), dnum, digit_sizes);
}

std::size_t RlweContext::words(std::size_t limbs, std::size_t word_bits) const {
  if (word_bits < 1) {
    throw ParameterError("a word of 0 bits decomposes nothing: take at least 1");
  }
  const std::size_t bits = product_of(rns_, data_base(limbs)).bits();
  return (bits + word_bits - 1) / word_bits;
}

Base RlweContext::data_base(std::size_t limbs) const {
  if (limbs < 1 || limbs > max_limbs()) {
    throw ParameterError(text(limbs, " limbs are outside 1 ... ", max_limbs(),
                              ", the number of data primes of these parameters"));
  }
  return consecutive_base(limbs);
}

Base RlweContext::switching_base(std::size_t limbs) const {
  Base base = data_base(limbs);
  const Base special = special_base();
  base.insert(base.end(), special.begin(), special.end());
  return base;
}

std::vector<SlotPositions> slot_positions(std::size_t degree) {
  const u64 order = 2 * degree;
  const int log_degree = log2_degree(degree);
  std::vector<SlotPositions> positions;
  positions.reserve(degree / 2);
  u64 exponent = 1;
  for (std::size_t i = 0; i < degree / 2; ++i) {
    positions.push_back({reverse_bits((exponent - 1) >> 1, log_degree),
                         reverse_bits((order - exponent - 1) >> 1, log_degree)});
    exponent = (exponent * 3) & (order - 1);
  }
  return positions;
}

}  // namespace ringsmith
