// What a set of kernels offers: the loops over one limb, once for each kind of processor.
//
// A kernel set is chosen once, when the program starts (kernel_set()). For each prime it has the
// narrowest modulus-size kernels that accept it: narrow primes leave headroom for lazier reduction,
// and those little below a power of two are reduced by fewer products. All sets compute the same
// canonical words; docs/guide/cpu.md has the bounds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ringsmith/types.h"

namespace ringsmith {
class Modulus;
}

namespace ringsmith::simd {

/// A constant factor in the form of a modulus-size kernel (TwiddleCode).
struct Factor {
  u64 factor;
  u64 quotient;
};

/// Multiplication in parts (Word64::multiply of a SplitTwiddle) cuts off this many lower bits of a
/// word, and its factors end in that many zeros; together they fill 52 bits.
inline constexpr int kLowerBits = 40;
inline constexpr int kFactorZeros = 12;

/// A constant factor w of it, for primes q that are 1 modulo 2^kFactorZeros: w for the lower part
/// of a word, and 2^kLowerBits w for the upper part.
struct SplitFactor {
  u64 factor;         ///< w' / 2^12, where w' in [0, 2^12 q) is w modulo q and 0 modulo 2^12
  u64 quotient;       ///< floor(w' * 2^40 / q), below 2^52
  u64 high_factor;    ///< the same of 2^40 w
  u64 high_quotient;  ///< the same of 2^40 w
};

/// How a modulus-size kernel stores a factor w < q and its quotient.
enum class TwiddleCode {
  kShift64,     ///< w and floor(w * 2^64 / q)
  kShift52,     ///< w and floor(w * 2^52 / q)
  kShift32,     ///< w and floor(w * 2^32 / q); in a TwiddleView as words of 32 bits
  kMontgomery,  ///< f = 2^31 w and 2^32 f modulo q, each as f + floor(f / 2^31) 2^31: the lower 31
                ///< bits in the lower half of a word and the rest in the upper
  kNearPower,   ///< w and 2^32 w modulo q, each as w modulo 2^s and, in the upper half of a word,
                ///< floor(w / 2^s), for s = bits - 31
  kReal,        ///< the bits of two doubles: w, less q if it is above q / 2, and that over q
};

/// Bits that such a multiplication reduces by.
inline constexpr int kMontgomeryBits = 31;

/// The uppermost bits of a factor that are stored separately with kNearPower (pseudo-Mersenne).
inline constexpr int kNearPowerBits = 31;

/// The precomputed form of a key's residues for a modulus-size kernel.
enum class KeyCode {
  kResidue,    ///< as they are
  kResidue32,  ///< as words of 32 bits; for primes of up to 32 bits
  kPairs32,    ///< the same, of eight the first four in the lower halves of words, and the others
               ///< in their upper ones
  kHalves,     ///< the lower 30 bits in the lower half of a word, and the rest in the upper
  kReal,       ///< the bits of a double in [-q/2, q/2]; for primes of up to 53 bits
};

/// Residues that share a word of u64 in this form.
constexpr std::size_t residues_in_word(KeyCode code) {
  return code == KeyCode::kResidue32 || code == KeyCode::kPairs32 ? 2 : 1;
}

/// What kernels need to know of one prime, whichever class they are of; for base conversions of any
/// modulus, which may be 2^(bits-1) too.
struct PrimeConstants {
  u64 q;            ///< 2^(bits-1) < q < 2^bits
  int bits;         ///< at most 61
  u64 ratio;        ///< floor(2^64 / q)
  u64 barrett;      ///< floor(2^(63 + bits) / q), in [2^63, 2^64); not for q = 2^(bits-1)
  Factor shift30;   ///< 2^30 mod q, kShift64
  Factor shift60;   ///< 2^60 mod q, kShift64
  Factor shift52;   ///< 2^52 mod q, kShift52
  Factor folded;    ///< 2^60 mod q, kMontgomery
  u64 ratio104;     ///< floor(2^104 / q), below 2^52; only for q > 2^52
  u64 fraction104;  ///< floor(2^52 (2^104 mod q) / q), below 2^52
  u64 inverse;      ///< q^-1 modulo 2^64; only for odd q
};

/// One direction of a transform: N factors. Entry i > 0 belongs to node i of the binary tree of
/// butterflies, whose root is 1 and whose node i has the children 2i and 2i + 1; in the last
/// log2(lanes) layers entries are permuted for transposed blocks (twiddle_position).
struct TwiddleView {
  const u64* factors;
  const u64* quotients;
  const SplitFactor* nodes;  ///< of all nodes but those of the last log2(lanes) layers, in the
                             ///< tree's order, for classes that split; null if q does not allow it
};

/// A canonical residue as a constant factor.
Factor factor_of(u64 value, const Modulus& modulus, TwiddleCode code);
/// Whether such factors of this modulus can be.
bool can_split(const Modulus& modulus);
SplitFactor split_factor_of(u64 value, const Modulus& modulus);
/// The same modulo q, for kernels' files, which know no Modulus.
bool can_split(u64 q);
SplitFactor split_factor_of(u64 value, u64 q);
Factor near_power_factor(u64 value, u64 q);
PrimeConstants constants_of(const Modulus& modulus);

/// Words of u64 that `count` residues take in this form, for a multiple of 8.
std::size_t precomputed_size(KeyCode code, std::size_t count);
/// Precomputes `count` residues modulo q, a multiple of 8, and back, but does not scale them as
/// PrimeKernels::key_shift wants; not in place.
/// @return whether all are canonical; else what is written means nothing
bool precompute_residues(u64 q, KeyCode code, const u64* residues, u64* out, std::size_t count);
void restore_residues(u64 q, KeyCode code, const u64* precomputed, u64* out, std::size_t count);

/// Everything that a transform of one limb reads.
struct NttPlan {
  PrimeConstants prime;
  int log_degree;
  TwiddleView forward;    ///< root^brev(i)
  TwiddleView backward;   ///< root^-brev(i)
  Factor inverse_degree;  ///< N^-1
  Factor last_backward;   ///< N^-1 * root^-brev(1)
};

/// A sum of limbs times constants, as base conversions need it: offset + sum over i < terms of
/// words[i] * factors[i], and + extra * extra_factor unless `extra` is null.
struct Combination {
  std::size_t terms;
  const u64* const* words;  ///< below 2^word_bits
  int word_bits;            ///< at most 61
  const u64* factors;       ///< canonical
  u64 offset;               ///< canonical
  const u64* extra;     ///< any words; below 2^52 where word_bits and the prime's are at most 50
  Factor extra_factor;  ///< kShift64
};

/// Words in a block of a Permutation.
inline constexpr std::size_t kPermutedWords = 8;

/// A permutation that takes aligned blocks of eight words to such blocks
/// (src/ring/ntt_permutation.h).
struct Permutation {
  const std::uint32_t* blocks;  ///< for each block of the result, where its words are
                                ///< (a multiple of 8), plus the pattern's number
  const u64 (
      *patterns)[kPermutedWords];  ///< for each word of a block, its position in the source's
};

/// What is summed up in key switching: `count` digits times both halves of their keys.
struct KeyTerms {
  std::size_t count;
  const u64* const* values;        ///< of each digit, as forward_digit leaves them
  const Permutation* permutation;  ///< what is done to every digit first, unless keys are
                                   ///< precomputed; null: nothing
  const u64* const* addends;       ///< what is added to each then, canonical but for what `digit`
                                   ///< does, null for nothing; only if permuted, and not for
                                   ///< classes that scale
  const u64* scaled;               ///< for those, if permuted: what is added to all, canonical,
  const Factor* scales;            ///< times one of these for each (kShift64)
  const u64* const* keys[2];       ///< of each half, for each digit
  bool precomputed;  ///< whether keys are as PrimeKernels::key_code says, and known to be canonical
  const u64* starts[2];        ///< if precomputed: what sums start from, like keys; null: zero
  const Permutation* targets;  ///< if precomputed: where sums go in the limbs out_0 and out_1
                               ///< (NttPermutation::targets); null: as they are at hand
};

/// A limb of a quotient by a product D of primes: (in - c) * factor + addend, where c is the
/// correction that makes the difference a multiple of D.
struct Division {
  const u64* in;                   ///< canonical
  Factor factor;                   ///< D^-1 (kShift64)
  const u64* addend;               ///< canonical; null: nothing
  const Permutation* permutation;  ///< what is done to `addend` first; null: nothing
  u64* out;                        ///< may be `in`
};

/// How many sums combine_four() makes, and so how many primes are converted to at a time.
inline constexpr int kTargets = 4;

/// The kernels of one modulus size. Limbs are `count` words, `count` a multiple of 64.
struct PrimeKernels {
  int max_bits;    ///< the widest prime that the class takes
  int near_power;  ///< if not 0, it takes primes of b bits from 2^b - 2^(b - near_power) on
  TwiddleCode code;
  int lanes;         ///< 1, 4 or 8: how the last layers of the plan's factors are permuted
  bool splits;       ///< whether transforms read TwiddleView::nodes
  bool scales;       ///< whether key_products reads KeyTerms::scaled in place of `addends`
  KeyCode key_code;  ///< of precomputed keys

