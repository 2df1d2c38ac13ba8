// The NTT of one limb over vectors, for any processor and modulus size.
//
// Only for the kernel sets' own source files, each compiled for its processor: everything is in an
// unnamed namespace, and no inline function of another header is used, so that the linker cannot
// take code made for a newer processor into the rest of the library.
//
// The transform walks the tree of butterflies depth first, two or three layers a pass, so that a
// block that fits a cache is finished before the next is touched. Blocks of lanes^2 words are done
// in registers: log2(lanes) layers between registers, a transposition, and the last log2(lanes)
// layers between registers again. With four lanes two such blocks are one, with their common layer.
// The inverse is the same backwards.
//
// `A` is the arithmetic of a modulus-size kernel:
//   load_plain, load_shifted, load_wide   words below kPlain q, the same plus the offset, any words
//                                         plus the offset: to values that forward() takes
//   load_residue                          canonical words, to values that inverse() takes
//   forward(u, x, t, layer)               u, x = u + x t, u - x t
//   inverse<layer, reduces>(u, v, t, row) u, v = u + v, (u - v) t; layers and u's row are a pass's
//   last<layer>(u, v, scale, t)           u, v = (u + v) scale, (u - v) t, canonical
//   canonical(x)                          forward's values back to canonical words
//   digit(x)                              or, of some classes, to what key_products reads
//   value(x)                              a word, as what multiply() takes
//   difference(a, x)                      a canonical word less such a value: the same
//   Word, load, store                     what is kept between passes, u64 or narrower; load and
//                                         store take u64, too
//   transpose, transpose_back             rows as load() leaves them to columns, and back
//   Twiddle, Node                         a factor in every lane; one in all lanes, as node() reads
//                                         it for every layer but a block's last ones
//   kSpaced                               if true, forward()'s layers count from one that reduces
//   kInTurn                               if true, forward() is for one column after the other
//   kReduces                              whether inverse() must reduce in every layer, not only
//                                         in a pass's last
//   reduce_sums<layers>(x)                where inverse() reduces nothing: what is left to do for
//                                         the first row of a pass, the only one that has but sums
//   kColumns, kStreams                    columns of a pass and blocks at a time: 1, 2 or 4
//   kJoined                               transposed blocks that are one with the layer above: 1, 2
#pragma once

#include <cstddef>
#include <type_traits>

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
// of 2^8 coefficients and blocks of 2^6 words two are left. Passes of two are next to the root:
// there a pass goes over many columns, and it reads its factors once for all of them.
constexpr int pass_layers(int layers) { return layers % 3 == 0 ? 3 : 2; }

/// `Finish` is what becomes of the forward transform's values.
template <typename A, typename Finish>
class Transform {
 public:
  using Vec = typename A::Vec;
  using Twiddle = typename A::Twiddle;
  using Node = typename A::Node;
  using Word = typename A::Word;
  static constexpr int kLanes = A::kLanes;
  static constexpr int kLogLanes = log2_exact(kLanes);
  // What is done in registers at the end: kJoined transposed blocks and the layers above them.
  static constexpr int kJoined = A::kJoined;
  static constexpr int kBlockRows = kJoined * kLanes;
  static constexpr int kBlockLayers = log2_exact(kBlockRows);
  static constexpr std::size_t kBlock = std::size_t{kBlockRows} * kLanes;
  static constexpr int kLogBlock = kBlockLayers + kLogLanes;
  // Words of u64 become words of this arithmetic when they are first read, and u64 again when they
  // are last written. Between passes a row's words are where the row begins as words of u64.
  static constexpr std::size_t kSpread = sizeof(u64) / sizeof(Word);
  // Columns of a pass, and blocks, that are worked on at a time: a butterfly's latency is many
  // times its share of the multipliers.
  static constexpr int kColumns = A::kColumns;
  static constexpr int kStreams = A::kStreams;
  static constexpr int kGroups = kStreams * kJoined;  // that are transposed
  static constexpr bool kSpaced = requires { requires A::kSpaced; };
  static constexpr bool kInTurn = requires { requires A::kInTurn; };

  Transform(const NttPlan& plan, const TwiddleView& twiddles, u64 offset, const Finish& finish = {})
      : plan_(plan), twiddles_(twiddles), arithmetic_(plan.prime, offset), finish_(finish) {}

