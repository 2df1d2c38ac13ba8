// The subroutine graph and its reference interpreter.
#include "ringsmith/graph.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "../src/platform/text.h"
#include "arrays.h"
#include "module.h"
#include "ringsmith/error.h"

namespace ringsmith::bindings {
namespace {

using NamedArrays = std::map<std::string, InputArray>;
using NamedKeys = std::map<std::string, KeyArgument>;

// A graph that Python holds. While it runs, Python code runs, too: other threads, and the source of
// its inputs. Its nodes stay as they are until then. The interpreter's lock guards `runs`.
struct BoundGraph : Graph {
  using Graph::Graph;
  mutable std::size_t runs = 0;
};

// Counts a run of a graph while it lasts; made and destroyed with the interpreter's lock.
class Running {
 public:
  explicit Running(const BoundGraph& graph) : graph_(graph) { ++graph_.runs; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --graph_.runs; }

 private:
  const BoundGraph& graph_;
};

std::size_t add_node(BoundGraph& graph, std::string_view op,
                     const std::vector<std::size_t>& operands, const Attributes& attributes) {
  if (graph.runs != 0) {
    throw GraphError("the graph is running and cannot get a node: add all nodes, then run it");
  }
  return graph.add_node(op, operands, attributes);
}

// Outputs in one array, (names, limbs, N).
struct OutputBlock {
  std::vector<std::string> names;
  std::size_t limbs = 0;
  Words words;
};

// The polynomials of a ciphertext, "name.0", "name.1" ..., are one array where they are outputs one
// after the other and have as many limbs, and need not be copied into one.
std::vector<OutputBlock> output_blocks(const Graph& graph) {
  std::vector<OutputBlock> blocks;
  std::string last;
  for (const Node& node : graph.nodes()) {
    if (node.op != Op::kOutput) {
      continue;
    }
    const std::string stem = node.name.substr(0, node.name.rfind('.'));
    const std::size_t limbs = node.type.base.size();
    if (blocks.empty() || stem != last || stem == node.name || blocks.back().limbs != limbs) {
      blocks.push_back({.names = {}, .limbs = limbs, .words = {}});
    }
    blocks.back().names.push_back(node.name);
    last = stem;
  }
  for (OutputBlock& block : blocks) {
    block.words.resize(block.names.size() * block.limbs * graph.rns().degree());
  }
  return blocks;
}

// The array that Python hands over for an input, copied.
void read_input(const Graph& graph, const nb::callable& source, const std::string& name,
                std::span<u64> out) {
  const nb::gil_scoped_acquire acquired;
  const InputArray array = nb::cast<InputArray>(source(name));
  const std::string what = text("input '", name, "'");
  const std::span<const u64> words = words_of(array, what);
  check_shape(graph.rns(), array, 2, what);
  if (words.size() != out.size()) {
    throw GraphError(text(what, " has ", array.shape(0), " limbs; the graph expects ",
                          out.size() / graph.rns().degree()));
  }
  std::ranges::copy(words, out.begin());
}

nb::dict run_graph(const BoundGraph& graph, const NamedArrays& inputs, const NamedKeys& keys,
                   const std::optional<nb::callable>& source) {
  const Running running(graph);
  GraphInputs input_views;
  for (const auto& [name, array] : inputs) {
    const std::string what = text("input '", name, "'");
    const std::span<const u64> words = words_of(array, what);
    if (array.ndim() != 2) {
      check_shape(graph.rns(), array, 2, what);
    }
    input_views[name] = {words, array.shape(0)};
  }
  GraphKeys key_views;
  for (const auto& [name, key] : keys) {
    key_views[name] = key_shape_of(graph.rns(), graph.key_primes(), key);
  }
  std::vector<OutputBlock> blocks = output_blocks(graph);
  GraphOutputs outputs;
  for (OutputBlock& block : blocks) {
    for (std::size_t i = 0; i < block.names.size(); ++i) {
      const std::size_t words = block.limbs * graph.rns().degree();
      outputs[block.names[i]] = std::span<u64>(block.words).subspan(i * words, words);
    }
  }
  InputSource made;
  if (source) {
    made = [&](const std::string& name, std::span<u64> out) {
      read_input(graph, *source, name, out);
    };
  }
  without_gil([&] { graph.run(input_views, key_views, outputs, made); });
  nb::dict result;
  for (OutputBlock& block : blocks) {
    const nb::object array = nb::cast(
        to_numpy(std::move(block.words), {block.names.size(), block.limbs, graph.rns().degree()}));
    for (std::size_t i = 0; i < block.names.size(); ++i) {
      result[block.names[i].c_str()] = array[i];
    }
  }
  return result;
}

const ValueType& type_of(const BoundGraph& graph, std::size_t id) {
  if (id >= graph.nodes().size()) {
    throw GraphError(
        text("the graph has no node ", id, "; it has ", graph.nodes().size(), " nodes"));
  }
  return graph.nodes()[id].type;
}

std::pair<Base, std::string> node_type(const BoundGraph& graph, std::size_t id) {
  const ValueType& type = type_of(graph, id);
  return {type.base, type.form == Form::kNtt ? "ntt" : "coeff"};
}

std::pair<std::string, std::size_t> node_kind(const BoundGraph& graph, std::size_t id) {
  const ValueType& type = type_of(graph, id);
  const char* const kind = type.kind == Kind::kPolynomial ? "polynomial"
                           : type.kind == Kind::kDigits   ? "digits"
                                                          : "pair";
  return {kind, type.count};
}

}  // namespace

void register_graph(nb::module_& module) {
  nb::class_<BoundGraph>(module, "Graph", "A subroutine graph over one ring, built node by node.")
      .def(
          "__init__",
          [](BoundGraph* self, std::size_t n, const std::vector<u64>& primes,
             const std::vector<u64>& roots,
             std::size_t extension) { new (self) BoundGraph(n, primes, roots, extension); },
          nb::arg("n"), nb::arg("primes"), nb::arg("roots"), nb::arg("extension") = 0)
      .def_prop_ro(
          "n", [](const BoundGraph& graph) { return graph.rns().degree(); }, "Ring degree N.")
      .def_prop_ro(
          "primes", [](const BoundGraph& graph) { return graph.rns().primes(); },
          "Data primes, then special primes, then extension primes.")
      .def_prop_ro(
          "roots", [](const BoundGraph& graph) { return graph.rns().roots(); },
          "A primitive 2N-th root of unity modulo each prime.")
      .def("__len__", [](const BoundGraph& graph) { return graph.nodes().size(); })
      .def("add_node", &add_node, nb::arg("op"), nb::arg("operands"), nb::arg("attrs"),
           "Checks a node, appends it and returns its id. Operations and attributes: "
           "docs/reference/subroutine-graph.md.")
      .def("node_type", &node_type, nb::arg("node"),
           "The base (prime indices) and form ('ntt' or 'coeff') of a node's value.")
      .def("node_kind", &node_kind, nb::arg("node"),
           "The kind of a node's value, 'polynomial', 'digits' or 'pair', and of how many "
           "polynomials it is.")
      .def("run", &run_graph, nb::arg("inputs"), nb::arg("keys"), nb::arg("source") = nb::none(),
           "All outputs as (limbs, N) arrays, from inputs (limbs, N) and keys (digits, 2, K, N), "
           "expanded on the fly or precomputed. An input in NTT form may be shortened, (limbs, N / "
           "r): "
           "each word stands for r equal ones in a row. Inputs that are not given are asked of "
           "`source` by name when they are needed. Outputs name.0, name.1 ... one after the other "
           "are one array.");
}

}  // namespace ringsmith::bindings