  /// Forward NTT of the words in[i] + offset, which are below `bound`, at most 2^62; may be in
  /// place. Below 2q, or more as the class has headroom, words are taken as they are, others are
  /// reduced while they are first read.
  void (*forward)(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out);
  /// The same for key_products: words of the result's residues, not canonical and with bounds of
  /// their own, or their doubles.
  void (*forward_digit)(const NttPlan& plan, const u64* in, u64 bound, u64 offset, u64* out);
  /// Canonical words as such digits, possibly in place. Null for classes where they are.
  void (*digit)(const PrimeConstants& prime, const u64* words, u64* out, std::size_t count);
  /// A Division whose correction is the transform that forward() would write. The transform is
  /// worked on in `scratch`, which may be `in`, and of no use then.
  void (*forward_divide)(const NttPlan& plan, const u64* in, u64 bound, u64 offset,
                         const Division& division, u64* scratch);
  /// Inverse NTT of canonical words, plus `offset`, canonical; may be in place. The plan's last two
  /// factors are those of the inverse times any other.
  void (*inverse)(const NttPlan& plan, const u64* in, u64 offset, u64* out);

  /// Whether every word is below q.
  bool (*is_canonical)(const PrimeConstants& prime, const u64* words, std::size_t count);
  /// Pointwise, each possibly in place; the result is canonical if the operands are.
  /// @return whether all words of the operands are canonical
  bool (*add)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out, std::size_t count);
  bool (*subtract)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                   std::size_t count);
  bool (*multiply)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                   std::size_t count);
  /// The same three, written past the caches: for results that no cache would hold, which then are
  /// not read before they are written. Not in place, and `out` begins on a multiple of 64 bytes.
  bool (*add_streamed)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                       std::size_t count);
  bool (*subtract_streamed)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                            std::size_t count);
  bool (*multiply_streamed)(const PrimeConstants& prime, const u64* a, const u64* b, u64* out,
                            std::size_t count);
  bool (*negate)(const PrimeConstants& prime, const u64* a, u64* out, std::size_t count);
  /// out = a * factor (kShift64), of canonical words; may be in place.
  void (*scale)(const PrimeConstants& prime, const u64* a, Factor factor, u64* out,
                std::size_t count);
  /// A Division whose correction is, modulo q, these words less `lift`, which is at least as large.
  /// `lift` plus a word of `in` is at most 2^52 (kReal, kShift32, kShift52) or 2^63.
  void (*divide)(const PrimeConstants& prime, const u64* correction, u64 lift,
                 const Division& division, std::size_t count);

  /// out_h = sum over i < terms of a[i] * b_h[i], for h = 0 and, unless out_1 is null, h = 1.
  /// Operands are canonical; not in place.
  void (*inner_product)(const PrimeConstants& prime, std::size_t terms, const u64* const* a,
                        const u64* const* b_0, const u64* const* b_1, u64* out_0, u64* out_1,
                        std::size_t count);
  /// A Combination's value, canonical; not in place.
  void (*combine)(const PrimeConstants& prime, const Combination& sum, u64* out, std::size_t count);
  /// kTargets Combinations of the same words, without an extra limb: out_t = sums[t] modulo
  /// primes[t], all of classes with this same function; not in place. The words are read once. Null
  /// for classes that gain nothing.
  void (*combine_four)(const PrimeConstants* primes, const Combination* sums, u64* const* outs,
                       std::size_t count);
  /// out_h = sum over the terms of their value times the half's key; not in place. Permuted values
  /// are whole limbs, all else begins with the words at hand. `count` is a power of two.
  /// @return whether every word of the keys was below q; else the sums mean nothing
  bool (*key_products)(const PrimeConstants& prime, const KeyTerms& terms, u64* out_0, u64* out_1,
                       std::size_t count);

  /// Of precomputed keys: they are of 2^key_shift times the residues modulo q, and so are `starts`.
  int key_shift = 0;
};

