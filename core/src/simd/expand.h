// Residues from streams of Trivium, as many streams at a time as a register has lanes. Only for the
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

/// u * 2^-68 modulo an odd q of k bits, for u = low + 2^64 high of k + 67 bits: Montgomery's
/// reduction of the lowest 68 bits, by 32, 32 and 4.
template <typename V>
class SeedReduction {
 public:
  using Vector = V;
  using Vec = typename V::Vec;

  explicit SeedReduction(const PrimeConstants& prime)
      : q_(V::set(prime.q)),
        high_q_(V::set(prime.q >> 32)),
        inverse_(V::set(prime.inverse)),
        last_inverse_(V::set(prime.inverse << 28)),
        used_(V::set(~u64{0} >> (61 - prime.bits))),
        rest_(V::set(15)) {}

  /// The residue, canonical; bits of `high` above the used ones are left out.
  [[nodiscard]] RINGSMITH_INLINE Vec reduce(Vec low, Vec high) const {
    const Vec used = V::bit_and(high, used_);
    Vec x = divide(V::template shift_right<32>(low), low, inverse_);  // at most q + 2^32
    x = divide(V::template shift_right<32>(x), x, inverse_);          // at most q + q / 2^32 + 1
    // u / 2^64 is x + used, where used = 16 t + its lowest four bits, and t < 2^(k-1) < q.
    x = V::add(x, V::bit_and(used, rest_));
    const Vec t = V::template shift_right<4>(used);
    x = divide(V::add(V::template shift_right<4>(x), t), x, last_inverse_);
    return V::reduce_once(V::reduce_once(x, q_), q_);  // it was at most t + q + q / 16 + 2 < 3 q
  }

 private:
  // x / 2^b modulo q, plus q: with y = x / q modulo 2^b, x - y q is a multiple of 2^b, and divided
  // by that it is floor(x / 2^b) - floor(y q / 2^b), since both products end in the same bits.
  // `quotient` is floor(x / 2^b) and what else the result is to hold; `inverse` is 2^(32 - b) / q
  // modulo 2^32, which brings y to the upper b bits of 32.
  [[nodiscard]] RINGSMITH_INLINE Vec divide(Vec quotient, Vec x, Vec inverse) const {
    const Vec y = V::multiply_halves(x, inverse);
    const Vec carried = V::template shift_right<32>(V::multiply_halves(y, q_));
    return V::sub(V::add(quotient, q_), V::add(V::multiply_halves(y, high_q_), carried));
  }

  Vec q_;
  Vec high_q_;
  Vec inverse_;
  Vec last_inverse_;
  Vec used_;
  Vec rest_;
};

/// KernelSet::expand by a SeedReduction, or what has its functions.
template <typename Reduction>
void expand_streams(const PrimeConstants& prime, SeedStreams& streams, u64* out,
                    std::size_t count) {
  using V = typename Reduction::Vector;
  const Reduction reduction(prime);
  for (std::size_t first = 0; first < kSeedStreams; first += V::kLanes) {
    TriviumLanes<V> lanes;
    for (int i = 0; i < 3; ++i) {
      lanes.early[i] = V::load(&streams.early[i][first]);
      lanes.late[i] = V::load(&streams.late[i][first]);
    }
    for (std::size_t j = first; j < count; j += kSeedStreams) {
      const auto low = lanes.next();
      V::store(out + j, reduction.reduce(low, lanes.next()));
    }
    for (int i = 0; i < 3; ++i) {
      V::store(&streams.early[i][first], lanes.early[i]);
      V::store(&streams.late[i][first], lanes.late[i]);
    }
  }
}

}  // namespace
}  // namespace ringsmith::simd
