// SEAL's evaluator and a Ringsmith device, compared.
//
//   seal_bridge device COMMAND DEVICE   CKKS's operations of the bridge and SEAL's own
//   seal_bridge bfv COMMAND DEVICE      BFV's
//   seal_bridge read FILE...            parameters, then objects that SEAL must be able to load: of
//                                       the type that the file's name starts with
//   seal_bridge write FOLDER            params.seal, and one ciphertext in each compression
#include <fstream>
#include <iostream>
#include <sstream>

#include "ringsmith/seal_bridge.h"

namespace {

seal::EncryptionParameters make_parameters() {
  seal::EncryptionParameters parameters(seal::scheme_type::ckks);
  parameters.set_poly_modulus_degree(8192);
  parameters.set_coeff_modulus(seal::CoeffModulus::Create(8192, {47, 41, 41, 41, 48}));
  return parameters;
}

std::string bytes(const seal::Ciphertext& ciphertext) {
  std::ostringstream stream;
  ciphertext.save(stream, seal::compr_mode_type::none);
  return stream.str();
}

void compare(const std::string& name, const seal::Ciphertext& mine, const seal::Ciphertext& seals) {
  std::cout << name << (bytes(mine) == bytes(seals) ? " equal" : " DIFFERENT") << std::endl;
}

seal::Ciphertext encrypt(const seal::SEALContext& context, const seal::KeyGenerator& generator,
                         double value) {
  seal::PublicKey key;
  generator.create_public_key(key);
  seal::Plaintext plain;
  seal::CKKSEncoder(context).encode(value, std::ldexp(1.0, 40), plain);
  seal::Ciphertext cipher;
  seal::Encryptor(context, key).encrypt(plain, cipher);
  return cipher;
}

int device(const std::string& command, const std::string& kind) {
  const seal::SEALContext context(make_parameters());
  seal::KeyGenerator generator(context);
  seal::RelinKeys relin_keys;
  generator.create_relin_keys(relin_keys);
  seal::GaloisKeys galois_keys;
  generator.create_galois_keys(std::vector<int>{1, -4}, galois_keys);
  const seal::Evaluator evaluator(context);
  const seal::Ciphertext a = encrypt(context, generator, 1.5);
  const seal::Ciphertext b = encrypt(context, generator, -0.75);

  ringsmith::SealBridge bridge(context, {.device = kind, .command = command});
  bridge.set_relin_keys(relin_keys);
  bridge.set_galois_keys(galois_keys);
  seal::Ciphertext product, relinearized, rescaled, rotated;
  evaluator.multiply(a, b, product);
  compare("multiply", bridge.multiply(a, b), product);
  evaluator.relinearize(product, relin_keys, relinearized);
  compare("relinearize", bridge.relinearize(product), relinearized);
  evaluator.rescale_to_next(relinearized, rescaled);
  compare("rescale", bridge.rescale_to_next(relinearized), rescaled);
  evaluator.rotate_vector(rescaled, -4, galois_keys, rotated);
  compare("rotate", bridge.rotate_vector(rescaled, -4), rotated);
  try {
    static_cast<void>(bridge.rotate_vector(a, 2));
  } catch (const ringsmith::SealBridgeError& error) {
    std::cout << "refused: " << error.what();
  }
  try {
    ringsmith::SealBridge absent(context, {.device = kind, .command = "no-such-command"});
    static_cast<void>(absent.rescale_to_next(a));
  } catch (const ringsmith::SealBridgeError& error) {
    std::cout << "refused: " << error.what() << std::endl;
  }
  return 0;
}

int bfv(const std::string& command, const std::string& kind) {
  seal::EncryptionParameters parameters(seal::scheme_type::bfv);
  parameters.set_poly_modulus_degree(4096);
  parameters.set_coeff_modulus(seal::CoeffModulus::Create(4096, {36, 36, 37}));
  parameters.set_plain_modulus(seal::PlainModulus::Batching(4096, 20));
  const seal::SEALContext context(parameters);
  seal::KeyGenerator generator(context);
  seal::PublicKey public_key;
  generator.create_public_key(public_key);
  seal::RelinKeys relin_keys;
  generator.create_relin_keys(relin_keys);
  seal::GaloisKeys galois_keys;
  generator.create_galois_keys(std::vector<int>{1, 0}, galois_keys);
  const seal::Evaluator evaluator(context);
  seal::Plaintext plain;
  seal::BatchEncoder(context).encode(std::vector<std::int64_t>{1, -2, 3}, plain);
  seal::Ciphertext a, b, seals;
  const seal::Encryptor encryptor(context, public_key);
  encryptor.encrypt(plain, a);
  encryptor.encrypt(plain, b);

  ringsmith::SealBridge bridge(context, {.device = kind, .command = command});
  bridge.set_relin_keys(relin_keys);
  bridge.set_galois_keys(galois_keys);
  evaluator.add(a, b, seals);
  compare("add", bridge.add(a, b), seals);
  evaluator.sub(a, b, seals);
  compare("sub", bridge.sub(a, b), seals);
  evaluator.add_plain(a, plain, seals);
  compare("add_plain", bridge.add_plain(a, plain), seals);
  evaluator.multiply_plain(a, plain, seals);
  compare("multiply_plain", bridge.multiply_plain(a, plain), seals);
  evaluator.square(a, seals);
  compare("square", bridge.square(a), seals);
  seal::Ciphertext product;
  evaluator.multiply(a, b, product);
  compare("multiply", bridge.multiply(a, b), product);
  evaluator.relinearize(product, relin_keys, seals);
  compare("relinearize", bridge.relinearize(product), seals);
  evaluator.mod_switch_to_next(a, seals);
  compare("mod_switch", bridge.mod_switch_to_next(a), seals);
  evaluator.rotate_rows(a, 1, galois_keys, seals);
  compare("rotate_rows", bridge.rotate_rows(a, 1), seals);
  evaluator.rotate_columns(a, galois_keys, seals);
  compare("rotate_columns", bridge.rotate_columns(a), seals);
  try {
    static_cast<void>(bridge.rescale_to_next(a));
  } catch (const ringsmith::SealBridgeError& error) {
    std::cout << "refused: " << error.what();
  }
  return 0;
}

template <typename Object>
Object load(const seal::SEALContext& context, const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Object object;
  object.load(context, file);
  return object;
}

int read(const std::vector<std::string>& files) {
  seal::EncryptionParameters parameters;
  std::ifstream first(files.at(0), std::ios::binary);
  parameters.load(first);
  const seal::SEALContext context(parameters);
  for (std::size_t i = 1; i < files.size(); ++i) {
    const std::filesystem::path path = files[i];
    const std::string kind = path.filename().string().substr(0, 5);
    if (kind == "publi") {
      load<seal::PublicKey>(context, path);
    } else if (kind == "relin") {
      load<seal::RelinKeys>(context, path);
    } else if (kind == "galoi") {
      load<seal::GaloisKeys>(context, path);
    } else if (kind == "secre") {
      load<seal::SecretKey>(context, path);
    } else if (kind == "plain") {
      load<seal::Plaintext>(context, path);
    } else {
      load<seal::Ciphertext>(context, path);
    }
    std::cout << "loaded " << path.filename().string() << std::endl;
  }
  return 0;
}

int write(const std::string& folder) {
  const seal::EncryptionParameters parameters = make_parameters();
  const seal::SEALContext context(parameters);
  const seal::Ciphertext cipher = encrypt(context, seal::KeyGenerator(context), 1.0);
  std::ofstream params(folder + "/params.seal", std::ios::binary);
  parameters.save(params);
  for (int mode = 0; mode < 3; ++mode) {
    const auto compression = static_cast<seal::compr_mode_type>(mode);
    if (seal::Serialization::IsSupportedComprMode(compression)) {
      std::ofstream file(folder + "/" + std::to_string(mode) + ".seal", std::ios::binary);
      cipher.save(file, compression);
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.at(0) == "device") {
    return device(arguments.at(1), arguments.at(2));
  }
  if (arguments.at(0) == "bfv") {
    return bfv(arguments.at(1), arguments.at(2));
  }
  if (arguments.at(0) == "read") {
    return read({arguments.begin() + 1, arguments.end()});
  }
  return write(arguments.at(1));
}
