#include "ringsmith/rlwe.h"

#include "platform/text.h"
#include "ring/wide.h"
#include "ringsmith/error.h"
#include "ringsmith/primes.h"

namespace ringsmith {

RlweContext::RlweContext(std::size_t degree, std::span<const u64> primes, std::size_t special,
                         std::size_t dnum, ErrorDistribution error)
    : rns_(degree, primes),
      error_(std::move(error)),
      special_(special),
      residue_digits_(special == 0 && dnum != 0) {
  if (special >= primes.size()) {
    throw ParameterError(text(special, " special primes of ", primes.size(),
                              " primes: leave at least one data prime"));
  }
  if (dnum == 0) {
    return;
  }
  digit_size_ = (max_limbs() + dnum - 1) / dnum;
  if (digits(max_limbs()) != dnum) {
    throw ParameterError(text("dnum = ", dnum, " does not cut ", max_limbs(),
                              " data primes: digits of ", digit_size_, " make ",
                              digits(max_limbs()), " digits: take that as dnum"));
  }
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
