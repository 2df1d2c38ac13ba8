// What the programs of tests/core check with: they go on after a failure, and end with its status.
#pragma once

#include <ringsmith/error.h>

#include <functional>
#include <iostream>
#include <string>

inline int failures = 0;

inline void expect(bool right, const std::string& what) {
  if (!right) {
    std::cerr << "wrong: " << what << '\n';
    ++failures;
  }
}

inline void expect_error(const std::function<void()>& call, const std::string& words) {
  try {
    call();
    expect(false, "no error: " + words);
  } catch (const ringsmith::ParameterError& error) {
    expect(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}
