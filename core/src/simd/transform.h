// The NTT of one limb over vectors, for any processor and word class.
//
// Only for the kernel sets' own source files, each compiled for its processor: everything is in an
// unnamed namespace, and no inline function of another header is used, so that the linker cannot
// take code made for a newer processor into the rest of the library.
//
// The transform walks the tree of butterflies depth first, two or three layers a pass, so that a
// block that fits a cache is finished before the next is touched. Blocks of lanes^2 words are done
// in registers: log2(lanes) layers between registers, a transposition, and the last log2(lanes)
// layers between registers again. The inverse is the same backwards.
//
// `A` is the arithmetic of a word class:
//   load_plain, load_shifted, load_wide   words below 4q, the same plus the offset, any words plus
//                                         the offset: to values that forward() takes
//   load_residue                          canonical words, to values that inverse() takes
//   forward(u, x, t)                      u, x = u + x t, u - x t
//   inverse<layer, reduces>(u, v, t)      u, v = u + v, (u - v) t; layers count within a pass
//   last<layer>(u, v, scale, t)           u, v = (u + v) scale, (u - v) t, canonical
//   canonical(x)                          forward's values back to canonical words
//   difference(a, x)                      a canonical word less such a value: a word to multiply
//   Twiddle, Node                         a factor in every lane; one in all lanes, as node() reads
//                                         it for every layer but a block's last ones
//   kReduces                              whether inverse() must reduce in every layer, not only
//                                         in a pass's last
//   kStreams                              columns or blocks at a time: 1 or 2
#pragma once

#include <cstddef>

#include "kernel_set.h"

#define RINGSMITH_INLINE [[gnu::always_inline]] inline
#define RINGSMITH_UNROLL _Pragma("GCC unroll 64")

namespace ringsmith::simd {
namespace {

constexpr int log2_exact(int value) { return value <= 1 ? 0 : 1 + log2_exact(value / 2); }

// How a pass reads its words: as they are, shifted by the offset, shifted and reduced, or as values
// that an earlier pass left.
enum class Source { kPlain, kShifted, kWide, kInner };

// Where a pass of the inverse is in the tree: below others, at the top, or there with the offset
// added to its results.
enum class Place { kInner, kTop, kShiftedTop };

// Layers of the next pass when `layers` are left before the blocks in registers: never one, since
// of 2^8 coefficients and blocks of 2^6 words two are left.
constexpr int pass_layers(int layers) { return layers == 2 || layers == 4 ? 2 : 3; }

/// What becomes of the forward transform's values: canonical words in their place.
template <typename A>
struct Canonical {
  RINGSMITH_INLINE void operator()(const A& arithmetic, typename A::Vec x, u64* to) const {
    A::store(to, arithmetic.canonical(x));
  }
};

template <typename A, typename Finish = Canonical<A>>
class Transform {
 public:
  using Vec = typename A::Vec;
  using Twiddle = typename A::Twiddle;
  using Node = typename A::Node;
  static constexpr int kLanes = A::kLanes;
  static constexpr int kLogLanes = log2_exact(kLanes);
  static constexpr std::size_t kBlock = std::size_t{kLanes} * kLanes;
  // Columns of a pass, or blocks, that are worked on at a time: a butterfly's latency is many times
  // its share of the multipliers.
  static constexpr int kStreams = A::kStreams;

  Transform(const NttPlan& plan, const TwiddleView& twiddles, u64 offset, const Finish& finish = {})
      : plan_(plan), twiddles_(twiddles), arithmetic_(plan.prime, offset), finish_(finish) {}

  template <Source source>
  void forward(const u64* in, u64* out) const {
    forward_tree<source>(in, out, plan_.log_degree - 2 * kLogLanes, 1);
  }

  template <Place place>
  void inverse(const u64* in, u64* out) const {
    inverse_tree<place>(in, out, plan_.log_degree - 2 * kLogLanes, 1);
  }

 private:
  // The factor of a node, in all lanes.
  RINGSMITH_INLINE Node node(std::size_t index) const { return A::node(twiddles_, index); }

  template <Source source>
  RINGSMITH_INLINE Vec load(const u64* from) const {
    if constexpr (source == Source::kPlain) {
      return arithmetic_.load_plain(from);
    } else if constexpr (source == Source::kShifted) {
      return arithmetic_.load_shifted(from);
    } else if constexpr (source == Source::kWide) {
      return arithmetic_.load_wide(from);
    } else {
      return A::load(from);
    }
  }

  // The block of 2^layers * kBlock words below node `index`.
  template <Source source>
  void forward_tree(const u64* in, u64* out, int layers, std::size_t index) const {
    if (pass_layers(layers) == 2) {
      forward_pass<source, 2>(in, out, layers, index);
    } else {
      forward_pass<source, 3>(in, out, layers, index);
    }
  }

