// The subroutines' arithmetic on residue polynomials, used by the evaluator and by the graph
// interpreter.
//
// Everywhere: a polynomial over `base` is base.size() limbs of N words one after the other, limb i
// modulo the context's prime base[i], canonical. Outputs are canonical. An output may be the same
// memory as an input where the function says so; other overlaps are not allowed.
#pragma once

#include <array>
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

/// out = a * c for an integer c, in any form. May be in place.
/// @param residues c modulo each prime of the base, canonical
/// @throws ParameterError if a size differs from the base's
void multiply_scalar(const RnsContext& context, BaseView base, std::span<const u64> a,
                     std::span<const u64> residues, std::span<u64> out);
/// out = a + c for a constant polynomial c: added to coefficient 0, or in NTT form to every word.
/// May be in place.
/// @param residues c modulo each prime of the base, canonical
/// @throws ParameterError if a size differs from the base's
void add_scalar(const RnsContext& context, BaseView base, Form form, std::span<const u64> a,
                std::span<const u64> residues, std::span<u64> out);

/// out = sum over i of a[i] * b[i] word by word. Not in place.
/// @throws ParameterError if the counts or sizes differ, or there is no product
void sum_of_products(const RnsContext& context, BaseView base,
                     std::span<const std::span<const u64>> a,
                     std::span<const std::span<const u64>> b, std::span<u64> out);

/// outs[h] = sum over i of a[i] * b[h][i], h = 0, 1. Not in place.
/// @throws ParameterError if the counts or sizes differ, or there is no product
void sums_of_products(const RnsContext& context, BaseView base,
                      std::span<const std::span<const u64>> a,
                      const std::array<std::span<const std::span<const u64>>, 2>& b,
                      const std::array<std::span<u64>, 2>& outs);

/// Forward NTT of every limb in place: coefficients in, NTT form out.
void ntt(const RnsContext& context, BaseView base, std::span<u64> polynomial);
/// Inverse NTT of every limb in place: NTT form in, coefficients out.
void intt(const RnsContext& context, BaseView base, std::span<u64> polynomial);

/// Applies x -> x^element. Not in place. SEAL's GaloisTool::apply_galois and apply_galois_ntt.
///
/// Coefficient i moves to i * element mod 2N, and is negated if that is N or more. In NTT form
/// values only move: out[i] = in[j] with 2 * brev(j) + 1 = element * (2 * brev(i) + 1) mod 2N.
/// @throws ParameterError unless element is odd and below 2N
void automorph(const RnsContext& context, BaseView base, Form form, u64 element,
               std::span<const u64> in, std::span<u64> out);

/// ModUp of one digit: fast base conversion, uncorrected. Not in place.
///
/// With D the product of the digit's primes d_i, y_i = [x_i * (D / d_i)^-1]_{d_i} in [0, d_i), limb
/// j of the result is sum_i y_i * (D / d_i) mod q_j; the digit's own limbs are copies. The limbs
/// hold one integer x + u * D with x in [0, D), not centred, and 0 <= u < number of primes. For a
/// digit of one prime that is its residue modulo every prime: SEAL's switch_key_inplace. Bajard,
/// Eynard, Hasan, Zucca 2016, section 3; Han, Ki 2020, section 3.
///
/// @param digit  at least one prime
/// @param in     one limb for each prime of the digit, coefficient form
/// @param out    base.size() limbs, coefficient form
void mod_up(const RnsContext& context, BaseView digit, BaseView base, std::span<const u64> in,
            std::span<u64> out);

/// Computes P * a over a larger base. P is the product of the primes of `base` that are not in
/// `from`; their limbs are zero. Exact, in either form. Not in place. Bossuat, Mouchet,
/// Troncoso-Pastoriza, Hubaux 2021, section 4.
/// @throws ParameterError unless `base` has all primes of `from`, or if a size differs
void mod_up_scaled(const RnsContext& context, BaseView from, BaseView base, std::span<const u64> in,
                   std::span<u64> out);

/// Divides by the product D of some primes of the base: key switching's ModDown, CKKS's rescale,
/// and both at once if a data prime is dropped too.
///
/// With h_i = floor(d_i / 2), r_i = ([x_i * (D / d_i)^-1]_{d_i} + h_i) mod d_i and c_j =
/// sum_i (r_i - h_i) * (D / d_i) mod q_j, each remaining limb becomes (x_j - c_j) * D^-1 mod q_j.
/// The integers sum_i (r_i - h_i) * (D / d_i) that c_j is the residue of lie within k * D / 2 for k
/// dropped primes, so the result differs from x / D by at most k / 2. For one prime that is
/// rounding, and the bits are those of SEAL's RNSTool::divide_and_round_q_last(_ntt)_inplace.
/// Halevi, Polyakov, Shoup 2018, section 2.4; Han, Ki 2020, section 3, here with centred residues.
///
/// @param base  of `in`; contains all of `drop` and at least one other prime
/// @param drop  at least one prime
/// @param form  of both `in` and `out`
/// @param out   the remaining limbs in the order of `base`; may be in place when `drop` is last
/// @throws ParameterError if `drop` is empty, not in the base or all of it, or a size differs
void mod_down(const RnsContext& context, BaseView base, BaseView drop, Form form,
              std::span<const u64> in, std::span<u64> out);

}  // namespace ringsmith::kernels
