// Replaces Verilator's handlers, which would end the process. verilated.cpp must be compiled with
// VL_USER_STOP and VL_USER_FATAL defined.
#include "stop.h"

#include <string>

#include "verilated.h"

namespace {

[[noreturn]] void stop(const char* what, const char* filename, int line, const char* instance) {
  throw ringsmith::sim::Stopped(std::string(what) + " at " + filename + ":" + std::to_string(line) +
                                " in " + (instance && *instance ? instance : "the design"));
}

}  // namespace

void vl_stop(const char* filename, int line, const char* instance) VL_MT_UNSAFE {
  stop("an assertion failed or $stop was reached", filename, line, instance);
}

void vl_fatal(const char* filename, int line, const char* instance,
              const char* message) VL_MT_UNSAFE {
  stop(message && *message ? message : "a fatal error", filename, line, instance);
}
