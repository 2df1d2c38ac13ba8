// A verilated block of any ports, behind the plain C interface of block.cpp.
//
// For each block a few lines of C++ are generated (hdl/block_wrapper.py) that define
// make_block(); everything else is here and in block.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "verilated.h"

namespace ringsmith::sim {

/// One port: `lanes` elements (more than one for an unpacked array), each of `bytes` bytes at
/// `data` and of `width` significant bits.
struct Port {
  const char* name;
  bool input;
  unsigned width;
  std::size_t lanes;
  std::size_t bytes;
  void* data;
};

/// Number of elements of a port, and bytes of each. Elements are Verilator's 1, 2, 4 or 8 byte
/// integers.
template <typename T>
struct PortShape {
  static constexpr std::size_t lanes = 1;
  static constexpr std::size_t bytes = sizeof(T);
};
template <typename T, std::size_t N>
struct PortShape<VlUnpacked<T, N>> {
  static constexpr std::size_t lanes = N * PortShape<T>::lanes;
  static constexpr std::size_t bytes = PortShape<T>::bytes;
  static_assert(sizeof(VlUnpacked<T, N>) == N * sizeof(T), "elements are contiguous");
};

template <typename T>
Port make_port(const char* name, bool input, unsigned width, T& data) {
  return {name, input, width, PortShape<T>::lanes, PortShape<T>::bytes, &data};
}

/// A design and its port table. The table's pointers live as long as the block.
class Block {
 public:
  virtual ~Block() = default;
  /// Settles all logic after inputs changed.
  virtual void eval() = 0;
  const std::vector<Port>& ports() const { return ports_; }

 protected:
  std::vector<Port> ports_;
};

/// Defined by the generated code: a new block whose state is set up under `context`.
std::unique_ptr<Block> make_block(VerilatedContext* context);

}  // namespace ringsmith::sim
