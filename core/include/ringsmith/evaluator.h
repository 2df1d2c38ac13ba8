// Pointwise operations and CKKS operations on ciphertexts. Each equals Microsoft SEAL's Evaluator
// bit for bit.
//
// Two operands must have the same level. Operations do not read scales: they are the caller's
// concern. All functions throw ParameterError when shapes or levels do not fit, or when a residue
// is not below its prime. rescale and mod_switch do not check residues: they require canonical
// ones.
#pragma once

#include <span>

#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

// In either form, for both schemes.

/// a + b; the result has the larger of the two sizes.
[[nodiscard]] Ciphertext add(const RlweContext& context, CiphertextView a, CiphertextView b);
/// a - b; the result has the larger of the two sizes.
[[nodiscard]] Ciphertext subtract(const RlweContext& context, CiphertextView a, CiphertextView b);
/// -a.
[[nodiscard]] Ciphertext negate(const RlweContext& context, CiphertextView a);
/// a + plain; plain is limbs * N words at the level and in the form of `a` (in BFV: scale_plain).
[[nodiscard]] Ciphertext add_plain(const RlweContext& context, CiphertextView a,
                                   std::span<const u64> plain);
/// a - plain; plain is limbs * N words at the level and in the form of `a` (in BFV: scale_plain).
[[nodiscard]] Ciphertext subtract_plain(const RlweContext& context, CiphertextView a,
                                        std::span<const u64> plain);
/// Divides by the last data prime and rounds: one limb fewer. CKKS's rescale (NTT form) and BFV's
/// mod_switch (coefficient form).
[[nodiscard]] Ciphertext rescale(const RlweContext& context, Form form, CiphertextView a);

// In NTT form.

/// Multiplies two ciphertexts as polynomials in the secret key: the result has size(a) + size(b) -
/// 1 polynomials over `base`.
/// @param a, b  limbs over `base`
[[nodiscard]] Ciphertext tensor_product(const RnsContext& context, BaseView base, CiphertextView a,
                                        CiphertextView b);

/// a * plain in CKKS; plain is limbs * N words at the level of `a`.
[[nodiscard]] Ciphertext multiply_plain(const RlweContext& context, CiphertextView a,
                                        std::span<const u64> plain);
/// a * b in CKKS: the tensor product, not relinearized.
[[nodiscard]] Ciphertext multiply(const RlweContext& context, CiphertextView a, CiphertextView b);
/// a * a in CKKS.
[[nodiscard]] Ciphertext square(const RlweContext& context, CiphertextView a);
/// CKKS: drops the last limb.
[[nodiscard]] Ciphertext mod_switch(const RlweContext& context, CiphertextView a);

}  // namespace ringsmith