/// Streams of Trivium that a block of a seed-compressed key's limb reads (ringsmith/trivium.h).
inline constexpr std::size_t kSeedStreams = 8;

/// Where those streams are: of each of the three shift registers, the latest 64 bits that were
/// shifted in, the last one in bit 63, and the 64 before them.
struct SeedStreams {
  u64 early[3][kSeedStreams];
  u64 late[3][kSeedStreams];
};

/// All modulus-size kernels of one kind of processor, narrowest first, and the kernels that do not
/// depend on the modulus size.
struct KernelSet {
  const char* name;
  const PrimeKernels* classes;
  int class_count;
  /// Writes the `count` words, a multiple of 8, of the result that begins with block 0 of
  /// `permutation`; not in place.
  void (*permute)(const u64* in, const Permutation& permutation, u64* out, std::size_t count);
  /// x -> x^g of `degree` coefficients modulo q, a power of two of them: with i = j * step modulo 2
  /// degree, word j of the result is in[i], or -in[i - degree] for i >= degree; step is g^-1. Not
  /// in place.
  void (*automorph)(u64 q, u64 step, const u64* in, u64* out, std::size_t degree);
  /// What x -> x^g negates: out[i] - q is in[i], or in[i] - q if the automorphism negates it and it
  /// is not 0. May be in place.
  void (*mask_signs)(u64 q, u64 g, const u64* in, u64* out, std::size_t degree);
  /// The bits of `mask`, the lowest ones of at most 62, of the next `count` words of streams, a
  /// multiple of kSeedStreams, from one after the other.
  /// @return whether all are below q
  bool (*expand)(u64 q, u64 mask, SeedStreams& streams, u64* out, std::size_t count);
  /// `count` vector multiplications, a multiple of 12, in registers: for their time alone.
  u64 (*multiplications)(std::size_t count);
};