  template <Source source>
  void forward(const u64* in, u64* out) const {
    forward_tree<source>(in, reinterpret_cast<Word*>(out), plan_.log_degree - kLogBlock, 1);
  }

  template <Place place>
  void inverse(const u64* in, u64* out) const {
    inverse_tree<place>(in, reinterpret_cast<Word*>(out), plan_.log_degree - kLogBlock, 1);
  }

 private:
  // The factor of a node, in all lanes.
  RINGSMITH_INLINE Node node(std::size_t index) const { return A::node(twiddles_, index); }

  template <Source source, typename From>
  RINGSMITH_INLINE Vec load(const From* from) const {
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

  // The block of 2^layers * kBlock words below node `index`. If kSpaced, passes next to the blocks
  // reduce, and, but for the root's, those with one between.
  template <Source source, int kFirst = 0, typename From>
  void forward_tree(const From* in, Word* out, int layers, std::size_t index) const {
    constexpr bool kTop = source != Source::kInner;
    if constexpr (kSpaced && kFirst == 0) {
      if (kTop ? layers > 3 : (layers - 1) / 3 % 2 == 1) {
        return forward_tree<source, kTop ? 2 : 5>(in, out, layers, index);
      }
    }
    if (pass_layers(layers) == 2) {
      forward_pass<source, 2, kFirst>(in, out, layers, index);
    } else {
      forward_pass<source, 3, kFirst>(in, out, layers, index);
    }
  }

  // Writes a column's words when it has read them, and in place they may lie kSpread times as far
  // apart: what it writes over is of that column, or of earlier ones, or no longer of use.
  template <Source source, int kLayers, int kFirst, typename From>
  void forward_pass(const From* in, Word* out, int layers, std::size_t index) const {
    constexpr std::size_t kRows = std::size_t{1} << kLayers;
    const std::size_t step = (kBlock << layers) / kRows;
    Node twiddles[kRows];
    RINGSMITH_UNROLL
    for (std::size_t i = 1; i < kRows; ++i) {
      const int layer = log2_exact(static_cast<int>(i));
      twiddles[i] = node((index << layer) + (i - (std::size_t{1} << layer)));
    }
    const A arithmetic = arithmetic_;
    for (std::size_t column = 0; column < step; column += kColumns * kLanes) {
      Vec rows[kColumns * kRows];
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kColumns * kRows; ++i) {
        rows[i % kColumns * kRows + i / kColumns] =
            load<source>(in + column + i % kColumns * kLanes + i / kColumns * step);
      }
      forward_layers<kLayers, false, kColumns, kFirst>(arithmetic, rows, twiddles);
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kColumns * kRows; ++i) {
        A::store(out + column + i % kColumns * kLanes + i / kColumns * step * kSpread,
                 rows[i % kColumns * kRows + i / kColumns]);
      }
    }
    if (kFirst == 0 && layers == kLayers) {
      for (std::size_t i = 0; i < kRows; i += kStreams) {
        forward_blocks(out + i * kBlock * kSpread, index * kRows + i);
      }
      return;
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      forward_tree<Source::kInner>(out + i * step * kSpread, out + i * step * kSpread,
                                   layers - kLayers, index * kRows + i);
    }
  }

  // Layers kFirst ... between 2^kLayers registers, in each of `places`; entry i of a place's
  // factors, or of all places' unless they have their own, belongs to node i of the layers' tree.
  template <int kLayers, bool kOwn, int places, int kFirst, typename T>
  RINGSMITH_INLINE static void forward_layers(const A& arithmetic, Vec* rows, const T* twiddles) {
    constexpr int kRows = 1 << kLayers;
    RINGSMITH_UNROLL
    for (int layer = 0; layer < kLayers; ++layer) {
      const int half = kRows >> (layer + 1);
      RINGSMITH_UNROLL
      for (int i = 0; i < places * kRows / 2; ++i) {
        const int first = (kInTurn ? i / (kRows / 2) : i % places) * kRows;
        const int pair = kInTurn ? i % (kRows / 2) : i / places;
        Vec* const upper = rows + first + pair / half * 2 * half + pair % half;
        arithmetic.forward(upper[0], upper[half],
                           twiddles[(kOwn ? first : 0) + (1 << layer) + pair / half],
                           kFirst + layer);
      }
    }
  }

  // Where row i of consecutive blocks is between passes.
  static constexpr std::size_t spread(int i) {
    const auto row = static_cast<std::size_t>(i);
    return row / kBlockRows * kBlock * kSpread + row % kBlockRows * kLanes;
  }

  // The last kLogBlock layers, on kBlock words in registers for every stream; in place.
  RINGSMITH_INLINE void forward_blocks(Word* words, std::size_t index) const {
    constexpr int kRows = kStreams * kBlockRows;
    Vec rows[kRows];
    Node nodes[kRows];
    Twiddle twiddles[kRows];
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      RINGSMITH_UNROLL
      for (int i = stream * kBlockRows; i < (stream + 1) * kBlockRows; ++i) {
        rows[i] = A::load(words + spread(i));
      }
      load_nodes(index + stream, nodes + stream * kBlockRows);
    }
    // Of eight layers the last ones, after a pass of three, unless more headroom is to be left.
    constexpr int kFirst = kLogBlock <= 5 && !requires { Finish::kWantsHeadroom; } ? 3 : 0;
    forward_layers<kBlockLayers, true, kStreams, kFirst>(arithmetic_, rows, nodes);
    RINGSMITH_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      A::transpose(rows + group * kLanes);
      load_transposed(index * kJoined + group, twiddles + group * kLanes);
    }
    forward_layers<kLogLanes, true, kGroups, kFirst + kBlockLayers>(arithmetic_, rows, twiddles);
    RINGSMITH_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      A::transpose_back(rows + group * kLanes);
      RINGSMITH_UNROLL
      for (int i = group * kLanes; i < (group + 1) * kLanes; ++i) {
        finish_(arithmetic_, rows[i], reinterpret_cast<u64*>(words) + i * kLanes);
      }
    }
  }

  // The factors of a block's first layers.
  RINGSMITH_INLINE void load_nodes(std::size_t index, Node* nodes) const {
    RINGSMITH_UNROLL
    for (int i = 1; i < kBlockRows; ++i) {
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
      twiddles[i] = A::load_twiddle(twiddles_, position);
    }
  }

  // The first kLogBlock layers of the inverse, on kBlock words for every stream.
  RINGSMITH_INLINE void inverse_blocks(const u64* in, Word* out, std::size_t index) const {
    constexpr int kRows = kStreams * kBlockRows;
    Vec rows[kRows];
    Node nodes[kRows];
    Twiddle twiddles[kRows];
    RINGSMITH_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      RINGSMITH_UNROLL
      for (int i = group * kLanes; i < (group + 1) * kLanes; ++i) {
        rows[i] = arithmetic_.load_residue(in + i * kLanes);
      }
      A::transpose(rows + group * kLanes);
      load_transposed(index * kJoined + group, twiddles + group * kLanes);
    }
    inverse_layers<kLogLanes, kLogLanes, true, kGroups>(arithmetic_, rows, twiddles);
    RINGSMITH_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      A::transpose_back(rows + group * kLanes);
    }
    RINGSMITH_UNROLL
    for (int stream = 0; stream < kStreams; ++stream) {
      load_nodes(index + stream, nodes + stream * kBlockRows);
    }
    inverse_layers<kBlockLayers, kBlockLayers, true, kStreams>(arithmetic_, rows, nodes);
    reduce_sums<kBlockLayers, kStreams>(arithmetic_, rows);
    RINGSMITH_UNROLL
    for (int i = 0; i < kRows; ++i) {
      A::store(out + spread(i), rows[i]);
    }
  }

  // Layers kFirst ... kEnd - 1 of the inverse on 2^kLayers registers in each of `places`,
  // where layer 0 joins neighbours.
  template <int kLayers, int kEnd, bool kOwn, int places, int kFirst = 0, typename T>
  RINGSMITH_INLINE static void inverse_layers(const A& arithmetic, Vec* rows, const T* twiddles) {
    if constexpr (kFirst < kEnd) {
      constexpr int kRows = 1 << kLayers;
      constexpr int kHalf = 1 << kFirst;
      constexpr int kNodes = 1 << (kLayers - 1 - kFirst);
      constexpr bool kReduce = kFirst + 1 == kLayers || A::kReduces;
      RINGSMITH_UNROLL
      for (int i = 0; i < places * kRows / 2; ++i) {
        const int first = i % places * kRows;
        const int pair = i / places;
        const int row = pair / kHalf * 2 * kHalf + pair % kHalf;
        Vec* const upper = rows + first + row;
        arithmetic.template inverse<kFirst, kReduce>(
            upper[0], upper[kHalf], twiddles[(kOwn ? first : 0) + kNodes + pair / kHalf], row);
      }
      inverse_layers<kLayers, kEnd, kOwn, places, kFirst + 1>(arithmetic, rows, twiddles);
    }
  }

  // What a pass of kLayers layers leaves to reduce.
  template <int kLayers, int places>
  RINGSMITH_INLINE static void reduce_sums(const A& arithmetic, Vec* rows) {
    if constexpr (requires { arithmetic.template reduce_sums<kLayers>(rows[0]); }) {
      RINGSMITH_UNROLL
      for (int place = 0; place < places; ++place) {
        Vec& first = rows[place << kLayers];
        first = arithmetic.template reduce_sums<kLayers>(first);
      }
    }
  }

  // The block of 2^layers * kBlock words below node `index`.
  template <Place place>
  void inverse_tree(const u64* in, Word* out, int layers, std::size_t index) const {
    if (pass_layers(layers) == 2) {
      inverse_pass<place, 2>(in, out, layers, index);
    } else {
      inverse_pass<place, 3>(in, out, layers, index);
    }
  }

  template <Place place, int kLayers>
  void inverse_pass(const u64* in, Word* out, int layers, std::size_t index) const {
    constexpr std::size_t kRows = std::size_t{1} << kLayers;
    using To = std::conditional_t<place == Place::kInner, Word, u64>;
    // Wider words are written over those of later columns, so the last column comes first.
    constexpr bool kBackwards = sizeof(To) > sizeof(Word);
    const std::size_t step = (kBlock << layers) / kRows;
    if (layers == kLayers) {
      for (std::size_t i = 0; i < kRows; i += kStreams) {
        inverse_blocks(in + i * kBlock, out + i * kBlock * kSpread, index * kRows + i);
      }
    } else {
      for (std::size_t i = 0; i < kRows; ++i) {
        inverse_tree<Place::kInner>(in + i * step, out + i * step * kSpread, layers - kLayers,
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
    To* const to = reinterpret_cast<To*>(out);
    for (std::size_t done = 0; done < step; done += kColumns * kLanes) {
      const std::size_t column = kBackwards ? step - kColumns * kLanes - done : done;
      Vec rows[kColumns * kRows];
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kColumns * kRows; ++i) {
        rows[i % kColumns * kRows + i / kColumns] =
            A::load(out + column + i % kColumns * kLanes + i / kColumns * step * kSpread);
      }
      constexpr int kEnd = place == Place::kInner ? kLayers : kLayers - 1;
      inverse_layers<kLayers, kEnd, false, kColumns>(arithmetic, rows, twiddles);
      if constexpr (place == Place::kInner) {
        reduce_sums<kLayers, kColumns>(arithmetic, rows);
      }
      if constexpr (place != Place::kInner) {
        RINGSMITH_UNROLL
        for (std::size_t i = 0; i < kColumns * kRows / 2; ++i) {
          Vec* const first = rows + i % kColumns * kRows;
          arithmetic.template last<kLayers - 1>(first[i / kColumns],
                                                first[i / kColumns + kRows / 2], scale, last);
        }
      }
      RINGSMITH_UNROLL
      for (std::size_t i = 0; i < kColumns * kRows; ++i) {
        Vec& x = rows[i % kColumns * kRows + i / kColumns];
        if constexpr (place == Place::kShiftedTop) {
          x = A::reduce_once(A::add(x, arithmetic.offset), arithmetic.q);
        }
        A::store(to + column + i % kColumns * kLanes + i / kColumns * step, x);
      }
    }
  }

  const NttPlan& plan_;
  TwiddleView twiddles_;
  A arithmetic_;
  Finish finish_;
};

}  // namespace
}  // namespace ringsmith::simd