  template <Source source, int kLayers>
  void forward_pass(const u64* in, u64* out, int layers, std::size_t index) const {
    constexpr std::size_t kRows = std::size_t{1} << kLayers;
    const std::size_t step = (kBlock << layers) / kRows;
    Node twiddles[kRows];
    RINGSMITH_UNROLL
    for (std::size_t i = 1; i < kRows; ++i) {
      const int layer = log2_exact(static_cast<int>(i));
      twiddles[i] = node((index << layer) + (i - (std::size_t{1} << layer)));
    }
    const A arithmetic = arithmetic_;
    for (std::size_t column = 0; column < step; column += kStreams * kLanes) {
      Vec rows[kStreams][kRows];
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kStreams * kRows; ++i) {
        rows[i % kStreams][i / kStreams] =
            load<source>(in + column + i % kStreams * kLanes + i / kStreams * step);
      }
      forward_layers<kLayers, false>(arithmetic, rows, &twiddles);
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kStreams * kRows; ++i) {
        A::store(out + column + i % kStreams * kLanes + i / kStreams * step,
                 rows[i % kStreams][i / kStreams]);
      }
    }
    if (layers == kLayers) {
      for (std::size_t i = 0; i < kRows; i += kStreams) {
        forward_blocks(out + i * kBlock, index * kRows + i);
      }
      return;
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      forward_tree<Source::kInner>(out + i * step, out + i * step, layers - kLayers,
                                   index * kRows + i);
    }
  }

  // kLayers layers between 2^kLayers registers of every stream; entry i of a stream's factors, or
  // of all streams' unless they have their own, belongs to node i of the layers' tree.
  template <int kLayers, bool kOwn, typename T>
  RINGSMITH_INLINE static void forward_layers(const A& arithmetic, Vec (*rows)[1 << kLayers],
                                              const T (*twiddles)[1 << kLayers]) {
    constexpr int kRows = 1 << kLayers;
    RINGSMITH_UNROLL
    for (int layer = 0; layer < kLayers; ++layer) {
      const int half = kRows >> (layer + 1);
      RINGSMITH_UNROLL
      for (int i = 0; i < kStreams * kRows / 2; ++i) {
        const int stream = i % kStreams;
        const int pair = i / kStreams;
        const int upper = pair / half * 2 * half + pair % half;
        arithmetic.forward(rows[stream][upper], rows[stream][upper + half],
                           twiddles[kOwn ? stream : 0][(1 << layer) + pair / half]);
      }
    }
  }

