#include "ringsmith/trivium.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "text.h"

namespace ringsmith {
namespace {

constexpr int kWarmUpRounds = 4 * 288;
constexpr int kWordBits = 64;

constexpr std::size_t kStreams = 16;  // coefficient j reads stream j mod 16
constexpr int kScale = 68;            // a residue is u * 2^-68
constexpr int kLimbShift = 16;        // in the IV
constexpr int kDigitShift = 32;
constexpr int kBlockShift = 48;

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

void expand_key_half(const KeySeed& seed, std::size_t digit, std::size_t limb, const Modulus& q,
                     std::span<u64> out, std::size_t block) {
  if (digit >= kSeededIndices || limb >= kSeededIndices) {
    throw ParameterError(text("digit ", digit, ", limb ", limb, " of a seeded key: both must be ",
                              "below ", kSeededIndices));
  }
  const std::size_t blocks = (out.size() + kSeededBlock - 1) / kSeededBlock;
  if (block > kSeededIndices || blocks > kSeededIndices - block) {
    throw ParameterError(text("blocks ", block, " to ", block + blocks - 1, " of a seeded key: a ",
                              "limb has ", kSeededIndices, " of ", kSeededBlock, " coefficients"));
  }
  if (q.value() % 2 == 0) {
    throw ParameterError(text("a seeded key needs an odd modulus, and this one is ", q.value(),
                              ": take an NTT prime"));
  }
  const ShoupFactor scale(q.inverse(q.power(2, kScale)), q);
  const int used_bits = q.bits() + kScale - 1;  // at most 128, two words: q has at most 61 bits
  const u128 used = ~static_cast<u128>(0) >> (2 * kWordBits - used_bits);
  const u64 place = static_cast<u64>(digit) << kDigitShift | static_cast<u64>(limb) << kLimbShift;
  for (std::size_t begin = 0; begin < out.size(); begin += kSeededBlock, ++block) {
    const std::size_t end = std::min(out.size(), begin + kSeededBlock);
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const u64 iv = static_cast<u64>(block) << kBlockShift | place | static_cast<u64>(stream);
      Trivium random(seed, bytes_of(iv));
      for (std::size_t j = begin + stream; j < end; j += kStreams) {
        const u64 low = random.next_word();
        const u128 u = (static_cast<u128>(random.next_word()) << kWordBits | low) & used;
        out[j] = scale.multiply(q.reduce_wide(u), q.value());
      }
    }
  }
}

}  // namespace ringsmith
