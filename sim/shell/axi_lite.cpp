// The verilated accelerator rs_rpau_axil behind a plain C interface: a master on its AXI4-Lite bus.
//
// Functions that may fail return 0 on success, and otherwise leave a text in axil_error().
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "Vrs_rpau_axil.h"
#include "stop.h"
#include "verilated.h"

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 kSettleCycles = 160;  // longer than the reset, which the device itself prolongs
constexpr u64 kPatience = 256;      // cycles in which an access must have been answered

class Master {
 public:
  explicit Master(int seed) {
    context_.randReset(2);
    context_.randSeed(seed);
    top_ = std::make_unique<Vrs_rpau_axil>(&context_);
    top_->s_axil_awvalid = top_->s_axil_wvalid = top_->s_axil_arvalid = 0;
    top_->s_axil_awprot = top_->s_axil_arprot = 0;
    top_->s_axil_bready = top_->s_axil_rready = 1;
    // The RTL claims nothing while its state is not yet reset: assertions rest.
    context_.assertOn(false);
    top_->rst_ni = 0;
    tick();
    tick();
    top_->rst_ni = 1;
    pause(kSettleCycles);
    context_.assertOn(true);
  }

  ~Master() {
    // As in sim/rpau/harness.cpp: the context that the thread used last may be gone.
    Verilated::threadContextp(&context_);
    top_->final();
  }

  /// Writes a register of 32 bits; returns the bus's response, 0 for OKAY.
  int write(u32 address, u32 data) {
    top_->s_axil_awaddr = address;
    top_->s_axil_wdata = data;
    top_->s_axil_wstrb = 0xF;
    top_->s_axil_awvalid = top_->s_axil_wvalid = 1;
    for (u64 cycle = 0; cycle < kPatience; ++cycle) {
      settle();
      const bool address_taken = top_->s_axil_awvalid && top_->s_axil_awready;
      const bool data_taken = top_->s_axil_wvalid && top_->s_axil_wready;
      const bool answered = top_->s_axil_bvalid;
      const int response = top_->s_axil_bresp;
      rise();
      if (address_taken) top_->s_axil_awvalid = 0;
      if (data_taken) top_->s_axil_wvalid = 0;
      if (answered) return response;
    }
    throw std::runtime_error("the device does not answer a write");
  }

  /// Reads a register of 32 bits; returns the bus's response, 0 for OKAY.
  int read(u32 address, u32* data) {
    top_->s_axil_araddr = address;
    top_->s_axil_arvalid = 1;
    for (u64 cycle = 0; cycle < kPatience; ++cycle) {
      settle();
      const bool taken = top_->s_axil_arvalid && top_->s_axil_arready;
      const bool answered = top_->s_axil_rvalid;
      const int response = top_->s_axil_rresp;
      *data = top_->s_axil_rdata;
      rise();
      if (taken) top_->s_axil_arvalid = 0;
      if (answered) return response;
    }
    throw std::runtime_error("the device does not answer a read");
  }

  void pause(u64 cycles) {
    for (u64 cycle = 0; cycle < cycles; ++cycle) tick();
  }

  std::string error;

 private:
  void settle() {
    top_->clk_i = 0;
    context_.timeInc(1);
    top_->eval();
  }

  void rise() {
    top_->clk_i = 1;
    context_.timeInc(1);
    top_->eval();
  }

  void tick() {
    settle();
    rise();
  }

  VerilatedContext context_;
  std::unique_ptr<Vrs_rpau_axil> top_;
};

template <typename Action>
int guarded(Master* master, Action action) {
  try {
    action();
    return 0;
  } catch (const std::exception& failure) {
    master->error = failure.what();
    return 1;
  }
}

}  // namespace

#define AXIL_EXPORT extern "C" __attribute__((visibility("default")))

/// A new device, reset, its memories without contents. `seed` chooses the values of what has no
/// reset, in builds with assertions. Null if it could not be made.
AXIL_EXPORT Master* axil_new(int seed) {
  try {
    return new Master(seed);
  } catch (const std::exception&) {
    return nullptr;
  }
}

AXIL_EXPORT void axil_free(Master* master) { delete master; }

AXIL_EXPORT const char* axil_error(const Master* master) { return master->error.c_str(); }

/// Writes `count` values, one after another, to the register of `halves` (1 or 2) words of 32 bits
/// at `address`, lower half first. `response` is the first that is not OKAY, else 0.
AXIL_EXPORT int axil_write(Master* master, u32 address, int halves, const u64* values, u64 count,
                           int* response) {
  return guarded(master, [&] {
    *response = 0;
    for (u64 i = 0; i < count && *response == 0; ++i) {
      for (int half = 0; half < halves && *response == 0; ++half)
        *response = master->write(address + 4 * half, static_cast<u32>(values[i] >> (32 * half)));
    }
  });
}

/// Reads `count` values from a register; see axil_write.
AXIL_EXPORT int axil_read(Master* master, u32 address, int halves, u64* values, u64 count,
                          int* response) {
  return guarded(master, [&] {
    *response = 0;
    for (u64 i = 0; i < count && *response == 0; ++i) {
      values[i] = 0;
      for (int half = 0; half < halves && *response == 0; ++half) {
        u32 data = 0;
        *response = master->read(address + 4 * half, &data);
        values[i] |= u64{data} << (32 * half);
      }
    }
  });
}

/// Lets clock cycles pass.
AXIL_EXPORT int axil_pause(Master* master, u64 cycles) {
  return guarded(master, [&] { master->pause(cycles); });
}
