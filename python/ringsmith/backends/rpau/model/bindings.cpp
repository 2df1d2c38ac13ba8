// Python extension ringsmith.backends.rpau.model._model: the model behind numpy arrays of 64-bit
// words.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "model/rpau_model.h"

namespace nb = nanobind;
using ringsmith::u64;

namespace ringsmith::sim {
namespace {

using Words = nb::ndarray<const u64, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NewWords = nb::ndarray<nb::numpy, u64, nb::ndim<1>>;

std::span<const u64> span_of(const Words& words) { return {words.data(), words.shape(0)}; }

NewWords array_of(std::span<const u64> words) {
  auto* copy = new u64[words.size()];
  nb::capsule owner(copy, [](void* data) noexcept { delete[] static_cast<u64*>(data); });
  std::memcpy(copy, words.data(), words.size_bytes());
  return NewWords(copy, {words.size()}, owner);
}

/// Raises the Python exception with the text and the instruction's index, or None.
void translate_model_error(const std::exception_ptr& pointer, void* type) {
  try {
    std::rethrow_exception(pointer);
  } catch (const ModelError& error) {
    const nb::object index = error.index() ? nb::object(nb::int_(*error.index())) : nb::none();
    const nb::tuple arguments = nb::make_tuple(error.what(), index);
    PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
  }
}

}  // namespace
}  // namespace ringsmith::sim

NB_MODULE(_model, m) {
  using namespace ringsmith::sim;
  using namespace nb::literals;
  m.doc() = "The instruction-level model of the RPAU architecture.";

  nb::object error = nb::steal(
      PyErr_NewException("ringsmith.backends.rpau.model._model.ModelError", nullptr, nullptr));
  m.attr("ModelError") = error;
  nb::register_exception_translator(translate_model_error, error.ptr());

  nb::class_<RpauModel>(m, "RpauModel")
      .def(
          "__init__",
          [](RpauModel* self, int log_n, int larger_rings, int smaller_rings, int word_bits,
             int narrow_bits, int narrow_rpaus, int rpaus, const std::vector<int>& banks,
             int key_polys, int constants, int modulus_banks, bool dyadic, bool link, int seeds,
             int conversions, bool key_stream, bool stored_twiddles,
             const std::vector<u64>& sparse_primes, std::optional<std::pair<int, int>> folded,
             std::optional<std::pair<int, int>> narrow_folded, u64 fetch_cycles,
             const std::vector<u64>& latencies, bool timing_only) {
            const auto folds = [](const std::optional<std::pair<int, int>>& bits) {
              return bits ? std::optional(FoldedWord{bits->first, bits->second}) : std::nullopt;
            };
            const Design design{
                log_n,         larger_rings,    smaller_rings, word_bits,     narrow_bits,
                narrow_rpaus,  rpaus,           banks,         key_polys,     constants,
                modulus_banks, dyadic,          link,          seeds,         conversions,
                key_stream,    stored_twiddles, sparse_primes, folds(folded), folds(narrow_folded)};
            new (self) RpauModel(design, Timing{fetch_cycles, latencies}, timing_only);
          },
          nb::kw_only(), "log_n"_a, "larger_rings"_a, "smaller_rings"_a, "word_bits"_a,
          "narrow_bits"_a, "narrow_rpaus"_a, "rpaus"_a, "banks"_a, "key_polys"_a, "constants"_a,
          "modulus_banks"_a, "dyadic"_a, "link"_a, "seeds"_a, "conversions"_a, "key_stream"_a,
          "stored_twiddles"_a, "sparse_primes"_a, "folded"_a.none(), "narrow_folded"_a.none(),
          "fetch_cycles"_a, "latencies"_a, "timing_only"_a)
      .def(
          "set_ring",
          [](RpauModel& self, int log_degree, u64 fetch_cycles, const std::vector<u64>& latencies) {
            self.set_ring(log_degree, Timing{fetch_cycles, latencies});
          })
      .def("write_poly",
           [](RpauModel& self, int unit, int index, const Words& words) {
             self.rpau(unit).write_poly(index, span_of(words));
           })
      .def("write_key",
           [](RpauModel& self, int unit, int index, const Words& words) {
             self.rpau(unit).write_key(index, span_of(words));
           })
      .def("write_seed",
           [](RpauModel& self, int unit, int index, const Words& words) {
             self.rpau(unit).write_seed(index, span_of(words));
           })
      .def("write_modulus",
           [](RpauModel& self, int unit, int set, const Words& words) {
             self.rpau(unit).write_modulus(set, span_of(words));
           })
      .def("write_constants",
           [](RpauModel& self, int unit, int set, const Words& words) {
             self.rpau(unit).modulus_bank(set).write_constants(span_of(words));
           })
      .def("write_twiddle_lo",
           [](RpauModel& self, int unit, int set, const Words& words) {
             self.rpau(unit).modulus_bank(set).write_twiddle_lo(span_of(words));
           })
      .def("write_twiddle_hi",
           [](RpauModel& self, int unit, int set, const Words& words) {
             self.rpau(unit).modulus_bank(set).write_twiddle_hi(span_of(words));
           })
      .def("write_twiddles",
           [](RpauModel& self, int unit, int set, const Words& words) {
             self.rpau(unit).modulus_bank(set).write_twiddles(span_of(words));
           })
      .def("write_conversion",
           [](RpauModel& self, int, int index, const Words& words) {
             self.converter().write(index, span_of(words));
           })
      .def("read_poly", [](RpauModel& self, int unit,
                           int index) { return array_of(self.rpau(unit).read_poly(index)); })
      .def("load_program",
           [](RpauModel& self, const Words& words) { self.load_program(span_of(words)); })
      .def(
          "run",
          [](RpauModel& self, u64 max_cycles, std::optional<std::pair<u64, std::vector<u64>>> come,
             const std::vector<std::pair<int, int>>& places, const nb::callable& reached) {
            const auto arrivals =
                come ? std::optional(Arrivals{come->first, come->second, places}) : std::nullopt;
            const RunReport report = self.run(max_cycles, arrivals, [&](u64 cycle) {
              const nb::gil_scoped_acquire locked;
              if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C
              reached(cycle);
            });
            return std::pair(report.cycles, report.instructions);
          },
          nb::call_guard<nb::gil_scoped_release>())
      .def("starts", [](const RpauModel& self) { return array_of(self.starts()); });
}