/// Each of these is null where the compiler or the processor has no such instructions.
const KernelSet* scalar_kernels();
const KernelSet* avx2_kernels();
const KernelSet* avx512_kernels();
const KernelSet* avx512_ifma_kernels();

/// The set that this process computes with: the one that the environment variable RINGSMITH_KERNEL
/// names, else the fastest that this processor has.
/// @throws ParameterError if the variable names no set, or one that this processor does not have
const KernelSet& kernel_set();

/// The kernels of the active set for a modulus of at most 61 bits.
const PrimeKernels& kernels_for(u64 modulus);

/// Where a plan for `lanes` keeps the factor of node `index`, 0 < index < N.
///
/// A vector holds `lanes` words, and a block of lanes^2 words is transposed before the last
/// log2(lanes) layers, so that lane g works on the block's group g of `lanes` words. In a layer of
/// S nodes a group, node g * S + s of a block is kept at s * lanes + g.
inline std::size_t twiddle_position(std::size_t index, std::size_t degree, std::size_t lanes) {
  std::size_t layer =
      degree / 2;  // nodes in the last layer; nodes of a layer start at their number
  std::size_t nodes_in_group = lanes / 2;
  for (; nodes_in_group > 1 && index < layer; nodes_in_group /= 2) {
    layer /= 2;
  }
  if (nodes_in_group <= 1) {
    return index;
  }
  const std::size_t block = lanes * nodes_in_group;
  const std::size_t within = index % block;
  return index - within + within % nodes_in_group * lanes + within / nodes_in_group;
}

}  // namespace ringsmith::simd
