// Primes, roots, the NTT of plain arrays, hashes and seed expansion.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../src/platform/text.h"
#include "arrays.h"
#include "module.h"
#include "ringsmith/blake2.h"
#include "ringsmith/error.h"
#include "ringsmith/kernel_name.h"
#include "ringsmith/machine_speed.h"
#include "ringsmith/ntt.h"
#include "ringsmith/primes.h"
#include "ringsmith/sampling.h"
#include "ringsmith/threads.h"
#include "ringsmith/trivium.h"

namespace ringsmith::bindings {
namespace {

using Transform = void (NttTables::*)(std::span<u64>) const;
constexpr Transform kForward = &NttTables::forward;
constexpr Transform kInverse = &NttTables::inverse;

template <Transform transform>
OutputArray transform_rows(const InputArray& array, u64 q, u64 root) {
  const std::span<const u64> words = words_of(array, "the array");
  if (array.ndim() == 0) {
    throw ParameterError("the array has no dimension; expected is (..., N)");
  }
  const std::size_t degree = array.shape(array.ndim() - 1);
  const u64 primes[] = {q};
  const u64 roots[] = {root};
  std::vector<u64> out(words.begin(), words.end());
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(array.shape(i));
  }
  return to_numpy(without_gil([&] {
                    const RnsContext rns(degree, primes, roots);
                    rns.check_canonical(words, consecutive_base(1), "the array");
                    for (std::size_t row = 0; row * degree < out.size(); ++row) {
                      (rns.ntt(0).*transform)(limb_of(std::span<u64>(out), row, degree));
                    }
                    return std::move(out);
                  }),
                  shape);
}

using MutableArray = nb::ndarray<u64, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <Transform transform>
void transform_in_place(const NttTables& tables, const MutableArray& array) {
  check_alignment(array.data(), "the array");
  const std::span<u64> words(array.data(), array.size());
  nb::gil_scoped_release release;
  (tables.*transform)(words);
}

BytesView view(const nb::bytes& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

nb::bytes parms_id_bytes(std::uint8_t scheme, u64 degree, const std::vector<u64>& primes,
                         u64 plain_modulus) {
  const ParmsId id = parms_id(scheme, degree, primes, plain_modulus);
  return nb::bytes(id.data(), id.size());
}

OutputArray expand_seed(const nb::bytes& seed_bytes, std::size_t degree,
                        const std::vector<u64>& primes) {
  Seed seed{};
  if (seed_bytes.size() != seed.size()) {
    throw ParameterError(
        text("a seed has ", seed.size(), " bytes, this one has ", seed_bytes.size()));
  }
  std::ranges::copy(view(seed_bytes), seed.begin());
  return to_numpy(without_gil([&] {
                    const RnsContext rns(degree, primes);
                    SeededRandom random(seed);
                    return sample_uniform(rns, consecutive_base(rns.size()), random);
                  }),
                  {primes.size(), degree});
}

OutputArray trivium_words(const nb::bytes& key, const nb::bytes& iv, std::size_t count) {
  Trivium trivium(bytes80_of(key, "a Trivium key"), bytes80_of(iv, "a Trivium IV"));
  return to_numpy(without_gil([&] {
                    std::vector<u64> words(count);
                    std::ranges::generate(words, [&] { return trivium.next_word(); });
                    return words;
                  }),
                  {count});
}

using ExpandLimb = void(const KeySeed&, std::size_t, std::size_t, const Modulus&, std::span<u64>,
                        std::size_t);

template <ExpandLimb expand>
OutputArray expanded_limb(const nb::bytes& seed_bytes, std::size_t digit, std::size_t limb, u64 q,
                          std::size_t n, std::size_t block) {
  const KeySeed seed = key_seed_of(seed_bytes);
  return to_numpy(without_gil([&] {
                    std::vector<u64> residues(n);
                    expand(seed, digit, limb, Modulus(q), residues, block);
                    return residues;
                  }),
                  {n});
}

}  // namespace

void register_numbers(nb::module_& module) {
  module.attr("MAX_MODULUS_BITS") = Modulus::kMaxBits;
  module.def("kernel_name", &kernel_name,
             "The kernel set that this process computes with: RINGSMITH_KERNEL, or the fastest.");
  module.def("kernel_names", &kernel_names,
             "The kernel sets that this build and this processor have, slowest first.");
  module.def(
      "read_seconds",
      [](const InputArray& words, bool in_turn) {
        return read_seconds(words_of(words, "the array"), in_turn);
      },
      nb::arg("words"), nb::arg("in_turn"),
      "CPU seconds to read an array of uint64 once, alternating between eight positions or in "
      "order.");
  module.def("multiplication_seconds", &multiplication_seconds,
             "CPU seconds for one vector multiplication of the kernel set, in registers.");
  module.def("multiplication_lanes", &multiplication_lanes, "Words that it multiplies.");
  module.attr("MAX_THREADS") = kMaxThreads;
  module.def("threads", &threads,
             "Threads that all computations of this process share: RINGSMITH_THREADS, or all that "
             "the processors allow.");
  module.def("set_threads", &set_threads, nb::arg("count"), "Sets that number.");
  module.def("is_prime", &is_prime, nb::arg("q"), "Whether a 64-bit number is prime.");
  module.def(
      "prime_search", &prime_search, nb::arg("bits"), nb::arg("n"), nb::arg("count"),
      "The `count` largest primes of exactly `bits` bits with q = 1 mod 2n, largest first.\n\n"
      "SEAL's search order; CoeffModulus.Create hands the same primes out smallest first.");
  module.def(
      "smallest_root", [](u64 q, std::size_t n) { return smallest_root(Modulus(q), n); },
      nb::arg("q"), nb::arg("n"),
      "The numerically smallest primitive 2n-th root of unity modulo the prime q.");
  module.def("ntt_forward", &transform_rows<kForward>, nb::arg("a"), nb::arg("q"), nb::arg("root"),
             "Negacyclic NTT of every row of a (..., N) array modulo the prime q.\n\n"
             "Natural order in, bit-reversed out: out[i] = a(root^(2*brev(i)+1)).");
  module.def("ntt_inverse", &transform_rows<kInverse>, nb::arg("a"), nb::arg("q"), nb::arg("root"),
             "The inverse of ntt_forward, division by N included.");
  nb::class_<NttTables>(module, "Ntt", "The tables of one ring and prime, made once.")
      .def(
          "__init__",
          [](NttTables* self, std::size_t n, u64 q, u64 root) {
            new (self) NttTables(Modulus(q), n, root);
          },
          nb::arg("n"), nb::arg("q"), nb::arg("root"))
      .def("forward", &transform_in_place<kForward>, nb::arg("a"),
           "ntt_forward of N canonical words, in place and unchecked.")
      .def("inverse", &transform_in_place<kInverse>, nb::arg("a"),
           "ntt_inverse of N canonical words, in place and unchecked.");
  module.def("parms_id", &parms_id_bytes, nb::arg("scheme"), nb::arg("n"), nb::arg("primes"),
             nb::arg("plain_modulus") = 0,
             "SEAL's 32-byte identifier of encryption parameters; scheme 1 BFV, 2 CKKS, 3 BGV.");
  module.def("expand_seed", &expand_seed, nb::arg("seed"), nb::arg("n"), nb::arg("primes"),
             "The uniform polynomial (limbs, N) that SEAL expands from a 64-byte BLAKE2Xb seed.");
  module.def("trivium_words", &trivium_words, nb::arg("key"), nb::arg("iv"), nb::arg("count"),
             "The first `count` 64-bit words of a Trivium stream, its first bit in bit 0.");
  module.def(
      "expand_key_half", &expanded_limb<expand_key_half>, nb::arg("seed"), nb::arg("digit"),
      nb::arg("limb"), nb::arg("q"), nb::arg("n"), nb::arg("block") = 0,
      "One limb (N) of one digit of a seeded key-switching key's uniform half; or n residues "
      "from residue 2^14 * block on.");
  module.def("expand_seed_words", &expanded_limb<expand_seed_words>, nb::arg("seed"),
             nb::arg("digit"), nb::arg("limb"), nb::arg("q"), nb::arg("n"), nb::arg("block") = 0,
             "The words that expand_key_half makes residues from; some may not be below q.");
  module.def("seed_word_bits", &seed_word_bits, nb::arg("q"),
             "Bits of a stream's word that make a residue modulo q.");
}

}  // namespace ringsmith::bindings
