// Every operation of the installed C++ package's bfv_scheme.h on small parameters, in both ways to
// multiply and with both kinds of keys; prints what is wrong.
#include <ringsmith/bfv_scheme.h>

#include <cstdlib>
#include <string>

#include "expect.h"

namespace bfv = ringsmith::bfv;
using Values = std::vector<ringsmith::i64>;

namespace {

constexpr ringsmith::i64 kPlainModulus = 12289;  // 1 mod 4096
constexpr std::size_t kDegree = 2048;

// The residue of smallest magnitude.
ringsmith::i64 centred(ringsmith::i64 value) {
  const ringsmith::i64 residue = (value % kPlainModulus + kPlainModulus) % kPlainModulus;
  return residue > kPlainModulus / 2 ? residue - kPlainModulus : residue;
}

void check_operations(const bfv::Context& context, bfv::Multiplication variant,
                      std::size_t word_bits) {
  const std::string suffix = word_bits != 0                     ? ", words"
                             : context->rlwe().residue_digits() ? ", residue digits"
                                                                : ", special prime";
  const bfv::KeyGenerator keygen(context, word_bits);
  const bfv::RelinKeys relin_keys = keygen.create_relin_keys();
  const std::vector<ringsmith::i64> steps = {0, 3, -1};
  const bfv::GaloisKeys galois_keys = keygen.create_galois_keys(steps);
  const bfv::Encoder encoder(context);
  const bfv::Encryptor encryptor(context, keygen.create_public_key());
  const bfv::Decryptor decryptor(context, keygen.secret_key());
  const bfv::Evaluator evaluator(context, variant);

  const std::size_t slots = encoder.slot_count();
  const std::size_t row = slots / 2;
  Values x(slots);
  Values y(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    x[i] = static_cast<ringsmith::i64>(i) - 1000;
    y[i] = static_cast<ringsmith::i64>(7 * i % 5000);
  }
  const bfv::Plaintext plain = encoder.encode(y);
  const bfv::Ciphertext a = encryptor.encrypt(encoder.encode(x));
  const bfv::Ciphertext b = encryptor.encrypt(plain);

  const auto check = [&](const bfv::Ciphertext& result, const std::string& name, std::size_t limbs,
                         const std::function<ringsmith::i64(std::size_t)>& expected) {
    const Values values = encoder.decode_signed(decryptor.decrypt(result));
    bool right = values.size() == slots;
    for (std::size_t i = 0; i < slots && right; ++i) {
      right = values[i] == centred(expected(i));
    }
    expect(right, name + suffix);
    expect(result.limbs() == limbs, name + " has " + std::to_string(result.limbs()) + " limbs");
    expect(decryptor.invariant_noise_budget(result) > 0, name + " has no budget left" + suffix);
  };
  check(evaluator.add(a, b), "add", 3, [&](std::size_t i) { return x[i] + y[i]; });
  check(evaluator.sub(a, b), "sub", 3, [&](std::size_t i) { return x[i] - y[i]; });
  check(evaluator.negate(a), "negate", 3, [&](std::size_t i) { return -x[i]; });
  check(evaluator.add_plain(a, plain), "add_plain", 3, [&](std::size_t i) { return x[i] + y[i]; });
  check(evaluator.sub_plain(a, plain), "sub_plain", 3, [&](std::size_t i) { return x[i] - y[i]; });
  check(evaluator.multiply_plain(a, plain), "multiply_plain", 3,
        [&](std::size_t i) { return x[i] * y[i]; });
  const bfv::Ciphertext product = evaluator.multiply(a, b);
  check(product, "multiply", 3, [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.square(a), "square", 3, [&](std::size_t i) { return x[i] * x[i]; });
  const bfv::Ciphertext relinearized = evaluator.relinearize(product, relin_keys);
  expect(product.size() == 3 && relinearized.size() == 2, "relinearize leaves two polynomials");
  check(relinearized, "relinearize", 3, [&](std::size_t i) { return x[i] * y[i]; });
  check(evaluator.mod_switch_to_next(relinearized), "mod_switch", 2,
        [&](std::size_t i) { return x[i] * y[i]; });
  const auto rotated = [&](std::size_t i, std::size_t step) {
    return x[i / row * row + (i + step) % row];
  };
  check(evaluator.rotate_rows(a, 3, galois_keys), "rotate by 3", 3,
        [&](std::size_t i) { return rotated(i, 3); });
  check(evaluator.rotate_rows(a, -1, galois_keys), "rotate by -1", 3,
        [&](std::size_t i) { return rotated(i, row - 1); });
  const std::vector<ringsmith::i64> both = {3, -1};
  const auto many = evaluator.rotate_rows_many(a, both, galois_keys);
  expect(many.size() == 2, "rotate_rows_many: two results");
  for (std::size_t i = 0; i < many.size(); ++i) {
    expect(many[i].words.data == evaluator.rotate_rows(a, both[i], galois_keys).words.data,
           "rotate_rows_many: the words of rotate_rows");
  }
  check(evaluator.rotate_columns(a, galois_keys), "rotate_columns", 3,
        [&](std::size_t i) { return x[(i + row) % slots]; });

  expect_error([&] { static_cast<void>(evaluator.add(a, evaluator.mod_switch_to_next(a))); },
               "have 3 and 2 limbs");
  expect_error([&] { static_cast<void>(evaluator.rotate_rows(a, 5, galois_keys)); },
               "there is no key for Galois element");
  expect_error([&] { static_cast<void>(encoder.encode(Values{kPlainModulus})); },
               "is outside -6144 ... 12288");
  expect_error([&] { static_cast<void>(encoder.encode(Values(slots + 1))); }, "do not fit");
}

}  // namespace

int main() {
  const std::vector<int> bits = {40, 30, 30, 41};
  const std::vector<ringsmith::u64> primes = bfv::create_primes(kDegree, bits);
  const bfv::Context context = bfv::make_context(kDegree, primes, kPlainModulus);
  for (const bfv::Multiplication variant :
       {bfv::Multiplication::kBehz, bfv::Multiplication::kHps}) {
    for (const std::size_t word_bits : {0, 20}) {
      check_operations(context, variant, word_bits);
    }
  }
  const std::span<const ringsmith::u64> data = std::span(primes).first(3);
  check_operations(bfv::make_context(kDegree, data, kPlainModulus, 0), bfv::Multiplication::kBehz,
                   20);
  check_operations(bfv::make_context(kDegree, data, kPlainModulus, 0, 3), bfv::Multiplication::kHps,
                   0);
  const bfv::Context unbatched = bfv::make_context(kDegree, primes, 2);
  expect_error([&] { static_cast<void>(bfv::Encoder(unbatched)); }, "does not batch");
  const bfv::KeyGenerator keygen(unbatched);
  const bfv::GaloisKeys keys = keygen.create_galois_keys(Values{0, 1});
  const bfv::Plaintext one = {std::vector<ringsmith::u64>(kDegree, 1)};
  const bfv::Encryptor encryptor(unbatched, keygen.create_public_key());
  const bfv::Ciphertext a = encryptor.encrypt(one);
  const bfv::Evaluator evaluator(unbatched);
  expect_error([&] { static_cast<void>(evaluator.rotate_rows(a, 1, keys)); }, "does not batch");
  expect_error([&] { static_cast<void>(evaluator.rotate_columns(a, keys)); }, "does not batch");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
