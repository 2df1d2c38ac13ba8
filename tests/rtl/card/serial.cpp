// A verilated board whose only ports are clk_i, rst_ni, rx_i and tx_o, and the adapter at its
// serial line: bytes from the host become levels of rx_i, and levels of tx_o become bytes.
//
// The adapter's rate is its own: `ratio` cycles of the board's clock a bit, and need not be whole.
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>

#include "Vrs_rpau_uart.h"
#include "stop.h"
#include "verilated.h"

namespace {

using u8 = std::uint8_t;
using u64 = std::uint64_t;

constexpr int kFrameBits = 10;       // a start bit, eight data bits, a stop bit
constexpr double kStopMiddle = 9.5;  // bits from the edge of the start bit

class Board {
 public:
  Board(int seed, double ratio) : ratio_(ratio) {
    context_.randReset(2);
    context_.randSeed(seed);
    top_ = std::make_unique<Vrs_rpau_uart>(&context_);
    context_.assertOn(false);  // while its state is not yet reset
    top_->rx_i = 1;
    top_->rst_ni = 0;
    clock();
    clock();
    top_->rst_ni = 1;
    for (int cycle = 0; cycle < 200; ++cycle) clock();
    context_.assertOn(true);
  }

  ~Board() {
    // The context that the thread used last may be gone.
    Verilated::threadContextp(&context_);
    top_->final();
  }

  void send(const u8* bytes, u64 count) { waiting_.insert(waiting_.end(), bytes, bytes + count); }

  u64 unsent() const { return waiting_.size() + (sending_ ? 1 : 0); }

  /// Lets cycles pass, and returns how many bytes came, at most `capacity`: it ends with the last.
  u64 advance(u64 cycles, u8* bytes, u64 capacity) {
    u64 came = 0;
    for (u64 cycle = 0; cycle < cycles && came < capacity; ++cycle) {
      top_->rx_i = next_level();
      clock();
      if (take_level(top_->tx_o)) bytes[came++] = received_;
    }
    return came;
  }

  std::string error;

 private:
  void clock() {
    for (int level = 0; level < 2; ++level) {
      top_->clk_i = level;
      context_.timeInc(1);
      top_->eval();
    }
  }

  /// The level that the adapter drives in this cycle.
  bool next_level() {
    if (!sending_) {
      if (waiting_.empty()) return true;
      shift_ = 0x200U | unsigned{waiting_.front()} << 1;
      waiting_.pop_front();
      sending_ = true;
      sent_ = 0;
    }
    const int bit = static_cast<int>(sent_ / ratio_);
    sent_ += 1;
    if (sent_ >= kFrameBits * ratio_) sending_ = false;
    return (shift_ >> bit & 1) != 0;
  }

  /// Takes the board's level of this cycle; whether a byte is whole, and then `received_` has it.
  bool take_level(bool level) {
    if (!receiving_) {
      if (level) return false;
      receiving_ = true;
      bit_ = 0;
      passed_ = 0;
      received_ = 0;
    }
    passed_ += 1;
    if (bit_ < 8 && passed_ > (bit_ + 1.5) * ratio_)
      received_ = static_cast<u8>(received_ | level << bit_++);
    if (passed_ <= kStopMiddle * ratio_) return false;
    receiving_ = false;
    return level;  // without its stop bit it is no byte
  }

  VerilatedContext context_;
  std::unique_ptr<Vrs_rpau_uart> top_;
  double ratio_;
  std::deque<u8> waiting_;
  bool sending_ = false;
  unsigned shift_ = 0;
  double sent_ = 0;  // cycles since the byte's begin
  bool receiving_ = false;
  int bit_ = 0;
  double passed_ = 0;
  u8 received_ = 0;
};

}  // namespace

#define SERIAL_EXPORT extern "C" __attribute__((visibility("default")))

/// A new board, reset. `seed` chooses the values of what has no reset, in builds with assertions.
/// Null if it could not be made.
SERIAL_EXPORT Board* serial_new(int seed, double ratio) {
  try {
    return new Board(seed, ratio);
  } catch (const std::exception&) {
    return nullptr;
  }
}

SERIAL_EXPORT void serial_free(Board* board) { delete board; }

SERIAL_EXPORT const char* serial_error(const Board* board) { return board->error.c_str(); }

/// Hands the adapter `count` bytes to send, lets `cycles` pass, and stores what came in `received`.
/// `unsent` is how many bytes are still to be sent. Returns how many came; -1 with a text in
/// serial_error() if the board stopped.
SERIAL_EXPORT int serial_advance(Board* board, u64 cycles, const u8* bytes, u64 count, u8* received,
                                 u64 capacity, u64* unsent) {
  try {
    board->send(bytes, count);
    const u64 came = board->advance(cycles, received, capacity);
    *unsent = board->unsent();
    return static_cast<int>(came);
  } catch (const std::exception& failure) {
    board->error = failure.what();
    return -1;
  }
}
