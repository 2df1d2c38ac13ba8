// The verilated accelerator rs_rpau_top behind a plain C interface: its ports, driven clock by
// clock.
//
// Functions that may fail return 0 on success, and otherwise leave a text in rpau_error(). All
// polynomials and tables cross as 64-bit words in logical order.
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "Vrs_rpau_top.h"
#include "stop.h"
#include "verilated.h"
#include "waves.h"

#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

using u64 = std::uint64_t;

constexpr int kResetCycles = 128;  // rs_rpau_pkg::ResetCycles
constexpr int kSpaceKey = 1;       // rs_rpau_pkg::SpaceKey
constexpr u64 kReadPatience = 64;  // cycles in which a read must have answered

class Accelerator {
 public:
  explicit Accelerator(int seed) {
    context_.randReset(2);
    context_.randSeed(seed);
    ringsmith::sim::Waves::prepare(context_);
    top_ = std::make_unique<Vrs_rpau_top>(&context_);
    recover();                     // the first evaluation: capabilities stand only afterwards
    top_->ring_i = capability(0);  // rs_rpau_pkg::CapabilityLogN
  }

  ~Accelerator() {
    // Verilator takes scopes out of the context that the thread used last: that must not be the
    // context of another device, which may be gone.
    Verilated::threadContextp(&context_);
    top_->final();
  }

  /// Capability register `capability` (rs_rpau_pkg::capability_e) of the device.
  u64 capability(int capability) const { return top_->design_o[capability]; }

  static constexpr int capabilities() { return sizeof(top_->design_o) / sizeof(top_->design_o[0]); }

  /// Words of a row at the host's port, rs_rpau_pkg::host_words().
  static constexpr int host_words() {
    return sizeof(top_->host_wdata_i) / sizeof(top_->host_wdata_i[0]);
  }

  /// Writes `rows` rows from row `first` on, of `words_a_row` words each: host_words(), or 1 for
  /// address spaces of single words.
  void write(int space, int rpau, int index, u64 first, u64 rows, int words_a_row,
             const u64* words) {
    address(space, rpau, index);
    top_->host_we_i = 1;
    for (u64 row = 0; row < rows; ++row) {
      top_->host_row_i = first + row;
      for (int word = 0; word < words_a_row; ++word) top_->host_wdata_i[word] = *words++;
      tick();
    }
    top_->host_we_i = 0;
  }

  /// Reads `rows` rows of a work polynomial from row `first` on, host_words() words each.
  void read(int space, int rpau, int index, u64 first, u64 rows, u64* words) {
    address(space, rpau, index);
    u64 asked = 0;
    u64 received = 0;
    while (received < rows) {
      top_->host_re_i = asked < rows;
      top_->host_row_i = first + asked;
      ++asked;
      tick();
      if (top_->host_rvalid_o) {
        for (int word = 0; word < host_words(); ++word) *words++ = top_->host_rdata_o[word];
        ++received;
      }
      if (asked > rows + kReadPatience)
        throw std::runtime_error("the device does not answer a read");
    }
    top_->host_re_i = 0;
  }

  /// Writes `count` instruction words from address `first` on.
  void load_program(u64 first, const u64* words, u64 count) {
    top_->program_we_i = 1;
    for (u64 word = 0; word < count; ++word) {
      top_->program_addr_i = first + word;
      top_->program_data_i = words[word];
      tick();
    }
    top_->program_we_i = 0;
  }

  /// Key polynomials that come while the next program runs, as long as `rows` rows, in which each
  /// one's last row stands at the host's port in its cycle, counted from the start.
  void stream(u64 count, u64 rows, const int* rpaus, const int* indices, const u64* cycles,
              const u64* words) {
    arriving_ = Arriving{};
    arriving_.streamed = true;
    arriving_.rows = rows;
    for (u64 poly = 0; poly < count; ++poly) {
      arriving_.polys.push_back({rpaus[poly], indices[poly], cycles[poly]});
    }
    arriving_.words.assign(words, words + count * rows * host_words());
  }

  void start() {
    finish_accesses();
    top_->start_i = 1;
    top_->streamed_i = arriving_.streamed;
    running_ = true;
    since_start_ = 0;
    tick();
    top_->start_i = 0;
  }

  /// Clocks until the program that was started ends, but at most `cycles` times; whether it ended.
  bool advance(u64 cycles) {
    for (; top_->busy_o; --cycles) {
      if (cycles == 0) return false;
      ++since_start_;
      arrive();
      tick();
    }
    running_ = false;
    arriving_ = Arriving{};
    top_->host_we_i = 0;
    --cycle_;  // programs are counted as if one followed the other at once
    return true;
  }

