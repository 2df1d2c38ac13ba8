// In which steps the interpreter computes a graph: most are one node.
//
// Key switchings of one polynomial share its digits, and so do key_products of stored digits. A sum
// of products or multiples that nothing else reads is one step, too. Neighbouring steps that need
// no other limb are one step that has them as parts.
#pragma once

#include <vector>

#include "ringsmith/graph.h"

namespace ringsmith {

/// What a step computes.
enum class StepKind {
  kNode,      ///< one node
  kSwitches,  ///< key_switch nodes of one polynomial
  kProducts,  ///< key_product nodes of the same digits
  kSum,       ///< a sum of products, of multiples by scalars, and of other values
  kLimbwise,  ///< steps over one base that need no other limb
};

struct Step {
  StepKind kind = StepKind::kNode;
  std::vector<std::size_t> nodes;    ///< what is computed; of a sum only the last addition
  std::vector<std::size_t> results;  ///< for each the value that is stored: its own, or that of the
                                     ///< mod_down that divides a key_product
  std::vector<std::size_t> products;   ///< kSum: mul nodes that are not stored
  std::vector<std::size_t> multiples;  ///< kSum: mul_scalar nodes that are not stored
  std::vector<std::size_t> addends;    ///< kSum: values that are added to their sum
  std::vector<std::size_t> reads;      ///< values that must be there, each once; no halves
  std::vector<Step> parts;  ///< kLimbwise: what it consists of, in order. It has no other nodes,
                            ///< and its results are only what is read elsewhere
};

/// Whether a part of a limbwise step reads values that no part makes, over any base: key_product
/// nodes and scaled mod_up nodes do.
[[nodiscard]] bool reads_whole(const std::vector<Node>& nodes, const Step& part);

/// Every node but inputs, outputs and halves, which are read in their pairs, in an order in which
/// all is there when it is read.
/// @param is_made of each node whether it is an input that is made when it is first read
[[nodiscard]] std::vector<Step> plan_of(const std::vector<Node>& nodes,
                                        const std::vector<bool>& is_made);

}  // namespace ringsmith
