// What a verilated design does when an assertion fails or $stop, $fatal is reached: it throws.
#pragma once

#include <stdexcept>

namespace ringsmith::sim {

/// Thrown out of a design's evaluation; the text names the source line and the instance. The
/// design's state is unknown afterwards: destroy it.
class Stopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ringsmith::sim
