// The exceptions that the library throws. Each text names the value, the limit and what to do.
#pragma once

#include <stdexcept>

namespace ringsmith {

/// A parameter or an argument is outside what the function accepts.
class ParameterError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A subroutine graph is malformed, or is run with inputs or keys that do not fit it.
class GraphError : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace ringsmith