  // The last 2 * kLogLanes layers, on kBlock words in registers for every stream; in place.
  RINGSMITH_INLINE void forward_blocks(u64* words, std::size_t index) const {
    Vec rows[kStreams][kLanes];
    Node nodes[kStreams][kLanes];
    Twiddle twiddles[kStreams][kLanes];
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      RINGSMITH_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        rows[stream][i] = A::load(words + stream * kBlock + i * kLanes);
      }
      load_nodes(index + stream, nodes[stream]);
    }
    forward_layers<kLogLanes, true>(arithmetic_, rows, nodes);
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      A::transpose(rows[stream]);
      load_transposed(index + stream, twiddles[stream]);
    }
    forward_layers<kLogLanes, true>(arithmetic_, rows, twiddles);
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      A::transpose(rows[stream]);
      RINGSMITH_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        finish_(arithmetic_, rows[stream][i], words + stream * kBlock + i * kLanes);
      }
    }
  }

  // The factors of a block's first layers.
  RINGSMITH_INLINE void load_nodes(std::size_t index, Node* nodes) const {
    RINGSMITH_UNROLL
    for (int i = 1; i < kLanes; ++i) {
      const int layer = log2_exact(i);
      nodes[i] = node((index << layer) + static_cast<std::size_t>(i - (1 << layer)));
    }
  }

  // The factors of a block's last layers, one lane for each of its groups.
  RINGSMITH_INLINE void load_transposed(std::size_t index, Twiddle* twiddles) const {
    RINGSMITH_UNROLL
    for (int i = 1; i < kLanes; ++i) {
      const int layer = log2_exact(i);
      const std::size_t position =
          (index << (kLogLanes + layer)) + static_cast<std::size_t>(i - (1 << layer)) * kLanes;
      twiddles[i] = A::load_twiddle(twiddles_.factors + position, twiddles_.quotients + position);
    }
  }

  // The first 2 * kLogLanes layers of the inverse, on kBlock words for every stream.
  RINGSMITH_INLINE void inverse_blocks(const u64* in, u64* out, std::size_t index) const {
    Vec rows[kStreams][kLanes];
    Node nodes[kStreams][kLanes];
    Twiddle twiddles[kStreams][kLanes];
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      RINGSMITH_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        rows[stream][i] = arithmetic_.load_residue(in + stream * kBlock + i * kLanes);
      }
      A::transpose(rows[stream]);
      load_transposed(index + stream, twiddles[stream]);
    }
    inverse_layers<kLogLanes, kLogLanes, true>(arithmetic_, rows, twiddles);
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      A::transpose(rows[stream]);
      load_nodes(index + stream, nodes[stream]);
    }
    inverse_layers<kLogLanes, kLogLanes, true>(arithmetic_, rows, nodes);
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      RINGSMITH_UNROLL
      for (int i = 0; i < kLanes; ++i) {
        A::store(out + stream * kBlock + i * kLanes, rows[stream][i]);
      }
    }
  }

  // Layers kFirst ... kEnd - 1 of the inverse on 2^kLayers registers of every stream, where layer 0
  // joins neighbours.
  template <int kLayers, int kEnd, bool kOwn, int kFirst = 0, typename T>
  RINGSMITH_INLINE static void inverse_layers(const A& arithmetic, Vec (*rows)[1 << kLayers],
                                              const T (*twiddles)[1 << kLayers]) {
    if constexpr (kFirst < kEnd) {
      constexpr int kHalf = 1 << kFirst;
      constexpr int kNodes = 1 << (kLayers - 1 - kFirst);
      constexpr bool kReduce = kFirst + 1 == kLayers || A::kReduces;
      RINGSMITH_UNROLL
      for (int i = 0; i < kStreams * (1 << kLayers) / 2; ++i) {
        const int stream = i % kStreams;
        const int pair = i / kStreams;
        const int upper = pair / kHalf * 2 * kHalf + pair % kHalf;
        arithmetic.template inverse<kFirst, kReduce>(
            rows[stream][upper], rows[stream][upper + kHalf],
            twiddles[kOwn ? stream : 0][kNodes + pair / kHalf]);
      }
      inverse_layers<kLayers, kEnd, kOwn, kFirst + 1>(arithmetic, rows, twiddles);
    }
  }

  // The block of 2^layers * kBlock words below node `index`.
  template <Place place>
  void inverse_tree(const u64* in, u64* out, int layers, std::size_t index) const {
    if (pass_layers(layers) == 2) {
      inverse_pass<place, 2>(in, out, layers, index);
    } else {
      inverse_pass<place, 3>(in, out, layers, index);
    }
  }

  template <Place place, int kLayers>
  void inverse_pass(const u64* in, u64* out, int layers, std::size_t index) const {
    constexpr std::size_t kRows = std::size_t{1} << kLayers;
    const std::size_t step = (kBlock << layers) / kRows;
    if (layers == kLayers) {
      for (std::size_t i = 0; i < kRows; i += kStreams) {
        inverse_blocks(in + i * kBlock, out + i * kBlock, index * kRows + i);
      }
    } else {
      for (std::size_t i = 0; i < kRows; ++i) {
        inverse_tree<Place::kInner>(in + i * step, out + i * step, layers - kLayers,
                                    index * kRows + i);
      }
    }
    Node twiddles[kRows];
    RINGSMITH_UNROLL
    for (std::size_t i = 1; i < kRows; ++i) {
      const int layer = log2_exact(static_cast<int>(i));
      twiddles[i] = node((index << layer) + (i - (std::size_t{1} << layer)));
    }
    const Twiddle scale = A::broadcast(plan_.inverse_degree);
    const Twiddle last = A::broadcast(plan_.last_backward);
    const A arithmetic = arithmetic_;
    for (std::size_t column = 0; column < step; column += kStreams * kLanes) {
      Vec rows[kStreams][kRows];
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kStreams * kRows; ++i) {
        rows[i % kStreams][i / kStreams] =
            A::load(out + column + i % kStreams * kLanes + i / kStreams * step);
      }
      constexpr int kEnd = place == Place::kInner ? kLayers : kLayers - 1;
      inverse_layers<kLayers, kEnd, false>(arithmetic, rows, &twiddles);
      if constexpr (place != Place::kInner) {
        RINGSMITH_UNROLL
        for (std::size_t i = 0; i < kStreams * kRows / 2; ++i) {
          Vec* const stream = rows[i % kStreams];
          arithmetic.template last<kLayers - 1>(stream[i / kStreams],
                                                stream[i / kStreams + kRows / 2], scale, last);
        }
      }
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kStreams * kRows; ++i) {
        Vec& x = rows[i % kStreams][i / kStreams];
        if constexpr (place == Place::kShiftedTop) {
          x = A::reduce_once(A::add(x, arithmetic.offset), arithmetic.q);
        }
        A::store(out + column + i % kStreams * kLanes + i / kStreams * step, x);
      }
    }
  }

  const NttPlan& plan_;
  TwiddleView twiddles_;
  A arithmetic_;
  Finish finish_;
};

template <typename A, typename Finish>
void forward_ntt(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out,
                 const Finish& finish) {
  const Transform<A, Finish> transform(plan, plan.forward, offset, finish);
  if (bound > 4 * plan.prime.q) {
    transform.template forward<Source::kWide>(in, out);
  } else if (offset != 0) {
    transform.template forward<Source::kShifted>(in, out);
  } else {
    transform.template forward<Source::kPlain>(in, out);
  }
}

template <typename A>
void forward_ntt(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out) {
  forward_ntt<A>(plan, in, bound, offset, out, Canonical<A>());
}

template <typename A>
void inverse_ntt(const NttPlan& plan, const u64* in, u64 offset, u64* out) {
  const Transform<A> transform(plan, plan.backward, offset);
  if (offset != 0) {
    transform.template inverse<Place::kShiftedTop>(in, out);
  } else {
    transform.template inverse<Place::kTop>(in, out);
  }
}

}  // namespace
}  // namespace ringsmith::simd
