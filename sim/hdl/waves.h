// Waves of a window of a run, in builds that can record them (VM_TRACE); nothing in others.
#pragma once

#include <cstdint>

#include "verilated.h"

#if VM_TRACE
#include <memory>

#include "verilated_vcd_c.h"
#endif

namespace ringsmith::sim {

#if VM_TRACE

/// A VCD file of all signals of a design. Times are nanoseconds, kPeriod a clock cycle: cycle c
/// lies from kPeriod * c to kPeriod * (c + 1), and the clock rises at its beginning.
class Waves {
 public:
  static constexpr std::uint64_t kPeriod = 10;

  /// Must be called before the design is made.
  static void prepare(VerilatedContext& context) { context.traceEverOn(true); }

  /// Records cycles first … last of what runs from now on, into a new file: the signals of `scope`,
  /// such as "TOP.rs_rpau_top.u_controller", and of `depth` - 1 levels below it; 0: everything.
  template <typename Top>
  void open(Top& top, const char* path, std::uint64_t first, std::uint64_t last, const char* scope,
            int depth) {
    close();
    file_ = std::make_unique<VerilatedVcdC>();
    file_->set_time_unit("1ns");
    file_->set_time_resolution("1ns");
    file_->dumpvars(depth, scope);
    top.trace(file_.get(), kAllLevels);
    file_->open(path);
    next_ = kPeriod * first;
    end_ = kPeriod * (last + 1);
  }

  bool is_open() const { return file_ != nullptr && file_->isOpen(); }

  /// The clock has fallen in the middle of a cycle.
  void middle_of(std::uint64_t cycle) { sample(kPeriod * cycle + kPeriod / 2); }

  /// The clock has risen at the end of a cycle.
  void end_of(std::uint64_t cycle) { sample(kPeriod * (cycle + 1)); }

  /// Ends the file; nothing is recorded afterwards.
  void close() {
    if (file_ != nullptr) file_->close();
    next_ = 1;
    end_ = 0;
  }

 private:
  static constexpr int kAllLevels = 99;

  void sample(std::uint64_t time) {
    if (time < next_ || time > end_) return;
    file_->dump(time);
    next_ = time + 1;
  }

  std::unique_ptr<VerilatedVcdC> file_;
  std::uint64_t next_ = 1;  // the earliest time that may be recorded: an empty window
  std::uint64_t end_ = 0;
};

#else

class Waves {
 public:
  static void prepare(VerilatedContext&) {}
  void middle_of(std::uint64_t) {}
  void end_of(std::uint64_t) {}
};

#endif

}  // namespace ringsmith::sim
