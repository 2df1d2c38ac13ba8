// BFV's operations on ciphertexts. With Multiplication::kBehz and keys of RNS digits, each equals
// Microsoft SEAL's bit for bit.
//
// Ciphertexts are in coefficient form, plaintexts are N coefficients in [0, t), and residues are
// canonical. Operations that BFV shares with CKKS are elsewhere: add, subtract and negate in
// evaluator.h, relinearize and apply_galois in key_switching.h, with Form::kCoeff. The element
// 3^steps mod 2N rotates both rows left; 2N - 1 swaps them. All functions throw ParameterError when
// shapes or levels do not fit.
#pragma once

#include <span>

#include "ringsmith/bfv.h"
#include "ringsmith/ciphertext.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// a + plain. SEAL's Evaluator::add_plain.
[[nodiscard]] Ciphertext bfv_add_plain(const BfvContext& context, CiphertextView a,
                                       std::span<const u64> plain);
/// a - plain. SEAL's Evaluator::sub_plain.
[[nodiscard]] Ciphertext bfv_subtract_plain(const BfvContext& context, CiphertextView a,
                                            std::span<const u64> plain);
/// a * plain. SEAL's Evaluator::multiply_plain, except for a plaintext of zeros, which SEAL
/// rejects. Here the product is a ciphertext of zeros, which decrypts to zero and hides nothing.
[[nodiscard]] Ciphertext bfv_multiply_plain(const BfvContext& context, CiphertextView a,
                                            std::span<const u64> plain);
/// a * b: size(a) + size(b) - 1 polynomials, not relinearized. Lift, tensor product, Scale.
[[nodiscard]] Ciphertext bfv_multiply(const BfvContext& context, CiphertextView a, CiphertextView b,
                                      Multiplication variant);
/// a * a.
[[nodiscard]] Ciphertext bfv_square(const BfvContext& context, CiphertextView a,
                                    Multiplication variant);
/// Divides by the last data prime and rounds: one limb fewer, same message.
[[nodiscard]] Ciphertext bfv_mod_switch(const BfvContext& context, CiphertextView a);

}  // namespace ringsmith
