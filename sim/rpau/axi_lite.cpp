// The verilated accelerator rs_rpau_axil behind a plain C interface: a master on its AXI4-Lite bus,
// and on the AXI4 bus of its data path.
//
// Functions that may fail return 0 on success, and otherwise leave a text in axil_error().
#include <algorithm>
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
constexpr u64 kBeatWords = 8;       // words of 64 bits of a beat of the data path
constexpr u64 kBeatBytes = 8 * kBeatWords;
constexpr u64 kBoundary = 4096;  // bytes: no burst of AXI4 crosses a multiple
constexpr int kBeatSize = 6;     // log2 of a beat's bytes, as AXI writes it
constexpr int kIncrementing = 1;

/// Moves `count` words from byte `address` on in bursts, `burst(address, first word, beats)` each,
/// as long as AXI4 allows; returns the first response that is not 0, OKAY.
template <typename Burst>
int in_bursts(u64 address, u64 count, Burst burst) {
  for (u64 begin = 0; begin < count;) {
    const u64 at = address + 8 * begin;
    const u64 beats =
        std::min((count - begin) / kBeatWords, (kBoundary - at % kBoundary) / kBeatBytes);
    if (const int response = burst(at, begin, beats); response != 0) return response;
    begin += beats * kBeatWords;
  }
  return 0;
}

class Master {
 public:
  explicit Master(int seed) {
    context_.randReset(2);
    context_.randSeed(seed);
    top_ = std::make_unique<Vrs_rpau_axil>(&context_);
    top_->s_axil_awvalid = top_->s_axil_wvalid = top_->s_axil_arvalid = 0;
    top_->s_axil_awprot = top_->s_axil_arprot = 0;
    top_->s_axil_bready = top_->s_axil_rready = 1;
    top_->s_axi_awvalid = top_->s_axi_wvalid = top_->s_axi_arvalid = 0;
    top_->s_axi_awid = top_->s_axi_arid = 0;
    top_->s_axi_awsize = top_->s_axi_arsize = kBeatSize;
    top_->s_axi_awburst = top_->s_axi_arburst = kIncrementing;
    top_->s_axi_wstrb = ~u64{0};
    top_->s_axi_bready = top_->s_axi_rready = 1;
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

  /// Writes beats in one burst of the data path; returns the bus's response, 0 for OKAY.
  int write_burst(u64 address, const u64* words, u64 beats) {
    top_->s_axi_awaddr = address;
    top_->s_axi_awlen = beats - 1;
    top_->s_axi_awvalid = 1;
    u64 sent = 0;
    for (u64 waited = 0; waited < kPatience; ++waited) {
      top_->s_axi_wvalid = sent < beats;
      top_->s_axi_wlast = sent + 1 == beats;
      for (u64 i = 0; i < 2 * kBeatWords && sent < beats; ++i)
        top_->s_axi_wdata[i] = static_cast<u32>(words[sent * kBeatWords + i / 2] >> (32 * (i % 2)));
      settle();
      const bool address_taken = top_->s_axi_awvalid && top_->s_axi_awready;
      const bool data_taken = top_->s_axi_wvalid && top_->s_axi_wready;
      const bool answered = top_->s_axi_bvalid;
      const int response = top_->s_axi_bresp;
      rise();
      if (address_taken) top_->s_axi_awvalid = 0;
      if (data_taken) {
        ++sent;
        waited = 0;
      }
      if (answered) return response;
    }
    throw std::runtime_error("the device does not answer a burst that writes");
  }

  /// Reads beats in one burst of the data path; returns the first response that is not 0, OKAY.
  int read_burst(u64 address, u64* words, u64 beats) {
    top_->s_axi_araddr = address;
    top_->s_axi_arlen = beats - 1;
    top_->s_axi_arvalid = 1;
    u64 came = 0;
    int worst = 0;
    for (u64 waited = 0; waited < kPatience; ++waited) {
      settle();
      const bool address_taken = top_->s_axi_arvalid && top_->s_axi_arready;
      const bool answered = top_->s_axi_rvalid;
      if (answered) {
        for (u64 i = 0; i < kBeatWords; ++i)
          words[came * kBeatWords + i] =
              top_->s_axi_rdata[2 * i] | u64{top_->s_axi_rdata[2 * i + 1]} << 32;
        if (worst == 0) worst = top_->s_axi_rresp;
      }
      const bool last = top_->s_axi_rlast;
      rise();
      if (address_taken) top_->s_axi_arvalid = 0;
      if (!answered) continue;
      if (last != (++came == beats)) throw std::runtime_error("a burst has another length");
      if (last) return worst;
      waited = 0;
    }
    throw std::runtime_error("the device does not answer a burst that reads");
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

/// Writes `count` words, a multiple of eight, through the data path from byte `address` on, in
/// bursts as long as AXI4 allows. `response` is the first that is not OKAY, else 0.
AXIL_EXPORT int axil_write_block(Master* master, u64 address, const u64* words, u64 count,
                                 int* response) {
  return guarded(master, [&] {
    *response = in_bursts(address, count, [&](u64 at, u64 begin, u64 beats) {
      return master->write_burst(at, words + begin, beats);
    });
  });
}

/// Reads words through the data path; see axil_write_block.
AXIL_EXPORT int axil_read_block(Master* master, u64 address, u64* words, u64 count, int* response) {
  return guarded(master, [&] {
    *response = in_bursts(address, count, [&](u64 at, u64 begin, u64 beats) {
      return master->read_burst(at, words + begin, beats);
    });
  });
}

/// Lets clock cycles pass.
AXIL_EXPORT int axil_pause(Master* master, u64 cycles) {
  return guarded(master, [&] { master->pause(cycles); });
}
