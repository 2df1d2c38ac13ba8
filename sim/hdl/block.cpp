// The plain C interface of a verilated block. Functions that may fail return 0 on success and leave
// a text in rsb_error; after a failure the block can only be freed.
#include "block.h"

#include <cstring>
#include <exception>
#include <string>

#include "stop.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

using ringsmith::sim::Block;
using ringsmith::sim::Port;

struct Handle {
  VerilatedContext context;
  std::unique_ptr<Block> block;
  const Port* clock = nullptr;
  std::string error;
};

void write(const Port& port, const std::uint64_t* values) {
  auto* data = static_cast<unsigned char*>(port.data);
  for (std::size_t lane = 0; lane < port.lanes; ++lane) {
    // Little-endian, like every machine Verilator's -march=native build runs on here.
    std::memcpy(data + lane * port.bytes, &values[lane], port.bytes);
  }
}

void read(const Port& port, std::uint64_t* values) {
  const auto* data = static_cast<const unsigned char*>(port.data);
  for (std::size_t lane = 0; lane < port.lanes; ++lane) {
    values[lane] = 0;
    std::memcpy(&values[lane], data + lane * port.bytes, port.bytes);
  }
}

void set_clock(Handle& handle, std::uint64_t level) {
  if (handle.clock) write(*handle.clock, &level);
  handle.context.timeInc(1);
  handle.block->eval();
}

template <typename Action>
int guarded(Handle& handle, Action action) {
  try {
    action();
    return 0;
  } catch (const std::exception& failure) {
    handle.error = failure.what();
    return 1;
  }
}

}  // namespace

#define RSB_EXPORT extern "C" __attribute__((visibility("default")))

/// A new block, all inputs zero and the clock low. `clock` names the clock input, or is empty for a
/// block without one. `seed` chooses the values of what has no reset, where the build randomizes
/// them.
RSB_EXPORT Handle* rsb_new(const char* clock, int seed) {
  auto handle = std::make_unique<Handle>();
  handle->context.randReset(2);
  handle->context.randSeed(seed);
  handle->block = ringsmith::sim::make_block(&handle->context);
  for (const Port& port : handle->block->ports()) {
    if (port.input) std::memset(port.data, 0, port.lanes * port.bytes);
    if (port.input && std::strcmp(port.name, clock) == 0) handle->clock = &port;
  }
  guarded(*handle, [&] { handle->block->eval(); });
  return handle.release();
}

RSB_EXPORT void rsb_free(Handle* handle) {
  // Verilator takes scopes out of the context that the thread used last: that must not be the
  // context of another block, which may be gone.
  Verilated::threadContextp(&handle->context);
  delete handle;
}

RSB_EXPORT const char* rsb_error(const Handle* handle) { return handle->error.c_str(); }

RSB_EXPORT int rsb_port_count(const Handle* handle) {
  return static_cast<int>(handle->block->ports().size());
}

/// Describes port `index`: its name; through the pointers whether it is an input, bits, elements.
RSB_EXPORT const char* rsb_port(const Handle* handle, int index, int* input, int* width,
                                int* lanes) {
  const Port& port = handle->block->ports().at(static_cast<std::size_t>(index));
  *input = port.input ? 1 : 0;
  *width = static_cast<int>(port.width);
  *lanes = static_cast<int>(port.lanes);
  return port.name;
}

/// Sets an input's elements; they take effect at the next eval, step or run.
RSB_EXPORT void rsb_poke(Handle* handle, int index, const std::uint64_t* values) {
  write(handle->block->ports()[static_cast<std::size_t>(index)], values);
}

/// Reads a port's elements as they are now.
RSB_EXPORT void rsb_peek(const Handle* handle, int index, std::uint64_t* values) {
  read(handle->block->ports()[static_cast<std::size_t>(index)], values);
}

/// Settles combinational logic without a clock edge.
RSB_EXPORT int rsb_eval(Handle* handle) {
  return guarded(*handle, [&] { handle->block->eval(); });
}

/// Clocks `cycles` times: one rising edge each, the clock low again at the end.
RSB_EXPORT int rsb_step(Handle* handle, std::uint64_t cycles) {
  return guarded(*handle, [&] {
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
      set_clock(*handle, 1);
      set_clock(*handle, 0);
    }
  });
}

/// Streams `cycles` rows. Row t of each input array is driven, outputs are sampled into row t just
/// before the rising edge, then the clock rises. Arrays hold rows of `lanes` elements.
RSB_EXPORT int rsb_run(Handle* handle, std::uint64_t cycles, int input_count, const int* inputs,
                       const std::uint64_t* const* driven, int output_count, const int* outputs,
                       std::uint64_t* const* sampled) {
  const auto& ports = handle->block->ports();
  return guarded(*handle, [&] {
    for (std::uint64_t cycle = 0; cycle < cycles; ++cycle) {
      for (int i = 0; i < input_count; ++i) {
        const Port& port = ports[static_cast<std::size_t>(inputs[i])];
        write(port, driven[i] + cycle * port.lanes);
      }
      set_clock(*handle, 0);
      for (int i = 0; i < output_count; ++i) {
        const Port& port = ports[static_cast<std::size_t>(outputs[i])];
        read(port, sampled[i] + cycle * port.lanes);
      }
      set_clock(*handle, 1);
    }
    set_clock(*handle, 0);
  });
}

#if VM_COVERAGE
/// Writes how often lines ran and bits changed since the block was made, as a file of Verilator's.
RSB_EXPORT int rsb_write_coverage(Handle* handle, const char* path) {
  return guarded(*handle, [&] { handle->context.coveragep()->write(path); });
}
#endif
