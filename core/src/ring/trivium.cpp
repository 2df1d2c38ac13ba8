#include "ringsmith/trivium.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "platform/text.h"
#include "ringsmith/error.h"
#include "seeded_limb.h"
#include "simd/kernel_set.h"

namespace ringsmith {
namespace {

constexpr int kWarmUpRounds = 4 * 288;
constexpr int kWordBits = 64;

constexpr int kLimbShift = 16;  // in the IV
constexpr int kDigitShift = 32;
constexpr int kBlockShift = 48;
constexpr int kKeyShift = 48;  // key and IV are 80 bits, above which two words have 48

u128 number_of(const Trivium::Bytes80& bytes) {
  u128 number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | bytes[i];
  }
  return number;
}

Trivium::Bytes80 bytes_of(u64 number) {
  Trivium::Bytes80 bytes{};
  for (std::size_t i = 0; i < sizeof(number); ++i) {
    bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return bytes;
}

// The IV of a block's stream number 0.
u64 place_of(std::size_t digit, std::size_t limb, std::size_t block) {
  if (digit >= kSeededIndices || limb >= kSeededIndices || block >= kSeededIndices) {
    throw ParameterError(text("digit ", digit, ", limb ", limb, " and block ", block,
                              " of a seeded key: all must be below ", kSeededIndices));
  }
  return static_cast<u64>(block) << kBlockShift | static_cast<u64>(digit) << kDigitShift |
         static_cast<u64>(limb) << kLimbShift;
}

void check_blocks(std::size_t words, std::size_t block) {
  const std::size_t blocks = (words + kSeededBlock - 1) / kSeededBlock;
  if (block > kSeededIndices || blocks > kSeededIndices - block) {
    throw ParameterError(text("blocks ", block, " to ", block + blocks - 1, " of a seeded key: a ",
                              "limb has ", kSeededIndices, " of ", kSeededBlock, " coefficients"));
  }
}

// Every block of `out`, by a function of its SeededLimb and of the coefficients to fill, a multiple
// of simd::kSeedStreams.
template <typename Fill>
void expand_blocks(const KeySeed& seed, std::size_t digit, std::size_t limb, u64 q,
                   std::span<u64> out, std::size_t block, const Fill& fill) {
  check_blocks(out.size(), block);
  for (; !out.empty(); ++block) {
    SeededLimb limb_words(seed, digit, limb, block, q);
    const std::size_t count = std::min(out.size(), kSeededBlock);
    const std::size_t odd = count % simd::kSeedStreams;
    fill(limb_words, out.first(count - odd));
    if (odd != 0) {
      u64 last[simd::kSeedStreams];
      fill(limb_words, std::span<u64>(last));
      std::copy_n(last, odd, out.begin() + static_cast<std::ptrdiff_t>(count - odd));
    }
    out = out.subspan(count);
  }
}

// 64 bits of a register, from one that many rounds younger than its oldest.
u64 tap(u128 bits, int younger) { return static_cast<u64>(bits >> younger); }

}  // namespace

Trivium::Trivium(const Bytes80& key, const Bytes80& iv)
    : a_(number_of(key) << 13), b_(number_of(iv) << 4), c_(7) {
  for (int i = 0; i < kWarmUpRounds / kWordBits; ++i) {
    static_cast<void>(next_word());
  }
}

u64 Trivium::next_word() {
  // t1, t2, t3 of 64 rounds; no tap is younger than 66 rounds, so none depends on another.
  const u64 t1 = tap(a_, 27) ^ tap(a_, 0);
  const u64 t2 = tap(b_, 15) ^ tap(b_, 0);
  const u64 t3 = tap(c_, 45) ^ tap(c_, 0);
  const u64 to_b = t1 ^ (tap(a_, 1) & tap(a_, 2)) ^ tap(b_, 6);
  const u64 to_c = t2 ^ (tap(b_, 1) & tap(b_, 2)) ^ tap(c_, 24);
  const u64 to_a = t3 ^ (tap(c_, 1) & tap(c_, 2)) ^ tap(a_, 24);
  a_ = a_ >> kWordBits | static_cast<u128>(to_a) << (93 - kWordBits);
  b_ = b_ >> kWordBits | static_cast<u128>(to_b) << (84 - kWordBits);
  c_ = c_ >> kWordBits | static_cast<u128>(to_c) << (111 - kWordBits);
  return t1 ^ t2 ^ t3;
}

int seed_word_bits(u64 q) {
  constexpr int kZeros = 20;  // behind the leading one of a modulus just above a power of two
  const int bits = static_cast<int>(std::bit_width(q));
  const bool above = bits > kZeros && q >> (bits - 1 - kZeros) == u64{1} << kZeros;
  return above ? bits - 1 : bits;
}

SeededLimb::SeededLimb(const KeySeed& seed, std::size_t digit, std::size_t limb, std::size_t block,
                       u64 q)
    : q_(q),
      mask_((u64{1} << seed_word_bits(q)) - 1),
      seed_(seed),
      place_(place_of(digit, limb, block)) {
  const u128 key = number_of(seed) << kKeyShift;
  for (std::size_t stream = 0; stream < simd::kSeedStreams; ++stream) {
    const u128 iv = static_cast<u128>(place_ | stream) << kKeyShift;
    const u128 registers[] = {key, iv, u128{7} << 17};  // bits 1, 1, 1 in front of 108 zeros
    for (std::size_t i = 0; i < std::size(registers); ++i) {
      streams_.early[i][stream] = static_cast<u64>(registers[i]);
      streams_.late[i][stream] = static_cast<u64>(registers[i] >> kWordBits);
    }
  }
  u64 dropped[kWarmUpRounds / kWordBits * simd::kSeedStreams];
  static_cast<void>(next_words(dropped));
}

bool SeededLimb::next_words(std::span<u64> out) {
  return simd::kernel_set().expand(q_, mask_, streams_, out.data(), out.size());
}

void SeededLimb::next(std::span<u64> out) {
  if (next_words(out)) {
    return;
  }
  if (!substitutes_) {
    substitutes_.emplace(seed_, bytes_of(place_ | simd::kSeedStreams));
  }
  for (u64& word : out) {
    while (word >= q_) {
      word = substitutes_->next_word() & mask_;
    }
  }
}

void expand_seed_words(const KeySeed& seed, std::size_t digit, std::size_t limb, const Modulus& q,
                       std::span<u64> out, std::size_t block) {
  expand_blocks(
      seed, digit, limb, q.value(), out, block,
      [](SeededLimb& words, std::span<u64> part) { static_cast<void>(words.next_words(part)); });
}

void expand_key_half(const KeySeed& seed, std::size_t digit, std::size_t limb, const Modulus& q,
                     std::span<u64> out, std::size_t block) {
  expand_blocks(seed, digit, limb, q.value(), out, block,
                [](SeededLimb& words, std::span<u64> part) { words.next(part); });
}

}  // namespace ringsmith
