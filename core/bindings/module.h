// The parts of the extension module ringsmith._core; each file of this folder registers one.
#pragma once

#include <nanobind/nanobind.h>

namespace ringsmith::bindings {

void register_numbers(nanobind::module_& module);
void register_contexts(nanobind::module_& module);
void register_evaluator(nanobind::module_& module);
void register_graph(nanobind::module_& module);
/// Fills the submodule `bfv`: BFV's own operations.
void register_bfv(nanobind::module_& module);
/// Fills the submodule `secret`: what needs a secret key.
void register_secret(nanobind::module_& module);

}  // namespace ringsmith::bindings
