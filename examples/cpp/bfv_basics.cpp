// Encrypts two vectors of integers, computes x * y + x modulo t, swaps the rows, decrypts, and
// compares: exact, where CKKS is approximate.
//
// Whoever has written BFV with Microsoft SEAL finds the same steps under nearly the same names.
#include <ringsmith/bfv_scheme.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace bfv = ringsmith::bfv;

int main() {
  // Three data primes and one special prime; within 214 bits, the 128-bit bound of 2024.
  constexpr std::size_t kDegree = 8192;
  constexpr std::array<int, 4> kBits = {53, 53, 53, 54};
  constexpr ringsmith::i64 kPlainModulus = 65537;  // a prime that is 1 mod 2N, so it has slots
  const bfv::Context context =
      bfv::make_context(kDegree, bfv::create_primes(kDegree, kBits), kPlainModulus);

  const bfv::KeyGenerator keygen(context);
  const bfv::RelinKeys relin_keys = keygen.create_relin_keys();
  constexpr std::array<ringsmith::i64, 1> kSwap = {0};  // 0 stands for the swap of the rows
  const bfv::GaloisKeys galois_keys = keygen.create_galois_keys(kSwap);
  const bfv::Encoder encoder(context);
  const bfv::Encryptor encryptor(context, keygen.create_public_key());
  const bfv::Decryptor decryptor(context, keygen.secret_key());
  const bfv::Evaluator evaluator(context);

  std::vector<ringsmith::i64> x(encoder.slot_count());
  std::vector<ringsmith::i64> y(encoder.slot_count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<ringsmith::i64>(i);
    y[i] = 31 - static_cast<ringsmith::i64>(i % 63);
  }
  const bfv::Ciphertext encrypted_x = encryptor.encrypt(encoder.encode(x));
  const bfv::Ciphertext encrypted_y = encryptor.encrypt(encoder.encode(y));

  const bfv::Ciphertext product =
      evaluator.relinearize(evaluator.multiply(encrypted_x, encrypted_y), relin_keys);
  const bfv::Ciphertext sum = evaluator.add(product, encrypted_x);
  const bfv::Ciphertext swapped = evaluator.rotate_columns(sum, galois_keys);

  const std::vector<ringsmith::u64> result = encoder.decode(decryptor.decrypt(swapped));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t other = (i + x.size() / 2) % x.size();
    const ringsmith::i64 expected = (x[other] * y[other] + x[other]) % kPlainModulus;
    const ringsmith::i64 residue = (expected + kPlainModulus) % kPlainModulus;
    wrong += result[i] == static_cast<ringsmith::u64>(residue) ? 0 : 1;
  }
  std::cout << "noise budget " << decryptor.invariant_noise_budget(swapped) << " bits, wrong slots "
            << wrong << '\n';
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