  /// Withdraws all requests of a failed action, and resets the device.
  void recover() {
    top_->host_we_i = top_->host_re_i = top_->program_we_i = top_->start_i = 0;
    running_ = false;
    arriving_ = Arriving{};
    reset();
  }

  /// Resets the device in any state, after all writes have reached the memories.
  void stop() {
    if (!top_->busy_o) finish_accesses();
    recover();
  }

  void set_ring(int log_degree) { top_->ring_i = log_degree; }

  bool failed() const { return top_->error_o; }
  u64 cycles() const { return top_->cycles_o; }
  u64 instructions() const { return top_->instructions_o; }
  u64 arrived() const { return top_->arrived_o; }
  u64 awaited() const { return top_->awaited_o; }

#if VM_TRACE
  void open_waves(const char* path, u64 first, u64 last, const char* scope, int depth) {
    waves_.open(*top_, path, first, last, scope, depth);
    if (!waves_.is_open()) throw std::runtime_error("the file cannot be written");
  }

  void close_waves() { waves_.close(); }
#endif

#if VM_COVERAGE
  void write_coverage(const char* path) { context_.coveragep()->write(path); }
#endif

  std::string error;

 private:
  struct ArrivingPoly {
    int rpau;
    int index;
    u64 cycle;  // of its last row
  };
  struct Arriving {
    bool streamed = false;  // the program's keys come while it runs
    u64 rows = 0;           // of a polynomial
    std::vector<ArrivingPoly> polys;
    std::vector<u64> words;
    u64 next = 0;  // row of all polynomials, the first one's first
  };

  /// Puts the row of a key polynomial at the host's port that comes in this cycle, if any.
  void arrive() {
    top_->host_we_i = 0;
    const u64 poly = arriving_.rows == 0 ? 0 : arriving_.next / arriving_.rows;
    if (poly >= arriving_.polys.size()) return;
    const auto& [rpau, index, last] = arriving_.polys[poly];
    const u64 row = arriving_.next % arriving_.rows;
    if (since_start_ + arriving_.rows - 1 < last + row) return;
    address(kSpaceKey, rpau, index);
    top_->host_we_i = 1;
    top_->host_row_i = row;
    const u64* words = &arriving_.words[arriving_.next * host_words()];
    for (int word = 0; word < host_words(); ++word) top_->host_wdata_i[word] = words[word];
    ++arriving_.next;
  }

  /// One clock cycle. Outputs are then those after the rising edge.
  void tick() {
    top_->clk_i = 0;
    context_.timeInc(1);
    top_->eval();
    if (running_) waves_.middle_of(cycle_);
    top_->clk_i = 1;
    context_.timeInc(1);
    top_->eval();
    if (running_) waves_.end_of(cycle_++);
  }

  /// The RTL claims nothing while its state is not yet reset: assertions rest.
  void reset() {
    context_.assertOn(false);
    top_->rst_ni = 0;
    for (int cycle = 0; cycle < kResetCycles; ++cycle) tick();
    context_.assertOn(true);
    top_->rst_ni = 1;
    tick();
  }

  /// Waits until the host's words in flight have reached their memories.
  void finish_accesses() {
    for (u64 cycle = 0; top_->host_busy_o; ++cycle) {
      if (cycle == kReadPatience) throw std::runtime_error("the host port stays busy");
      tick();
    }
  }

  void address(int space, int rpau, int index) {
    top_->host_space_i = space;
    top_->host_rpau_i = rpau;
    top_->host_index_i = index;
  }

  VerilatedContext context_;
  std::unique_ptr<Vrs_rpau_top> top_;
  ringsmith::sim::Waves waves_;
  bool running_ = false;
  Arriving arriving_;
  u64 since_start_ = 0;  // cycles
  u64 cycle_ = 0;        // of the running program, on top of those of the programs before it
};

template <typename Action>
int guarded(Accelerator* accelerator, Action action) {
  try {
    action();
    return 0;
  } catch (const std::exception& failure) {
    accelerator->error = failure.what();
    accelerator->recover();
    return 1;
  }
}

}  // namespace

#define RPAU_EXPORT extern "C" __attribute__((visibility("default")))

/// A new device, reset, its memories without contents. `seed` chooses the values of what has no
/// reset, in builds with assertions. Null if it could not be made.
RPAU_EXPORT Accelerator* rpau_new(int seed) {
  try {
    return new Accelerator(seed);
  } catch (const std::exception&) {
    return nullptr;
  }
}

RPAU_EXPORT void rpau_free(Accelerator* accelerator) { delete accelerator; }

