#include "ringsmith/sampling.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>
#include <numbers>
#include <system_error>

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {

u64 RandomSource::next_word() {
  std::array<std::uint8_t, 8> bytes{};
  fill(bytes);
  u64 word = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    word = (word << 8) | bytes[i];
  }
  return word;
}

void SystemRandom::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw std::system_error(errno, std::generic_category(), "getrandom");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void SeededRandom::fill(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    if (used_ == block_.size()) {
      Bytes input;
      for (int i = 0; i < 8; ++i) {
        input.push_back(static_cast<std::uint8_t>(counter_ >> (8 * i)));
      }
      block_ = blake2xb(input, seed_, kBlockBytes);
      used_ = 0;
      ++counter_;
    }
    const std::size_t count = std::min(bytes.size(), block_.size() - used_);
    std::copy_n(&block_[used_], count, bytes.begin());
    used_ += count;
    bytes = bytes.subspan(count);
  }
}

std::vector<u64> sample_uniform(const RnsContext& context, BaseView base, RandomSource& random) {
  static_assert(std::endian::native == std::endian::little, "the stream's words are little-endian");
  std::vector<u64> words(base.size() * context.degree());
  random.fill({reinterpret_cast<std::uint8_t*>(words.data()), words.size() * sizeof(u64)});
  constexpr u64 kMax = std::numeric_limits<u64>::max();
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    const Modulus& modulus = context.modulus(base[limb]);
    const u64 max_multiple = kMax - kMax % modulus.value() - 1;
    for (u64& word : limb_of(std::span<u64>(words), limb, context.degree())) {
      while (word >= max_multiple) {
        word = random.next_word();
      }
      word = modulus.reduce(word);
    }
  }
  return words;
}

SmallPolynomial sample_ternary(std::size_t degree, RandomSource& random) {
  constexpr unsigned kFair = 255;  // the largest multiple of three that a byte can be below
  SecretVector<std::uint8_t> bytes(degree);
  random.fill(bytes);
  SmallPolynomial small(degree);
  for (std::size_t i = 0; i < degree; ++i) {
    while (bytes[i] >= kFair) {
      random.fill({&bytes[i], 1});
    }
    small[i] = bytes[i] % 3 - 1;
  }
  return small;
}

SmallPolynomial sample_sparse(std::size_t degree, std::size_t weight, RandomSource& random) {
  if (weight == 0 || weight > degree) {
    throw ParameterError(text("a sparse polynomial of weight ", weight, " is outside 1 ... ",
                              degree, ", the degree: take a weight inside"));
  }
  SecretVector<u64> words(degree);
  random.fill({reinterpret_cast<std::uint8_t*>(words.data()), words.size() * sizeof(u64)});
  SmallPolynomial small(degree);
  u64 missing = weight;
  for (std::size_t i = 0; i < degree; ++i) {
    // Each position is taken with the probability missing / left: Knuth's algorithm S. The 63 bits
    // are scaled to 0 ... left - 1, with a bias below degree / 2^63.
    const u64 left = degree - i;
    const u64 scaled = static_cast<u64>((static_cast<u128>(words[i] >> 1) * left) >> 63);
    const u64 taken = (scaled - missing) >> 63;  // whether scaled < missing; both are below 2^63
    const auto sign = static_cast<std::int32_t>(words[i] & 1);
    small[i] = static_cast<std::int32_t>(taken) * (1 - 2 * sign);
    missing -= taken;
  }
  return small;
}

ErrorDistribution::ErrorDistribution(double deviation) {
  if (deviation == 0) {
    return;
  }
  if (!(deviation >= 1 && deviation <= kMaxDeviation)) {
    throw ParameterError(text("an error deviation of ", deviation, " is outside 1 ... ",
                              kMaxDeviation, ": take one inside, or 0 for SEAL's ", deviation_));
  }
  deviation_ = deviation;
  for (long double k = 1;; ++k) {
    const long double tail =
        std::erfc((k - 0.5L) / (std::numbers::sqrt2_v<long double> * deviation));
    const auto threshold = static_cast<u64>(std::ldexp(tail, 63));
    if (threshold == 0) {
      return;
    }
    thresholds_.push_back(threshold);
  }
}

SmallPolynomial ErrorDistribution::sample(std::size_t degree, RandomSource& random) const {
  SecretVector<u64> words(degree);
  random.fill({reinterpret_cast<std::uint8_t*>(words.data()), words.size() * sizeof(u64)});
  SmallPolynomial small(degree);
  if (thresholds_.empty()) {
    constexpr u64 kMask = (u64{1} << kBinomialBits) - 1;
    for (std::size_t i = 0; i < degree; ++i) {
      small[i] =
          std::popcount(words[i] & kMask) - std::popcount((words[i] >> kBinomialBits) & kMask);
    }
    return small;
  }
  for (std::size_t i = 0; i < degree; ++i) {
    const u64 uniform = words[i] >> 1;
    std::int32_t magnitude = 0;
    for (const u64 threshold : thresholds_) {
      magnitude += static_cast<std::int32_t>(uniform < threshold);
    }
    const auto negative = static_cast<std::int32_t>(words[i] & 1);
    small[i] = (magnitude ^ -negative) + negative;
  }
  return small;
}

SecretVector<u64> to_residues(const RnsContext& context, BaseView base,
                              std::span<const std::int32_t> small) {
  SecretVector<u64> residues;
  residues.reserve(base.size() * small.size());
  for (const std::size_t prime : base) {
    const u64 q = context.modulus(prime).value();
    for (const std::int32_t value : small) {
      // Without a branch on the secret: q is added where the sign bit is set.
      const auto wide = static_cast<i64>(value);
      residues.push_back(static_cast<u64>(wide) + (q & static_cast<u64>(wide >> 63)));
    }
  }
  return residues;
}

}  // namespace ringsmith
