// Lift and Scale of BFV's multiplication, each in two exact variants, and the digits of keys
// without special primes. docs/reference/arithmetic.md states the integers and the bounds.
//
// Everywhere: polynomials in coefficient form, limb i modulo the context's prime base[i],
// canonical; never in place. The larger base begins with the primes of q in the same order; the
// rest is the extension.
#pragma once

#include <span>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// The two multiplication variants.
enum class Multiplication {
  kBehz,  ///< Bajard, Eynard, Hasan, Zucca 2016, as in Microsoft SEAL, bit for bit
  kHps,   ///< Halevi, Polyakov, Shoup 2019, as in HEAWS: integers, 89 fractional bits
};

namespace kernels {

/// Fractional bits of every reciprocal and fraction of the HPS variants. HEAWS, section 3.2.
inline constexpr int kFractionBits = 89;

/// Extends x over q to `base`; the limbs over q are copies.
///
/// kBehz: extends an x + u * q of magnitude at most about q. With y = x * 2^32 mod q, c = sum_i
/// [y_i (q / q_i)^-1]_{q_i} * (q / q_i), and r = -c * q^-1 mod 2^32 centred in [-2^31, 2^31), each
/// new limb is (c + q * r) * 2^-32 mod p_j. SEAL's fastbconv_m_tilde and sm_mrq.
///
/// kHps: extends the centred x. With y_i = [x_i (q / q_i)^-1]_{q_i}, r_i the integer nearest to
/// 2^89 / q_i and v = floor((sum_i y_i r_i + 2^88) / 2^89), each new limb is sum_i y_i * (q / q_i)
/// - v * q mod p_j. HEAWS, section 2.5.
///
/// @param from primes of q
/// @param base those, then at least one other
/// @param in   from.size() limbs
/// @param out  base.size() limbs
/// @throws ParameterError unless `base` is as said, or if a size differs
void lift(const RnsContext& context, BaseView from, BaseView base, Multiplication variant,
          std::span<const u64> in, std::span<u64> out);

/// Extends a digit x, a residue modulo the product D of some primes, to `base`. Limbs at the
/// digit's primes are copies; the others are those of `lift` with kHps. All limbs hold one integer
/// congruent to x modulo D, of magnitude at most D / 2 * (1 + 2^-20).
///
/// @param digit at least one prime, in the order of `in`
/// @param base  any primes
/// @param in    digit.size() limbs
/// @param out   base.size() limbs
/// @throws ParameterError if the digit is empty, or a size differs
/// Halevi, Polyakov, Shoup 2019, section 3: the digits of key switching.
void lift_digit(const RnsContext& context, BaseView digit, BaseView base, std::span<const u64> in,
                std::span<u64> out);

/// Scales x over q and the extension down to round(t / q * x) over q.
///
/// kBehz: with z = t * x and the conversion c of z's limbs over q as in `lift` (without 2^32), w =
/// (z - c) * q^-1 over the extension; of that the first prime is m_sk and the others are B, whose
/// product is M: e = sum_i [w_i (M / m_i)^-1]_{m_i} * (M / m_i), alpha = (e - w_sk) * M^-1 mod m_sk
/// centred, and the result is e - alpha * M mod q_i. SEAL's fast_floor and fastbconv_sk.
///
/// kHps: with p the product of the extension, u_i = [t (q / q_i)^-1]_{q_i}, T_i the integer nearest
/// to 2^89 * u_i / q_i and v = floor((sum_i x_i T_i + 2^88) / 2^89), y_j = t * q^-1 * x_j -
/// sum_i x_i * u_i * q_i^-1 + v mod p_j is the scaled integer over the extension; the result is
/// `lift` of that to q. HEAWS, section 2.6, equation 4.
///
/// @param from primes of q, then the extension: at least one prime for kHps, two for kBehz
/// @param base primes of q: the first of `from`
/// @param in   from.size() limbs
/// @param out  base.size() limbs
/// @throws ParameterError unless the bases are as said, or if a size differs
void scale(const RnsContext& context, BaseView from, BaseView base, u64 plain_modulus,
           Multiplication variant, std::span<const u64> in, std::span<u64> out);

/// Returns one digit of w bits of every coefficient: floor(x / 2^(w * digit)) mod 2^w for x in [0,
/// q), reduced modulo every prime of `base`. HEAWS, section 2.1.
///
/// @param from      primes of q
/// @param word_bits w, at least 1
/// @param in        from.size() limbs
/// @param out       base.size() limbs
/// @throws ParameterError if there is no word, or a size differs
void decompose(const RnsContext& context, BaseView from, BaseView base, std::size_t digit,
               std::size_t word_bits, std::span<const u64> in, std::span<u64> out);

}  // namespace kernels
}  // namespace ringsmith
