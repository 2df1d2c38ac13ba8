// Runs Microsoft SEAL operations on a Ringsmith device. Operands and results are SEAL's own
// ciphertexts, and each residue equals SEAL's.
//
//   ringsmith::SealBridge bridge(context, {.device = "model"});
//   bridge.set_relin_keys(relin_keys);
//   seal::Ciphertext product = bridge.relinearize(bridge.multiply(a, b));
//
// Scheduling and devices are part of Ringsmith's Python runtime. So each call runs the command
// `ringsmith seal eval` as a child process. Its files lie in a folder that only this user can read;
// the bridge's destructor deletes it. A call costs about a second beyond the device's time. A
// program of many operations is better traced and compiled once (docs/guide/seal.md).
//
// This header needs SEAL 4 and POSIX, and nothing else of Ringsmith's library. It never takes
// secret keys. A bridge must not be used by two threads at once.
#pragma once

#include <fcntl.h>
#include <seal/seal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ringsmith {

static_assert(SEAL_VERSION_MAJOR == 4, "seal_bridge.h needs Microsoft SEAL 4");

/// A device rejected the operation or failed; the text is the line that `ringsmith seal eval`
/// printed.
class SealBridgeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a bridge computes.
struct SealBridgeOptions {
  std::string device = "model";       ///< `cpu`, `model` or `rtl`
  std::string design = {};            ///< which accelerator; empty: the smallest that fits
  std::string command = "ringsmith";  ///< name (on PATH) or path of the ringsmith command
};

/// Runs operations on SEAL's CKKS or BFV ciphertexts on a device.
///
/// Each is the operation of seal::Evaluator of that name. A device that lacks the units for BFV's
/// products rejects them (docs/guide/seal.md).
class SealBridge {
 public:
  /// @param context  CKKS or BFV, with key switching
  /// @throws SealBridgeError if no private temporary folder can be made
  explicit SealBridge(const seal::SEALContext& context, SealBridgeOptions options = {})
      : context_(context), options_(std::move(options)) {
    std::string name = (std::filesystem::temp_directory_path() / "ringsmith-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw SealBridgeError("no temporary folder: " + std::generic_category().message(errno));
    }
    folder_ = name;
    save(context_.key_context_data()->parms(), "params");
  }

  ~SealBridge() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  SealBridge(const SealBridge&) = delete;
  SealBridge& operator=(const SealBridge&) = delete;

  /// Keys for `relinearize`.
  void set_relin_keys(const seal::RelinKeys& keys) { save(keys, "relin"); }
  /// Keys for rotations and `rotate_columns`.
  void set_galois_keys(const seal::GaloisKeys& keys) { save(keys, "galois"); }

  /// Evaluator::add.
  /// @throws SealBridgeError if SEAL would reject the operands or the device fails; so do all
  [[nodiscard]] seal::Ciphertext add(const seal::Ciphertext& a, const seal::Ciphertext& b) {
    return evaluate("add", a, b);
  }

  /// Evaluator::sub.
  [[nodiscard]] seal::Ciphertext sub(const seal::Ciphertext& a, const seal::Ciphertext& b) {
    return evaluate("sub", a, b);
  }

  /// Evaluator::add_plain.
  [[nodiscard]] seal::Ciphertext add_plain(const seal::Ciphertext& a, const seal::Plaintext& b) {
    return evaluate("add_plain", a, b);
  }

  /// Evaluator::multiply: two polynomials each in, three out.
  [[nodiscard]] seal::Ciphertext multiply(const seal::Ciphertext& a, const seal::Ciphertext& b) {
    return evaluate("multiply", a, b);
  }

  /// Evaluator::square: two polynomials in, three out.
  [[nodiscard]] seal::Ciphertext square(const seal::Ciphertext& a) { return evaluate("square", a); }

  /// Evaluator::multiply_plain.
  [[nodiscard]] seal::Ciphertext multiply_plain(const seal::Ciphertext& a,
                                                const seal::Plaintext& b) {
    return evaluate("multiply_plain", a, b);
  }

