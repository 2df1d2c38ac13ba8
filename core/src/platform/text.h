// Puts a message together from values (g++ 12 has no std::format yet).
#pragma once

#include <sstream>
#include <string>

namespace ringsmith {

/// The parts written one after the other, as operator<< writes them.
template <typename... Parts>
[[nodiscard]] std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

}  // namespace ringsmith
