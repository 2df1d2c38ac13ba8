#include "ringsmith/blake2.h"

#include <algorithm>
#include <bit>

#include "platform/text.h"
#include "ringsmith/error.h"

namespace ringsmith {
namespace {

constexpr std::size_t kBlockBytes = 128;
constexpr std::size_t kMaxDigest = 64;

using State = std::array<u64, 8>;

// RFC 7693, section 2.6: the fractional parts of the square roots of the first eight primes.
constexpr State kInitial = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                            0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                            0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// RFC 7693, section 2.7; rounds 10 and 11 use rows 0 and 1 again.
constexpr std::array<std::array<std::uint8_t, 16>, 10> kSigma = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

u64 load_word(const std::uint8_t* bytes) {
  u64 word = 0;
  for (int i = 7; i >= 0; --i) {
    word = (word << 8) | bytes[i];
  }
  return word;
}

void append_word(Bytes& bytes, u64 word, int count = 8) {
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
}

void mix(std::array<u64, 16>& v, int a, int b, int c, int d, u64 x, u64 y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

// The compression function F; `hashed` counts the bytes up to and including this block.
void compress(State& state, const std::uint8_t* block, u64 hashed, bool last) {
  std::array<u64, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = load_word(block + 8 * i);
  }
  std::array<u64, 16> v{};
  std::copy(state.begin(), state.end(), v.begin());
  std::copy(kInitial.begin(), kInitial.end(), v.begin() + 8);
  v[12] ^= hashed;
  v[14] = last ? ~v[14] : v[14];
  for (std::size_t round = 0; round < 12; ++round) {
    const auto& sigma = kSigma[round % kSigma.size()];
    mix(v, 0, 4, 8, 12, words[sigma[0]], words[sigma[1]]);
    mix(v, 1, 5, 9, 13, words[sigma[2]], words[sigma[3]]);
    mix(v, 2, 6, 10, 14, words[sigma[4]], words[sigma[5]]);
    mix(v, 3, 7, 11, 15, words[sigma[6]], words[sigma[7]]);
    mix(v, 0, 5, 10, 15, words[sigma[8]], words[sigma[9]]);
    mix(v, 1, 6, 11, 12, words[sigma[10]], words[sigma[11]]);
    mix(v, 2, 7, 8, 13, words[sigma[12]], words[sigma[13]]);
    mix(v, 3, 4, 9, 14, words[sigma[14]], words[sigma[15]]);
  }
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] ^= v[i] ^ v[i + 8];
  }
}

// The initial value: the constants and the 64-byte parameter block (salt and person are zero).
State initial_state(const Blake2bParameters& parameters, std::size_t key_length) {
  Bytes block = {parameters.digest_length, static_cast<std::uint8_t>(key_length), parameters.fanout,
                 parameters.depth};
  append_word(block, parameters.leaf_length, 4);
  append_word(block, parameters.node_offset, 4);
  append_word(block, parameters.xof_length, 4);
  block.push_back(parameters.node_depth);
  block.push_back(parameters.inner_length);
  block.resize(64, 0);
  State state = kInitial;
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] ^= load_word(&block[8 * i]);
  }
  return state;
}

}  // namespace

Bytes blake2b(BytesView input, BytesView key, const Blake2bParameters& parameters) {
  if (key.size() > kMaxDigest || parameters.digest_length < 1 ||
      parameters.digest_length > kMaxDigest) {
    throw ParameterError(text("BLAKE2b takes a key of at most 64 bytes and gives a digest of 1 to ",
                              "64; asked for ", key.size(), " and ",
                              static_cast<int>(parameters.digest_length)));
  }
  Bytes message(key.begin(), key.end());
  message.resize(key.empty() ? 0 : kBlockBytes, 0);  // the key fills a block of its own
  message.insert(message.end(), input.begin(), input.end());
  const std::size_t length = message.size();
  const std::size_t blocks = std::max<std::size_t>(1, (length + kBlockBytes - 1) / kBlockBytes);
  message.resize(blocks * kBlockBytes, 0);

  State state = initial_state(parameters, key.size());
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool last = i + 1 == blocks;
    compress(state, &message[i * kBlockBytes], last ? length : (i + 1) * kBlockBytes, last);
  }
  Bytes digest;
  for (const u64 word : state) {
    append_word(digest, word);
  }
  digest.resize(parameters.digest_length);
  return digest;
}

Bytes blake2xb(BytesView input, BytesView key, std::uint32_t length) {
  Blake2bParameters root;
  root.xof_length = length;
  const Bytes root_digest = blake2b(input, key, root);

  Bytes output;
  output.reserve(length);
  Blake2bParameters leaf;
  leaf.fanout = 0;
  leaf.depth = 0;
  leaf.leaf_length = kMaxDigest;
  leaf.xof_length = length;
  leaf.inner_length = kMaxDigest;
  for (; output.size() < length; ++leaf.node_offset) {
    leaf.digest_length =
        static_cast<std::uint8_t>(std::min<std::size_t>(kMaxDigest, length - output.size()));
    const Bytes block = blake2b(root_digest, {}, leaf);
    output.insert(output.end(), block.begin(), block.end());
  }
  return output;
}

ParmsId parms_id(std::uint8_t scheme, u64 degree, std::span<const u64> primes, u64 plain_modulus) {
  Bytes words;
  append_word(words, scheme);
  append_word(words, degree);
  for (const u64 prime : primes) {
    append_word(words, prime);
  }
  append_word(words, plain_modulus);
  Blake2bParameters parameters;
  parameters.digest_length = 32;
  const Bytes digest = blake2b(words, {}, parameters);
  ParmsId id{};
  std::copy(digest.begin(), digest.end(), id.begin());
  return id;
}

}  // namespace ringsmith
