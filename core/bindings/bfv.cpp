// BFV's plaintexts, public-key encryption and operations: the submodule `bfv`.
#include "ringsmith/bfv.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "module.h"
#include "random.h"
#include "ringsmith/bfv_client.h"
#include "ringsmith/bfv_evaluator.h"
#include "ringsmith/key_switching.h"

namespace ringsmith::bindings {
namespace {

// Slot values of int64, negative ones for themselves plus t, or of uint64.
std::vector<u64> slot_values(const BfvContext& context, const InputArray& array) {
  if (array.dtype() != nb::dtype<i64>()) {
    const std::span<const u64> words = plain_of(context, array, "the vector");
    return {words.begin(), words.end()};
  }
  const std::span<const u64> words = words_of(array, "the vector", nb::dtype<i64>());
  check_shape(context.rns(), array, 1, "the vector");
  return residues_of_signed(context, {reinterpret_cast<const i64*>(words.data()), words.size()});
}

OutputArray encode(const BfvContext& context, const InputArray& values) {
  const std::vector<u64> slots = slot_values(context, values);
  return to_numpy(without_gil([&] { return bfv_encode(context, slots); }), {context.degree()});
}

OutputArray decode(const BfvContext& context, const InputArray& plain) {
  const std::span<const u64> message = plain_of(context, plain, "the plaintext");
  return to_numpy(without_gil([&] { return bfv_decode(context, message); }), {context.degree()});
}

using PlainToLimbs = std::vector<u64> (*)(const BfvContext&, std::span<const u64>, std::size_t);

template <PlainToLimbs function>
OutputArray plain_to_limbs(const BfvContext& context, const InputArray& plain, std::size_t limbs) {
  const std::span<const u64> message = plain_of(context, plain, "the plaintext");
  return to_numpy(without_gil([&] { return function(context, message, limbs); }),
                  {limbs, context.degree()});
}

OutputArray encrypt(RandomSource& random, const BfvContext& context, const InputArray& public_key,
                    const InputArray& plain) {
  const std::span<const u64> key = public_key_of(context.rlwe(), public_key);
  const std::span<const u64> message = plain_of(context, plain, "the plaintext");
  return to_numpy(without_gil([&] { return bfv_encrypt(context, key, message, random); }));
}

using WithPlain = Ciphertext (*)(const BfvContext&, CiphertextView, std::span<const u64>);

template <WithPlain operation>
OutputArray with_plain(const BfvContext& context, const InputArray& a, const InputArray& plain) {
  const CiphertextView view = ciphertext_of(context.rlwe(), a);
  const std::span<const u64> message = plain_of(context, plain, "the plaintext");
  return to_numpy(without_gil([&] { return operation(context, view, message); }));
}

OutputArray multiply(const BfvContext& context, const InputArray& a, const InputArray& b,
                     std::string_view variant) {
  const CiphertextView first = ciphertext_of(context.rlwe(), a);
  const CiphertextView second = ciphertext_of(context.rlwe(), b);
  const Multiplication chosen = multiplication_of(variant);
  return to_numpy(without_gil([&] { return bfv_multiply(context, first, second, chosen); }));
}

OutputArray square(const BfvContext& context, const InputArray& a, std::string_view variant) {
  const CiphertextView view = ciphertext_of(context.rlwe(), a);
  const Multiplication chosen = multiplication_of(variant);
  return to_numpy(without_gil([&] { return bfv_square(context, view, chosen); }));
}

OutputArray relinearize(const BfvContext& context, const InputArray& a, const KeyArgument& key,
                        std::size_t word_bits) {
  const CiphertextView view = ciphertext_of(context.rlwe(), a);
  KeySwitchKeyView switching_key = key_of(context.rlwe().rns(), key);
  switching_key.word_bits = word_bits;
  return to_numpy(without_gil(
      [&] { return ringsmith::relinearize(context.rlwe(), Form::kCoeff, view, switching_key); }));
}

OutputArray mod_switch(const BfvContext& context, const InputArray& a) {
  const CiphertextView view = ciphertext_of(context.rlwe(), a);
  return to_numpy(without_gil([&] { return bfv_mod_switch(context, view); }));
}

OutputArray apply_galois(const BfvContext& context, const InputArray& a, u64 element,
                         const KeyArgument& key, std::size_t word_bits) {
  const CiphertextView view = ciphertext_of(context.rlwe(), a);
  KeySwitchKeyView switching_key = key_of(context.rlwe().rns(), key);
  switching_key.word_bits = word_bits;
  return to_numpy(without_gil([&] {
    return ringsmith::apply_galois(context.rlwe(), Form::kCoeff, view, element, switching_key);
  }));
}

std::vector<OutputArray> apply_galois_many(const BfvContext& context, const InputArray& a,
                                           const std::vector<u64>& elements,
                                           const std::vector<KeyArgument>& keys,
                                           std::size_t word_bits) {
  const RlweContext& rlwe = context.rlwe();
  const CiphertextView view = ciphertext_of(rlwe, a);
  const auto switches = switches_of(rlwe.rns(), elements, keys, word_bits);
  return to_numpy(without_gil(
      [&] { return ringsmith::apply_galois_many(rlwe, Form::kCoeff, view, switches); }));
}

}  // namespace

void register_bfv(nb::module_& module) {
  module.def(
      "behz_extension_primes",
      [](std::size_t n, const std::vector<u64>& primes, u64 plain_modulus) {
        return behz_extension_primes(n, primes, plain_modulus);
      },
      nb::arg("n"), nb::arg("primes"), nb::arg("plain_modulus"),
      "SEAL's extension primes for given data primes and t: m_sk, then B, of 61 bits.");
  module.def("encode", &encode, nb::arg("bctx"), nb::arg("values"),
             "N slot values (row 0, then row 1) to a plaintext (N,).");
  module.def("decode", &decode, nb::arg("bctx"), nb::arg("plain"),
             "The N slot values in [0, t) of a plaintext (N,).");
  module.def("scale_plain", &plain_to_limbs<&scale_plain>, nb::arg("bctx"), nb::arg("plain"),
             nb::arg("limbs"),
             "round(q / t * m) as (limbs, N): what add_plain adds to a ciphertext.");
  module.def("lift_plain", &plain_to_limbs<&lift_plain>, nb::arg("bctx"), nb::arg("plain"),
             nb::arg("limbs"),
             "The centred plaintext as (limbs, N), coefficient form: what multiply_plain takes.");
  def_random(module, "encrypt", &encrypt,
             "Public-key encryption of a plaintext (N,): a ciphertext (2, max_limbs, N).",
             nb::arg("bctx"), nb::arg("public_key"), nb::arg("plain"));

  module.def("add_plain", &with_plain<&bfv_add_plain>, nb::arg("bctx"), nb::arg("a"),
             nb::arg("plain"), "a + plain.");
  module.def("sub_plain", &with_plain<&bfv_subtract_plain>, nb::arg("bctx"), nb::arg("a"),
             nb::arg("plain"), "a - plain.");
  module.def("multiply_plain", &with_plain<&bfv_multiply_plain>, nb::arg("bctx"), nb::arg("a"),
             nb::arg("plain"), "a * plain.");
  module.def("multiply", &multiply, nb::arg("bctx"), nb::arg("a"), nb::arg("b"),
             nb::arg("variant") = "behz",
             "a * b, not relinearized: size(a) + size(b) - 1 polynomials.");
  module.def("square", &square, nb::arg("bctx"), nb::arg("a"), nb::arg("variant") = "behz",
             "a * a, not relinearized.");
  module.def("relinearize", &relinearize, nb::arg("bctx"), nb::arg("a"), nb::arg("key"),
             nb::arg("word_bits") = 0, "A ciphertext of three polynomials back to two.");
  module.def("mod_switch", &mod_switch, nb::arg("bctx"), nb::arg("a"),
             "Divides by the last data prime and rounds; one limb fewer, the same message.");
  module.def("apply_galois", &apply_galois, nb::arg("bctx"), nb::arg("a"), nb::arg("element"),
             nb::arg("key"), nb::arg("word_bits") = 0,
             "x -> x^element, switched back to the secret key with `key`.");
  module.def("apply_galois_many", &apply_galois_many, nb::arg("bctx"), nb::arg("a"),
             nb::arg("elements"), nb::arg("keys"), nb::arg("word_bits") = 0,
             "apply_galois for each element with its key: the same bits, decomposed once for all.");
}

}  // namespace ringsmith::bindings
