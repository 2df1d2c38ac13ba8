// Which nodes of a graph the interpreter computes in one pass instead of one by one.
//
// Key switching is written as mod_up, ntt and two inner products for every digit. Where the raised
// digits are read by those two inner products alone, they need not be kept: kernels::DigitProducts
// computes both sums a prime at a time, with the same words.
#pragma once

#include <map>
#include <vector>

#include "ringsmith/graph.h"

namespace ringsmith {

/// A pair of inner products that is computed at once, when the first is reached.
struct FusedProducts {
  std::size_t second;                // the node of the other half
  std::vector<std::size_t> mod_ups;  // of each digit, in order
};

struct GraphFusion {
  std::vector<bool> skipped;                      // mod_up and ntt nodes that are never stored
  std::vector<bool> second;                       // inner products that an earlier one computed
  std::map<std::size_t, FusedProducts> products;  // by the first node of each pair
};

[[nodiscard]] GraphFusion find_fusions(const std::vector<Node>& nodes);

}  // namespace ringsmith
