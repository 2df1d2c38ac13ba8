// In which steps the interpreter computes a graph: most are one node, key switching is one pass.
//
// Key switching is written as a mod_up and an ntt for every digit, two inner products and, mostly,
// a mod_down of each and an addition to it. Where no other node reads what is between,
// kernels::divided_products computes it a prime at a time, with the same words. Key switchings of
// automorphisms of one polynomial share its digits: one step computes them all. A sum of two
// products that nothing else reads is one step, too.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ringsmith/graph.h"

namespace ringsmith {

/// Key switchings in one step share the decomposition; for each, the b part (half 0) comes first.
struct PlannedSwitch {
  std::array<std::size_t, 2> products;  ///< the inner products
  std::array<std::size_t, 2> results;   ///< where divided: the mod_downs, or the sums of them with
                                        ///< `added`; else the inner products
  u64 element = 1;                      ///< the automorphism of what is decomposed
  /// Values that are multiplied by the dropped primes and added before the division.
  std::optional<std::array<std::size_t, 2>> raised;
  /// Values that are added after the division; of each the automorphism `added_element`.
  std::array<std::optional<std::size_t>, 2> added{};
  u64 added_element = 1;
};

struct Step {
  std::size_t node = 0;                 ///< what is computed, if `switches` is empty
  bool sums_products = false;           ///< `node` adds two products that are not stored
  std::vector<PlannedSwitch> switches;  ///< else these, all alike but for `element` and key
  std::size_t source = 0;               ///< the value that is decomposed, in either form
  std::vector<Base> digits;             ///< the primes of its digits
  bool divided = false;                 ///< whether the results are divided
  std::vector<std::size_t> reads;       ///< values that must be there, each once
};

/// Every node but inputs and outputs, in an order in which all is there when it is read.
[[nodiscard]] std::vector<Step> plan_of(const std::vector<Node>& nodes);

}  // namespace ringsmith