RPAU_EXPORT const char* rpau_error(const Accelerator* accelerator) {
  return accelerator->error.c_str();
}

/// Number of the device's capability registers.
RPAU_EXPORT int rpau_capabilities(const Accelerator*) { return Accelerator::capabilities(); }

/// Capability register `capability` of the device, below rpau_capabilities()
/// (rs_rpau_pkg::capability_e).
RPAU_EXPORT u64 rpau_capability(const Accelerator* accelerator, int capability) {
  return accelerator->capability(capability);
}

/// Words of a row at the host's port.
RPAU_EXPORT int rpau_host_words(const Accelerator*) { return Accelerator::host_words(); }

/// Writes `rows` rows of a memory from row `first` on; `whole_rows` tells rows of rpau_host_words()
/// from single words.
RPAU_EXPORT int rpau_write(Accelerator* accelerator, int space, int rpau, int index, u64 first,
                           u64 rows, int whole_rows, const u64* words) {
  const int words_a_row = whole_rows ? Accelerator::host_words() : 1;
  return guarded(accelerator,
                 [&] { accelerator->write(space, rpau, index, first, rows, words_a_row, words); });
}

/// Reads `rows` rows of a work polynomial from row `first` on.
RPAU_EXPORT int rpau_read(Accelerator* accelerator, int space, int rpau, int index, u64 first,
                          u64 rows, u64* words) {
  return guarded(accelerator, [&] { accelerator->read(space, rpau, index, first, rows, words); });
}

/// Writes `count` instruction words from address `first` on.
RPAU_EXPORT int rpau_load_program(Accelerator* accelerator, u64 first, const u64* words,
                                  u64 count) {
  return guarded(accelerator, [&] { accelerator->load_program(first, words, count); });
}

/// Chooses the ring of degree 2^log_degree, which the device must run.
RPAU_EXPORT void rpau_set_ring(Accelerator* accelerator, int log_degree) {
  accelerator->set_ring(log_degree);
}

/// Starts the program; rpau_advance runs it.
RPAU_EXPORT int rpau_start(Accelerator* accelerator) {
  return guarded(accelerator, [&] { accelerator->start(); });
}

/// Runs the program that was started for at most `most` cycles more. `ended` tells whether it has
/// ended, `failed` whether it ended at an opcode that does not exist, `cycles` and `instructions`
/// are the device's counters.
RPAU_EXPORT int rpau_advance(Accelerator* accelerator, u64 most, int* ended, int* failed,
                             u64* cycles, u64* instructions) {
  return guarded(accelerator, [&] {
    *ended = accelerator->advance(most) ? 1 : 0;
    *failed = accelerator->failed() ? 1 : 0;
    *cycles = accelerator->cycles();
    *instructions = accelerator->instructions();
  });
}

/// Hands over key polynomials that come while the next program runs: see Accelerator::stream.
RPAU_EXPORT int rpau_stream(Accelerator* accelerator, u64 count, u64 rows, const int* rpaus,
                            const int* indices, const u64* cycles, const u64* words) {
  return guarded(accelerator,
                 [&] { accelerator->stream(count, rows, rpaus, indices, cycles, words); });
}

/// How many of them have arrived, and for how many the program waits; 0: for none.
RPAU_EXPORT void rpau_arrivals(const Accelerator* accelerator, u64* arrived, u64* awaited) {
  *arrived = accelerator->arrived();
  *awaited = accelerator->awaited();
}

/// Resets the device: the program that runs is stopped, memories keep their contents.
RPAU_EXPORT int rpau_reset(Accelerator* accelerator) {
  return guarded(accelerator, [&] { accelerator->stop(); });
}

#if VM_TRACE
/// Records cycles first … last, over all runs from now on, into a VCD file: the signals of `scope`
/// and of `depth` - 1 levels below it; 0: everything.
RPAU_EXPORT int rpau_open_waves(Accelerator* accelerator, const char* path, u64 first, u64 last,
                                const char* scope, int depth) {
  return guarded(accelerator, [&] { accelerator->open_waves(path, first, last, scope, depth); });
}

/// Ends the file.
RPAU_EXPORT int rpau_close_waves(Accelerator* accelerator) {
  return guarded(accelerator, [&] { accelerator->close_waves(); });
}
#endif

#if VM_COVERAGE
/// Writes how often each point was covered, since the device was made, as Verilator's text file.
RPAU_EXPORT int rpau_write_coverage(Accelerator* accelerator, const char* path) {
  return guarded(accelerator, [&] { accelerator->write_coverage(path); });
}
#endif