  /// Evaluator::relinearize: three polynomials back to two.
  [[nodiscard]] seal::Ciphertext relinearize(const seal::Ciphertext& a) {
    return evaluate("relinearize", a, {"--relin-keys", path("relin")});
  }

  /// Evaluator::rescale_to_next; CKKS only.
  [[nodiscard]] seal::Ciphertext rescale_to_next(const seal::Ciphertext& a) {
    return evaluate("rescale", a);
  }

  /// Evaluator::mod_switch_to_next.
  [[nodiscard]] seal::Ciphertext mod_switch_to_next(const seal::Ciphertext& a) {
    return evaluate("mod_switch", a);
  }

  /// Evaluator::rotate_vector: by `steps` slots to the left, or negative to the right.
  [[nodiscard]] seal::Ciphertext rotate_vector(const seal::Ciphertext& a, int steps) {
    return evaluate("rotate", a,
                    {"--galois-keys", path("galois"), "--steps=" + std::to_string(steps)});
  }

  /// Evaluator::rotate_rows: what rotate_vector is to CKKS, to each of BFV's two rows.
  [[nodiscard]] seal::Ciphertext rotate_rows(const seal::Ciphertext& a, int steps) {
    return rotate_vector(a, steps);
  }

  /// Evaluator::rotate_columns: BFV's two rows change places.
  [[nodiscard]] seal::Ciphertext rotate_columns(const seal::Ciphertext& a) {
    return evaluate("conjugate", a, {"--galois-keys", path("galois")});
  }

 private:
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / (name + ".seal")).string();
  }

  template <typename Object>
  void save(const Object& object, const std::string& name) const {
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    object.save(file, seal::compr_mode_type::none);
    if (!file.flush()) {
      throw SealBridgeError(path(name) + ": cannot be written");
    }
  }

  // An operation on a ciphertext, with its options.
  [[nodiscard]] seal::Ciphertext evaluate(const std::string& operation, const seal::Ciphertext& a,
                                          std::vector<std::string> options = {}) const {
    save(a, "a");
    options.insert(options.begin(), {operation, path("a")});
    return evaluate(std::move(options));
  }

  // An operation on a ciphertext and a second one, or a plaintext.
  template <typename Object>
  [[nodiscard]] seal::Ciphertext evaluate(const std::string& operation, const seal::Ciphertext& a,
                                          const Object& b) const {
    save(b, "b");
    return evaluate(operation, a, std::vector<std::string>{path("b")});
  }

  [[nodiscard]] seal::Ciphertext evaluate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {options_.command, "seal", "eval"});
    const std::string version =
        std::to_string(SEAL_VERSION_MAJOR) + "." + std::to_string(SEAL_VERSION_MINOR);
    arguments.insert(arguments.end(),
                     {"--params", path("params"), "--output", path("result"), "--force", "--device",
                      options_.device, "--seal-version", version});
    if (!options_.design.empty()) {
      arguments.insert(arguments.end(), {"--design", options_.design});
    }
    run(arguments);
    seal::Ciphertext result;
    std::ifstream file(path("result"), std::ios::binary);
    result.load(context_, file);
    return result;
  }

  /// Runs a command with its output and errors in a file; throws them if it fails.
  void run(std::vector<std::string>& arguments) const {
    std::vector<char*> words;
    for (std::string& argument : arguments) {
      words.push_back(argument.data());
    }
    words.push_back(nullptr);
    const std::string log = (folder_ / "log").string();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = 0;
    const int failure =
        posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
      throw SealBridgeError(arguments.front() + ": " + std::generic_category().message(failure));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) {
        throw SealBridgeError("waitpid: " + std::generic_category().message(errno));
      }
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      std::ifstream file(log);
      throw SealBridgeError(std::string(std::istreambuf_iterator<char>(file), {}));
    }
  }

  seal::SEALContext context_;
  SealBridgeOptions options_;
  std::filesystem::path folder_;
};

}  // namespace ringsmith
