// What every operation takes first: the RLWE context, CKKS's encoder and BFV's context.
#include <nanobind/stl/complex.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <complex>

#include "arrays.h"
#include "module.h"
#include "ringsmith/bfv.h"
#include "ringsmith/ckks.h"

namespace ringsmith::bindings {
namespace {

using Complex = std::complex<double>;
using ComplexInput = nb::ndarray<const Complex, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ComplexOutput = nb::ndarray<nb::numpy, Complex>;
using SharedContext = std::shared_ptr<const RlweContext>;

OutputArray encode(const CkksEncoder& encoder, const nb::object& values, double scale,
                   std::size_t limbs, bool extended) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const auto array = nb::cast<ComplexInput>(
      numpy.attr("ascontiguousarray")(numpy.attr("require")(values, "complex128", "A")));
  const std::span<const Complex> view(array.data(), array.size());
  const std::size_t count = limbs + (extended ? encoder.context().special_base().size() : 0);
  return to_numpy(without_gil([&] { return encoder.encode(view, scale, limbs, extended); }),
                  {count, encoder.context().degree()});
}

ComplexOutput decode(const CkksEncoder& encoder, const InputArray& plain, double scale) {
  const std::span<const u64> words = residues_of(encoder.context().rns(), plain, "the plaintext");
  auto slots = std::make_unique<std::vector<Complex>>(
      without_gil([&] { return encoder.decode(words, scale); }));
  const std::size_t shape[] = {slots->size()};
  Complex* const data = slots->data();
  nb::capsule owner(slots.get(), [](void* memory) noexcept {
    delete static_cast<std::vector<Complex>*>(memory);
  });
  static_cast<void>(slots.release());
  return ComplexOutput(data, 1, shape, owner);
}

void register_rlwe(nb::module_& module) {
  nb::class_<RlweContext>(module, "Context", "RLWE over a ring: data primes, then special primes.")
      .def(
          "__init__",
          [](RlweContext* self, std::size_t n, const std::vector<u64>& primes, std::size_t special,
             std::size_t dnum, double error_deviation,
             const std::vector<std::size_t>& digit_sizes) {
            nb::gil_scoped_release release;
            new (self) RlweContext(n, primes, special, dnum, ErrorDistribution(error_deviation),
                                   digit_sizes);
          },
          nb::arg("n"), nb::arg("primes"), nb::arg("special") = 1, nb::arg("dnum") = 0,
          nb::arg("error_deviation") = 0.0, nb::arg("digit_sizes") = std::vector<std::size_t>())
      .def_prop_ro("n", &RlweContext::degree, "Ring degree N.")
      .def_prop_ro(
          "primes", [](const RlweContext& context) { return context.rns().primes(); },
          "Data primes, then the special primes.")
      .def_prop_ro(
          "roots", [](const RlweContext& context) { return context.rns().roots(); },
          "The smallest primitive 2N-th root of unity modulo each prime.")
      .def_prop_ro("max_limbs", &RlweContext::max_limbs, "Number of data primes.")
      .def_prop_ro("dnum", &RlweContext::dnum,
                   "Digits of a key-switching key that is cut by primes.")
      .def("words", &RlweContext::words, nb::arg("limbs"), nb::arg("word_bits"),
           "Words of `word_bits` bits in a coefficient of `limbs` limbs.")
      .def_prop_ro(
          "error_deviation", [](const RlweContext& context) { return context.error().deviation(); },
          "Standard deviation of the errors of keys and encryptions.")
      .def_prop_ro(
          "error_bound", [](const RlweContext& context) { return context.error().bound(); },
          "Largest magnitude of those errors.");
}

void register_on_the_fly_key(nb::module_& module) {
  nb::class_<TruncatedKey>(module, "TruncatedKey",
                           "A key-switching key (digits, 2, limbs, N) over some primes only.")
      .def(
          "__init__",
          [](TruncatedKey* self, InputArray data, Base base) {
            new (self) TruncatedKey{std::move(data), std::move(base)};
          },
          nb::arg("data"), nb::arg("base"))
      .def_prop_ro(
          "nbytes", [](const TruncatedKey& key) { return key.data.nbytes(); },
          "Bytes of its words.");
  nb::class_<OnTheFlyKey>(module, "OnTheFlyKey",
                          "A key-switching key as half 0, (digits, limbs, N), and the ten bytes "
                          "that half 1 is expanded from while the key is used.")
      .def(
          "__init__",
          [](OnTheFlyKey* self, InputArray half, const nb::bytes& seed, Base base) {
            new (self) OnTheFlyKey{std::move(half), key_seed_of(seed), std::move(base)};
          },
          nb::arg("half"), nb::arg("seed"), nb::arg("base") = Base())
      .def_prop_ro(
          "nbytes", [](const OnTheFlyKey& key) { return key.half.nbytes() + key.seed.size(); },
          "Bytes of half 0 and the seed.");
}

void register_precomputed_key(nb::module_& module) {
  nb::class_<SharedPrecomputedKey>(
      module, "PrecomputedKey",
      "A key-switching key in the form that the kernels of this process "
      "multiply by, for many uses.")
      .def(
          "__init__",
          [](SharedPrecomputedKey* self, const RlweContext& context, const KeyArgument& key,
             u64 element) {
            const KeySwitchKeyView view = key_of(context.rns(), key);
            auto precomputed = without_gil(
                [&] { return std::make_shared<const PrecomputedKey>(context, view, element); });
            new (self) SharedPrecomputedKey{std::move(precomputed)};
          },
          nb::arg("ctx"), nb::arg("key"), nb::arg("element") = 1)
      .def_prop_ro(
          "nbytes", [](const SharedPrecomputedKey& self) { return self.key->bytes(); },
          "Bytes that the key takes.");
}

void register_ckks(nb::module_& module) {
  nb::class_<CkksEncoder>(module, "CkksEncoder", "Complex vectors to CKKS plaintexts and back.")
      .def(
          "__init__",
          [](CkksEncoder* self, SharedContext context) {
            new (self) CkksEncoder(std::move(context));
          },
          nb::arg("ctx"))
      .def_prop_ro("slots", &CkksEncoder::slots, "Values in one plaintext: N / 2.")
      .def("encode", &encode, nb::arg("values"), nb::arg("scale"), nb::arg("limbs"),
           nb::arg("extended") = false,
           "Real or complex slot values to a plaintext (limbs, N), NTT form; extended: with the "
           "special primes.")
      .def("decode", &decode, nb::arg("plain"), nb::arg("scale"),
           "The N / 2 complex slot values of a plaintext (limbs, N).");
}

void register_bfv_context(nb::module_& module) {
  nb::class_<BfvContext>(module, "BfvContext", "BFV over an RLWE context: t, extension primes.")
      .def(
          "__init__",
          [](BfvContext* self, SharedContext context, u64 plain_modulus,
             const std::vector<u64>& extension_primes) {
            nb::gil_scoped_release release;
            new (self) BfvContext(std::move(context), plain_modulus, extension_primes);
          },
          nb::arg("ctx"), nb::arg("plain_modulus"), nb::arg("extension_primes"))
      .def_prop_ro("n", &BfvContext::degree, "Ring degree N.")
      .def_prop_ro(
          "plain_modulus",
          [](const BfvContext& context) { return context.plain_modulus().value(); }, "t.")
      .def_prop_ro(
          "batching", [](const BfvContext& context) { return context.batching().has_value(); },
          "Whether plaintexts are vectors of N slots: t is a prime and 1 mod 2N.")
      .def_prop_ro(
          "primes", [](const BfvContext& context) { return context.rns().primes(); },
          "Data, special, then extension primes.")
      .def_prop_ro(
          "roots", [](const BfvContext& context) { return context.rns().roots(); },
          "The smallest primitive 2N-th root of unity modulo each prime.")
      .def_prop_ro(
          "max_limbs", [](const BfvContext& context) { return context.rlwe().max_limbs(); },
          "Number of data primes.")
      .def_prop_ro("min_limbs", &BfvContext::min_limbs,
                   "Limbs of the lowest level: fewer would make a q that does not exceed t.")
      .def(
          "extension_base",
          [](const BfvContext& context, std::size_t limbs, std::string_view variant,
             std::size_t size) {
            return context.extension_base(limbs, multiplication_of(variant), size);
          },
          nb::arg("limbs"), nb::arg("variant") = "behz", nb::arg("size") = 2,
          "Indices in `primes` of the extension that products at a level take.");
}

}  // namespace

void register_contexts(nb::module_& module) {
  register_rlwe(module);
  register_on_the_fly_key(module);
  register_precomputed_key(module);
  register_ckks(module);
  register_bfv_context(module);
}

}  // namespace ringsmith::bindings
