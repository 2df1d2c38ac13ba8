// The CKKS context, the encoder, public-key encryption and the evaluator.
#include "ringsmith/evaluator.h"

#include <nanobind/stl/vector.h>

#include <complex>

#include "arrays.h"
#include "module.h"
#include "random.h"
#include "ringsmith/keys.h"

namespace ringsmith::bindings {
namespace {

using Complex = std::complex<double>;
using ComplexInput = nb::ndarray<const Complex, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ComplexOutput = nb::ndarray<nb::numpy, Complex>;

OutputArray encode_array(const CkksContext& context, const nb::object& values, double scale,
                         std::size_t limbs) {
  const auto array = nb::cast<ComplexInput>(
      nb::module_::import_("numpy").attr("ascontiguousarray")(values, "complex128"));
  const std::span<const Complex> view(array.data(), array.size());
  return to_numpy(without_gil([&] { return encode(context, view, scale, limbs); }),
                  {limbs, context.degree()});
}

ComplexOutput decode_array(const CkksContext& context, const InputArray& plain, double scale) {
  const std::span<const u64> words = residues_of(context.rns(), plain, "the plaintext");
  auto slots = std::make_unique<std::vector<Complex>>(
      without_gil([&] { return decode(context, words, scale); }));
  const std::size_t shape[] = {slots->size()};
  Complex* const data = slots->data();
  nb::capsule owner(slots.get(), [](void* memory) noexcept {
    delete static_cast<std::vector<Complex>*>(memory);
  });
  static_cast<void>(slots.release());
  return ComplexOutput(data, 1, shape, owner);
}

OutputArray encrypt_array(RandomSource& random, const CkksContext& context,
                          const InputArray& public_key, const InputArray& plain) {
  const RnsContext& rns = context.rns();
  const std::span<const u64> key = words_of(public_key, "the public key");
  check_shape(rns, public_key, 3, "the public key");
  rns.check_canonical(key, context.key_base(), "the public key");
  const std::span<const u64> message = residues_of(rns, plain, "the plaintext");
  return to_numpy(without_gil([&] { return encrypt(context, key, message, random); }));
}

using Unary = Ciphertext (*)(const CkksContext&, CiphertextView);
using Binary = Ciphertext (*)(const CkksContext&, CiphertextView, CiphertextView);
using WithPlain = Ciphertext (*)(const CkksContext&, CiphertextView, std::span<const u64>);

template <Unary operation>
OutputArray unary(const CkksContext& context, const InputArray& a) {
  const CiphertextView view = ciphertext_of(context, a);
  return to_numpy(without_gil([&] { return operation(context, view); }));
}

template <Binary operation>
OutputArray binary(const CkksContext& context, const InputArray& a, const InputArray& b) {
  const CiphertextView first = ciphertext_of(context, a);
  const CiphertextView second = ciphertext_of(context, b);
  return to_numpy(without_gil([&] { return operation(context, first, second); }));
}

template <WithPlain operation>
OutputArray with_plain(const CkksContext& context, const InputArray& a, const InputArray& plain) {
  const CiphertextView view = ciphertext_of(context, a);
  const std::span<const u64> message = residues_of(context.rns(), plain, "the plaintext");
  return to_numpy(without_gil([&] { return operation(context, view, message); }));
}

using WithKey = Ciphertext (*)(const CkksContext&, CiphertextView, KeySwitchKeyView);

template <WithKey operation>
OutputArray with_key(const CkksContext& context, const InputArray& a, const InputArray& key) {
  const CiphertextView view = ciphertext_of(context, a);
  const KeySwitchKeyView switching_key = key_of(context.rns(), key);
  return to_numpy(without_gil([&] { return operation(context, view, switching_key); }));
}

OutputArray apply_galois_array(const CkksContext& context, const InputArray& a, u64 element,
                               const InputArray& key) {
  const CiphertextView view = ciphertext_of(context, a);
  const KeySwitchKeyView switching_key = key_of(context.rns(), key);
  return to_numpy(without_gil([&] { return apply_galois(context, view, element, switching_key); }));
}

}  // namespace

void register_evaluator(nb::module_& module) {
  nb::class_<CkksContext>(module, "Context",
                          "RNS-CKKS over a ring: data primes, then special primes.")
      .def(
          "__init__",
          [](CkksContext* self, std::size_t n, const std::vector<u64>& primes, std::size_t special,
             std::size_t dnum) {
            nb::gil_scoped_release release;
            new (self) CkksContext(n, primes, special, dnum);
          },
          nb::arg("n"), nb::arg("primes"), nb::arg("special") = 1, nb::arg("dnum") = 0)
      .def_prop_ro("n", &CkksContext::degree, "Ring degree N.")
      .def_prop_ro(
          "primes", [](const CkksContext& context) { return context.rns().primes(); },
          "Data primes, then the special primes.")
      .def_prop_ro(
          "roots", [](const CkksContext& context) { return context.rns().roots(); },
          "The smallest primitive 2N-th root of unity modulo each prime.")
      .def_prop_ro("max_limbs", &CkksContext::max_limbs, "Number of data primes.")
      .def_prop_ro("dnum", &CkksContext::dnum, "Digits of every key-switching key.")
      .def_prop_ro("slots", &CkksContext::slots, "Values in one plaintext: N / 2.");

  module.def("encode", &encode_array, nb::arg("ctx"), nb::arg("values"), nb::arg("scale"),
             nb::arg("limbs"), "Real or complex slot values to a plaintext (limbs, N), NTT form.");
  module.def("decode", &decode_array, nb::arg("ctx"), nb::arg("plain"), nb::arg("scale"),
             "The N / 2 complex slot values of a plaintext (limbs, N).");
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
  module.def("relinearize", &with_key<&relinearize>, nb::arg("ctx"), nb::arg("a"), nb::arg("key"),
             "A ciphertext of three polynomials back to two.");
  module.def("relinearize_rescale", &with_key<&relinearize_rescale>, nb::arg("ctx"), nb::arg("a"),
             nb::arg("key"),
             "relinearize and rescale by one division: fewer transforms, bits of its own.");
  module.def("rescale", &unary<&rescale>, nb::arg("ctx"), nb::arg("a"),
             "Divides by the last data prime and rounds; one limb fewer.");
  module.def("mod_switch", &unary<&mod_switch>, nb::arg("ctx"), nb::arg("a"),
             "Drops the last limb.");
  module.def("apply_galois", &apply_galois_array, nb::arg("ctx"), nb::arg("a"), nb::arg("element"),
             nb::arg("key"), "x -> x^element, switched back to the secret key with `key`.");
  module.def("galois_element", &galois_element, nb::arg("n"), nb::arg("steps"),
             "The element that rotates left by `steps` slots (right if negative); conjugation is "
             "2n - 1.");
}

}  // namespace ringsmith::bindings
