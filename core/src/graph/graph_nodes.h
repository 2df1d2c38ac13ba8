// Validation of subroutine-graph nodes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ringsmith/graph.h"

namespace ringsmith {

/// The operation of that name in a file, if there is one.
[[nodiscard]] std::optional<Op> op_of(std::string_view name);

/// The node that would be appended to `graph`; Graph::add_node has the rules.
/// @throws GraphError, naming node, operation and reason
[[nodiscard]] Node checked_node(const Graph& graph, std::string_view op,
                                std::vector<std::size_t> operands, const Attributes& attributes);

}  // namespace ringsmith
