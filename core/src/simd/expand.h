// Words of streams of Trivium, as many streams at a time as a register has lanes. Only for the
// kernel sets' own source files (see transform.h); the scalar set's words are vectors of one lane.
#pragma once

#include "kernel_set.h"
#include "transform.h"

namespace ringsmith::simd {
namespace {

/// The shift registers a, b and c of one group of streams, at least as long as the specification's:
/// bits in the order in which they were shifted in, the latest 64 in `late`. 64 rounds are a few
/// operations on words, since no tap is younger than 66 rounds.
template <typename V>
struct TriviumLanes {
  using Vec = typename V::Vec;
  Vec early[3];
  Vec late[3];

  /// 64 bits of register `index`, from one that is `age` rounds old.
  template <int index, int age>
  [[nodiscard]] RINGSMITH_INLINE Vec tap() const {
    return V::template funnel<128 - age>(early[index], late[index]);
  }

  /// The next 64 bits of every stream; taps are the specification's s_i, i counted from the
  /// register's first.
  RINGSMITH_INLINE Vec next() {
    const Vec t1 = V::bit_xor(tap<0, 66>(), tap<0, 93>());
    const Vec t2 = V::bit_xor(tap<1, 69>(), tap<1, 84>());
    const Vec t3 = V::bit_xor(tap<2, 66>(), tap<2, 111>());
    const Vec to_b = V::bit_xor(V::and_xor(tap<0, 91>(), tap<0, 92>(), t1), tap<1, 78>());
    const Vec to_c = V::bit_xor(V::and_xor(tap<1, 82>(), tap<1, 83>(), t2), tap<2, 87>());
    const Vec to_a = V::bit_xor(V::and_xor(tap<2, 109>(), tap<2, 110>(), t3), tap<0, 69>());
    const Vec fed[] = {to_a, to_b, to_c};
    RINGSMITH_UNROLL
    for (int i = 0; i < 3; ++i) {
      early[i] = late[i];
      late[i] = fed[i];
    }
    return V::bit_xor(V::bit_xor(t1, t2), t3);
  }
};

/// KernelSet::expand.
template <typename V>
bool expand_streams(u64 q, u64 mask, SeedStreams& streams, u64* out, std::size_t count) {
  const auto modulus = V::set(q);
  const auto used = V::set(mask);
  auto below = V::set(~u64{0});  // in its sign bit
  for (std::size_t first = 0; first < kSeedStreams; first += V::kLanes) {
    TriviumLanes<V> lanes;
    for (int i = 0; i < 3; ++i) {
      lanes.early[i] = V::load(&streams.early[i][first]);
      lanes.late[i] = V::load(&streams.late[i][first]);
    }
    for (std::size_t j = first; j < count; j += kSeedStreams) {
      const auto word = V::bit_and(lanes.next(), used);
      below = V::bit_and(below, V::sub(word, modulus));
      V::store(out + j, word);
    }
    for (int i = 0; i < 3; ++i) {
      V::store(&streams.early[i][first], lanes.early[i]);
      V::store(&streams.late[i][first], lanes.late[i]);
    }
  }
  u64 signs[V::kLanes];
  V::store(signs, below);
  u64 all = ~u64{0};
  for (const u64 sign : signs) {
    all &= sign;
  }
  return all >> 63 != 0;
}

}  // namespace
}  // namespace ringsmith::simd
