#include "module.h"

#include <string>
#include <string_view>

#include "ringsmith/error.h"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  module.doc() =
      "Exact RNS-CKKS and RNS-BFV arithmetic, and the subroutine graph's reference interpreter.";
  // Maps C++ errors to the Python package's types in ringsmith.errors.
  const nb::module_ errors = nb::module_::import_("ringsmith.errors");
  nb::exception<ringsmith::ParameterError>(module, "ParameterError", errors.attr("ParameterError"));
  nb::exception<ringsmith::GraphError>(module, "GraphError", errors.attr("ProgramError"));

  ringsmith::bindings::register_numbers(module);
  ringsmith::bindings::register_contexts(module);
  ringsmith::bindings::register_evaluator(module);
  ringsmith::bindings::register_graph(module);
  nb::module_ bfv = module.def_submodule("bfv", "BFV's plaintexts and operations.");
  ringsmith::bindings::register_bfv(bfv);
  // The submodule `secret` is made when it is first asked for: a process that only computes on
  // ciphertexts never has it. PEP 562; the module outlives its functions, so a handle suffices.
  const nb::handle core = module;
  module.def("__getattr__", [core](const char* name) -> nb::object {
    if (std::string_view(name) != "secret") {
      throw nb::attribute_error(
          ("module 'ringsmith._core' has no attribute '" + std::string(name) + "'").c_str());
    }
    nb::module_ secret = nb::borrow<nb::module_>(core).def_submodule(
        "secret", "What needs a secret key. Only ringsmith.client may import it.");
    ringsmith::bindings::register_secret(secret);
    return secret;
  });
}
