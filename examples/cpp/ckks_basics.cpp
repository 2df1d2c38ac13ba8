// Encrypts two vectors, computes x * y rotated by one slot, decrypts, and compares.
//
// Whoever has written CKKS with Microsoft SEAL finds the same steps under nearly the same names.
#include <ringsmith/scheme.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace ckks = ringsmith::ckks;

int main() {
  // Three data primes and one special prime; within 214 bits, the 128-bit bound of 2024.
  constexpr std::size_t kDegree = 8192;
  constexpr std::array<int, 4> kBits = {60, 40, 40, 60};
  const ckks::Context context = ckks::make_context(kDegree, ckks::create_primes(kDegree, kBits));
  const double scale = std::ldexp(1.0, 40);

  const ckks::KeyGenerator keygen(context);
  const ckks::RelinKeys relin_keys = keygen.create_relin_keys();
  constexpr std::array<ringsmith::i64, 1> kSteps = {1};
  const ckks::GaloisKeys galois_keys = keygen.create_galois_keys(kSteps);
  const ckks::Encoder encoder(context);
  const ckks::Encryptor encryptor(context, keygen.create_public_key());
  const ckks::Decryptor decryptor(context, keygen.secret_key());
  const ckks::Evaluator evaluator(context);

  std::vector<double> x(encoder.slot_count());
  std::vector<double> y(encoder.slot_count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::sin(static_cast<double>(i));
    y[i] = std::cos(static_cast<double>(i));
  }
  const ckks::Ciphertext encrypted_x = encryptor.encrypt(encoder.encode(x, scale));
  const ckks::Ciphertext encrypted_y = encryptor.encrypt(encoder.encode(y, scale));

  const ckks::Ciphertext product = evaluator.multiply(encrypted_x, encrypted_y);
  const ckks::Ciphertext small =
      evaluator.rescale_to_next(evaluator.relinearize(product, relin_keys));
  const ckks::Ciphertext rotated = evaluator.rotate_vector(small, 1, galois_keys);

  const auto result = encoder.decode(decryptor.decrypt(rotated));
  double largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t next = (i + 1) % x.size();
    largest = std::fmax(largest, std::abs(result[i] - x[next] * y[next]));
  }
  std::cout << "limbs " << rotated.limbs() << ", scale 2^" << std::log2(rotated.scale)
            << ", largest error " << largest << '\n';
  return largest < 1e-5 ? EXIT_SUCCESS : EXIT_FAILURE;
}
