// The subroutines' arithmetic on residue polynomials: written once, used by the evaluator and by
// the graph interpreter.
//
// Everywhere: a polynomial over `base` is base.size() limbs of N words one after the other, limb i
// modulo the context's prime base[i], canonical. Outputs are canonical. An output may be the same
// memory as an input where the function says so; other overlaps are not allowed.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/rns.h"
#include "ringsmith/types.h"

namespace ringsmith::kernels {

/// out = a + b. May be in place. @throws ParameterError if a size differs from the base's
void add(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<const u64> b,
         std::span<u64> out);
/// out = a - b. May be in place. @throws ParameterError if a size differs from the base's
void subtract(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out);
/// out = -a. May be in place. @throws ParameterError if a size differs from the base's
void negate(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<u64> out);
/// out = a * b word by word: the ring product when all are in NTT form. May be in place.
/// @throws ParameterError if a size differs from the base's
void multiply(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out);

/// Forward NTT of every limb in place: coefficients in, NTT form out.
void ntt(const RnsContext& context, BaseView base, std::span<u64> polynomial);
/// Inverse NTT of every limb in place: NTT form in, coefficients out.
void intt(const RnsContext& context, BaseView base, std::span<u64> polynomial);

/// Applies x -> x^element. Not in place. SEAL's GaloisTool::apply_galois and apply_galois_ntt.
///
/// Coefficient i moves to i * element mod 2N, negated where that is N or more. In NTT form only
/// values move: out[i] = in[j] with 2 * brev(j) + 1 = element * (2 * brev(i) + 1) mod 2N.
/// @throws ParameterError unless element is odd and below 2N
void automorph(const RnsContext& context, BaseView base, Form form, u64 element,
               std::span<const u64> in, std::span<u64> out);

/// ModUp of one digit that is one prime: the residue in [0, q_digit), not centred, modulo each
/// prime of `base`; the limb of the digit's own prime is a copy. Not in place.
///
/// SEAL's switch_key_inplace; Halevi, Polyakov, Shoup 2018, section 3, without the correction.
/// @param digit  index of the digit's prime
/// @param limb   N words modulo that prime, coefficient form
/// @param out    base.size() limbs, coefficient form
void mod_up_digit(const RnsContext& context, std::size_t digit, BaseView base,
                  std::span<const u64> limb, std::span<u64> out);

/// out = sum over d of digits[d] * keys[d], in NTT form. Not in place.
///
/// @param digits one polynomial over `base` for each digit
/// @param keys   for each digit one half of its key: a polynomial over all the context's primes
/// @throws ParameterError if the counts or sizes differ, or there is no digit
void ksk_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits,
                       std::span<const std::span<const u64>> keys, std::span<u64> out);

/// Divides by one prime of the base and rounds: key switching's ModDown and CKKS's rescale.
///
/// With p the dropped prime, h = floor(p / 2), x_p its limb's coefficients: r = (x_p + h) mod p,
/// and each remaining limb becomes (x_j - ((r - h) mod q_j)) * p^-1 mod q_j. SEAL's
/// RNSTool::divide_and_round_q_last(_ntt)_inplace; Halevi, Polyakov, Shoup 2018, section 2.4.
///
/// @param base  of `in`; contains `drop` and at least one other prime
/// @param form  of both `in` and `out`
/// @param out   the remaining limbs in the order of `base`; may be in place when `drop` is last
/// @throws ParameterError if `drop` is not in the base, is all of it, or a size differs
void mod_down_rounded(const RnsContext& context, BaseView base, std::size_t drop, Form form,
                      std::span<const u64> in, std::span<u64> out);

}  // namespace ringsmith::kernels
