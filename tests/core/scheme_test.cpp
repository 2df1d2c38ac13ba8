// Every operation of the installed C++ package's scheme.h on small parameters; prints what is
// wrong. Arguments: the primes that create_primes must find for N = 2048 and 40, 30, 30, 41 bits.
#include <ringsmith/scheme.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "expect.h"

namespace ckks = ringsmith::ckks;
using Values = std::vector<std::complex<double>>;

namespace {

// The full key of one that is expanded on the fly.
ckks::RelinKeys full_key_of(const ringsmith::RlweContext& context,
                            const ckks::RelinKeys& on_the_fly) {
  const std::size_t words = context.rns().size() * context.degree();
  ckks::RelinKeys full{{}, on_the_fly.word_bits, {}};
  for (std::size_t digit = 0; digit < context.dnum(); ++digit) {
    const auto half = on_the_fly.data.begin() + static_cast<std::ptrdiff_t>(digit * words);
    full.data.insert(full.data.end(), half, half + static_cast<std::ptrdiff_t>(words));
    for (std::size_t limb = 0; limb < context.rns().size(); ++limb) {
      std::vector<ringsmith::u64> residues(context.degree());
      ringsmith::expand_key_half(*on_the_fly.seed, digit, limb, context.rns().modulus(limb),
                                 residues);
      full.data.insert(full.data.end(), residues.begin(), residues.end());
    }
  }
  return full;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kDegree = 2048;
  const std::vector<int> bits = {40, 30, 30, 41};
  const std::vector<ringsmith::u64> primes = ckks::create_primes(kDegree, bits);
  expect(argc == 5, "four primes as arguments");
  for (std::size_t i = 0; i < primes.size() && argc == 5; ++i) {
    expect(primes[i] == std::stoull(argv[i + 1]), "prime " + std::to_string(i));
  }

  const ckks::Context context = ckks::make_context(kDegree, primes);
  const ckks::KeyGenerator keygen(context);
  const ckks::RelinKeys relin_keys = keygen.create_relin_keys();
  const std::vector<ringsmith::i64> steps = {0, 3, -1};
  const ckks::GaloisKeys galois_keys = keygen.create_galois_keys(steps);
  const ckks::Encoder encoder(context);
  const ckks::Encryptor encryptor(context, keygen.create_public_key());
  const ckks::Decryptor decryptor(context, keygen.secret_key());
  const ckks::Evaluator evaluator(context);

  Values x(encoder.slot_count());
  Values y(encoder.slot_count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = {std::sin(static_cast<double>(i)), 0.5};
    y[i] = {std::cos(static_cast<double>(i)), -0.25};
  }
  const ckks::Plaintext plain = encoder.encode(y, 0x1p28, 3);
  const ckks::Ciphertext a = encryptor.encrypt(encoder.encode(x, 0x1p28, 3));
  const ckks::Ciphertext b = encryptor.encrypt(plain);

  const auto check = [&](const ckks::Ciphertext& result, const std::string& name, std::size_t limbs,
                         const std::function<std::complex<double>(std::size_t)>& expected) {
    const Values values = encoder.decode(decryptor.decrypt(result));
    double largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      largest = std::fmax(largest, std::abs(values[i] - expected(i)));
    }
    expect(largest < 1e-3, name + " errs by " + std::to_string(largest));
    expect(result.limbs() == limbs, name + " has " + std::to_string(result.limbs()) + " limbs");
  };
  const std::size_t slots = x.size();
  check(evaluator.add(a, b), "add", 3, [&](std::size_t i) { return x[i] + y[i]; });
  check(evaluator.sub(a, b), "sub", 3, [&](std::size_t i) { return x[i] - y[i]; });
  check(evaluator.negate(a), "negate", 3, [&](std::size_t i) { return -x[i]; });
  check(evaluator.add_plain(a, plain), "add_plain", 3, [&](std::size_t i) { return x[i] + y[i]; });
  check(evaluator.sub_plain(a, plain), "sub_plain", 3, [&](std::size_t i) { return x[i] - y[i]; });
  check(evaluator.multiply_plain(a, plain), "multiply_plain", 3,
        [&](std::size_t i) { return x[i] * y[i]; });
  const ckks::Ciphertext product = evaluator.multiply(a, b);
  check(product, "multiply", 3, [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.square(a), "square", 3, [&](std::size_t i) { return x[i] * x[i]; });
  const ckks::Ciphertext relinearized = evaluator.relinearize(product, relin_keys);
  expect(relinearized.size() == 2, "relinearize leaves two polynomials");
  check(relinearized, "relinearize", 3, [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.rescale_to_next(relinearized), "rescale_to_next", 2,
        [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.relinearize_rescale(product, relin_keys), "relinearize_rescale", 2,
        [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.mod_switch_to_next(a), "mod_switch", 2, [&](std::size_t i) { return x[i]; });
  check(evaluator.rotate_vector(a, 3, galois_keys), "rotate by 3", 3,
        [&](std::size_t i) { return x[(i + 3) % slots]; });
  check(evaluator.rotate_vector(a, -1, galois_keys), "rotate by -1", 3,
        [&](std::size_t i) { return x[(i + slots - 1) % slots]; });
  const std::vector<ringsmith::i64> both = {3, -1};
  const auto rotated = evaluator.rotate_vector_many(a, both, galois_keys);
  expect(rotated.size() == 2, "rotate_vector_many: two results");
  for (std::size_t i = 0; i < rotated.size(); ++i) {
    const ckks::Ciphertext alone = evaluator.rotate_vector(a, both[i], galois_keys);
    expect(rotated[i].words.data == alone.words.data && rotated[i].scale == alone.scale,
           "rotate_vector_many: the words of rotate_vector");
  }
  check(evaluator.complex_conjugate(a, galois_keys), "complex_conjugate", 3,
        [&](std::size_t i) { return std::conj(x[i]); });

  const ckks::RelinKeys on_the_fly = keygen.create_relin_keys(ckks::KeyForm::kOnTheFly);
  expect(on_the_fly.bytes() == relin_keys.bytes() / 2 + 10, "half of a key's words and its seed");
  const ckks::Ciphertext by_half = evaluator.relinearize(product, on_the_fly);
  check(by_half, "relinearize, key expanded on the fly", 3,
        [&](std::size_t i) { return x[i] * y[i]; });
  const ckks::Ciphertext by_full =
      evaluator.relinearize(product, full_key_of(*context, on_the_fly));
  expect(by_half.words.data == by_full.words.data,
         "a key expanded on the fly: the words of the full one");
  const ckks::GaloisKeys halves = keygen.create_galois_keys(steps, ckks::KeyForm::kOnTheFly);
  expect(halves.bytes() == galois_keys.bytes() / 2 + 30, "half of three keys and their seeds");
  check(evaluator.rotate_vector_many(a, both, halves)[1],
        "rotate_vector_many, keys expanded on the fly", 3,
        [&](std::size_t i) { return x[(i + slots - 1) % slots]; });

  ckks::RelinKeys precomputed = relin_keys;
  precomputed.precompute(*context);
  expect(precomputed.data == relin_keys.data, "a precomputed key's words stay");
  expect(precomputed.bytes() > relin_keys.bytes(), "a precomputed key takes memory of its own");
  precomputed.data = {};
  expect(evaluator.relinearize(product, precomputed).words.data == relinearized.words.data,
         "a precomputed key: the words of the full one");
  ckks::GaloisKeys ready = galois_keys;
  ready.precompute(*context);
  ready.data.erase(ringsmith::galois_element(kDegree, 3));
  ready.precompute(*context);
  const auto faster = evaluator.rotate_vector_many(a, both, ready);
  for (std::size_t i = 0; i < faster.size(); ++i) {
    expect(faster[i].words.data == rotated[i].words.data, "precomputed keys: the same rotations");
  }
  expect_error([&] { ckks::RelinKeys(on_the_fly).precompute(*context); },
               "key expanded on the fly cannot be");
  expect_error([&] { ckks::GaloisKeys(halves).precompute(*context); },
               "key expanded on the fly cannot be");
  const ckks::KeyGenerator in_words(context, 30);
  expect_error([&] { in_words.create_relin_keys().precompute(*context); }, "in digits of words");

  expect_error([&] { static_cast<void>(evaluator.add(a, product)); }, "have the scales");
  expect_error([&] { static_cast<void>(evaluator.rotate_vector(a, 5, galois_keys)); },
               "there is no key for Galois element");
  expect_error([&] { static_cast<void>(evaluator.relinearize(product, ckks::RelinKeys{})); },
               "has 0 digits, but the parameters have dnum = 3");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
