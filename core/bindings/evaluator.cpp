// Public-key encryption and the evaluator of CKKS, and what both schemes evaluate alike.
#include "ringsmith/evaluator.h"

#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "module.h"
#include "random.h"
#include "ringsmith/key_switching.h"
#include "ringsmith/keys.h"

namespace ringsmith::bindings {
namespace {

OutputArray encrypt_array(RandomSource& random, const RlweContext& context,
                          const InputArray& public_key, const InputArray& plain) {
  const std::span<const u64> key = public_key_of(context, public_key);
  const std::span<const u64> message = residues_of(context.rns(), plain, "the plaintext");
  return to_numpy(without_gil([&] { return encrypt(context, Form::kNtt, key, message, random); }));
}

using Unary = Ciphertext (*)(const RlweContext&, CiphertextView);
using Binary = Ciphertext (*)(const RlweContext&, CiphertextView, CiphertextView);
using WithPlain = Ciphertext (*)(const RlweContext&, CiphertextView, std::span<const u64>);

// These check residues while they read them.
template <Unary operation>
OutputArray unary(const RlweContext& context, const InputArray& a) {
  const CiphertextView view = ciphertext_shape_of(context, a);
  return to_numpy(without_gil([&] { return operation(context, view); }));
}

template <Binary operation>
OutputArray binary(const RlweContext& context, const InputArray& a, const InputArray& b) {
  const CiphertextView first = ciphertext_shape_of(context, a);
  const CiphertextView second = ciphertext_shape_of(context, b);
  return to_numpy(without_gil([&] { return operation(context, first, second); }));
}

template <WithPlain operation>
OutputArray with_plain(const RlweContext& context, const InputArray& a, const InputArray& plain) {
  const CiphertextView view = ciphertext_shape_of(context, a);
  const std::span<const u64> message = limbs_of(context.rns(), plain, "the plaintext");
  return to_numpy(without_gil([&] { return operation(context, view, message); }));
}

OutputArray mod_switch_array(const RlweContext& context, const InputArray& a) {
  const CiphertextView view = ciphertext_of(context, a);
  return to_numpy(without_gil([&] { return mod_switch(context, view); }));
}

OutputArray rescale_array(const RlweContext& context, const InputArray& a) {
  const CiphertextView view = ciphertext_of(context, a);
  return to_numpy(without_gil([&] { return rescale(context, Form::kNtt, view); }));
}

OutputArray relinearize_array(const RlweContext& context, const InputArray& a,
                              const KeyArgument& key) {
  const CiphertextView view = ciphertext_of(context, a);
  const KeySwitchKeyView switching_key = key_of(context.rns(), key);
  return to_numpy(
      without_gil([&] { return relinearize(context, Form::kNtt, view, switching_key); }));
}

OutputArray relinearize_rescale_array(const RlweContext& context, const InputArray& a,
                                      const KeyArgument& key) {
  const CiphertextView view = ciphertext_of(context, a);
  const KeySwitchKeyView switching_key = key_of(context.rns(), key);
  return to_numpy(without_gil([&] { return relinearize_rescale(context, view, switching_key); }));
}

OutputArray apply_galois_array(const RlweContext& context, const InputArray& a, u64 element,
                               const KeyArgument& key) {
  const CiphertextView view = ciphertext_of(context, a);
  const KeySwitchKeyView switching_key = key_of(context.rns(), key);
  return to_numpy(
      without_gil([&] { return apply_galois(context, Form::kNtt, view, element, switching_key); }));
}

std::vector<OutputArray> apply_galois_many_arrays(const RlweContext& context, const InputArray& a,
                                                  const std::vector<u64>& elements,
                                                  const std::vector<KeyArgument>& keys) {
  const CiphertextView view = ciphertext_of(context, a);
  const std::vector<GaloisSwitch> switches = switches_of(context.rns(), elements, keys);
  return to_numpy(
      without_gil([&] { return apply_galois_many(context, Form::kNtt, view, switches); }));
}

}  // namespace

void register_evaluator(nb::module_& module) {
  def_random(module, "encrypt", &encrypt_array,
             "Public-key encryption of a plaintext (limbs, N): a ciphertext (2, limbs, N).",
             nb::arg("ctx"), nb::arg("public_key"), nb::arg("plain"));

  module.def("add", &binary<&add>, nb::arg("ctx"), nb::arg("a"), nb::arg("b"), "a + b.");
  module.def("sub", &binary<&subtract>, nb::arg("ctx"), nb::arg("a"), nb::arg("b"), "a - b.");
  module.def("negate", &unary<&negate>, nb::arg("ctx"), nb::arg("a"), "-a.");
  module.def("add_plain", &with_plain<&add_plain>, nb::arg("ctx"), nb::arg("a"), nb::arg("plain"),
             "a + plain.");
  module.def("sub_plain", &with_plain<&subtract_plain>, nb::arg("ctx"), nb::arg("a"),
             nb::arg("plain"), "a - plain.");
  module.def("multiply_plain", &with_plain<&multiply_plain>, nb::arg("ctx"), nb::arg("a"),
             nb::arg("plain"), "a * plain.");
  module.def("multiply", &binary<&multiply>, nb::arg("ctx"), nb::arg("a"), nb::arg("b"),
             "a * b, not relinearized: size(a) + size(b) - 1 polynomials.");
  module.def("square", &unary<&square>, nb::arg("ctx"), nb::arg("a"), "a * a, not relinearized.");
  module.def("relinearize", &relinearize_array, nb::arg("ctx"), nb::arg("a"), nb::arg("key"),
             "A ciphertext of three polynomials back to two.");
  module.def("relinearize_rescale", &relinearize_rescale_array, nb::arg("ctx"), nb::arg("a"),
             nb::arg("key"),
             "relinearize and rescale by one division: fewer transforms, bits of its own.");
  module.def("rescale", &rescale_array, nb::arg("ctx"), nb::arg("a"),
             "Divides by the last data prime and rounds; one limb fewer.");
  module.def("mod_switch", &mod_switch_array, nb::arg("ctx"), nb::arg("a"), "Drops the last limb.");
  module.def("apply_galois", &apply_galois_array, nb::arg("ctx"), nb::arg("a"), nb::arg("element"),
             nb::arg("key"), "x -> x^element, switched back to the secret key with `key`.");
  module.def("apply_galois_many", &apply_galois_many_arrays, nb::arg("ctx"), nb::arg("a"),
             nb::arg("elements"), nb::arg("keys"),
             "apply_galois for each element with its key: the same bits, decomposed once for all.");
  module.def("galois_element", &galois_element, nb::arg("n"), nb::arg("steps"),
             "The element that rotates left by `steps` slots (right if negative); conjugation is "
             "2n - 1.");
}

}  // namespace ringsmith::bindings
