// RNS-CKKS operations on ciphertexts, each equal to Microsoft SEAL's Evaluator bit for bit.
//
// Ciphertexts and plaintexts are in NTT form with canonical residues. Levels of two operands must
// be equal; scales are the caller's concern, as no operation reads them. All functions throw
// ParameterError when shapes or levels do not fit.
#pragma once

#include <span>

#include "ringsmith/ciphertext.h"
#include "ringsmith/ckks.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// a + b; the result has the larger of the two sizes.
[[nodiscard]] Ciphertext add(const CkksContext& context, CiphertextView a, CiphertextView b);
/// a - b; the result has the larger of the two sizes.
[[nodiscard]] Ciphertext subtract(const CkksContext& context, CiphertextView a, CiphertextView b);
/// -a.
[[nodiscard]] Ciphertext negate(const CkksContext& context, CiphertextView a);
/// a + plain; plain is limbs * N words at the level of `a`.
[[nodiscard]] Ciphertext add_plain(const CkksContext& context, CiphertextView a,
                                   std::span<const u64> plain);
/// a - plain; plain is limbs * N words at the level of `a`.
[[nodiscard]] Ciphertext subtract_plain(const CkksContext& context, CiphertextView a,
                                        std::span<const u64> plain);
/// a * plain; plain is limbs * N words at the level of `a`.
[[nodiscard]] Ciphertext multiply_plain(const CkksContext& context, CiphertextView a,
                                        std::span<const u64> plain);
/// a * b, the tensor product: size(a) + size(b) - 1 polynomials, not relinearized.
[[nodiscard]] Ciphertext multiply(const CkksContext& context, CiphertextView a, CiphertextView b);
/// a * a.
[[nodiscard]] Ciphertext square(const CkksContext& context, CiphertextView a);

/// Three polynomials back to two by switching the last one from s^2 to s.
[[nodiscard]] Ciphertext relinearize(const CkksContext& context, CiphertextView a,
                                     KeySwitchKeyView key);
/// relinearize and rescale in one division, by the special primes and the last data prime: saves a
/// forward transform of every limb and half. Its bits are its own, not those of the two in turn.
///
/// The division errs by at most (k + 1) / 2 a coefficient and half for k special primes, where
/// rescale alone errs by 1 / 2. SEAL has no such operation. Kim, Polyakov, Zucca 2021, section 4.
[[nodiscard]] Ciphertext relinearize_rescale(const CkksContext& context, CiphertextView a,
                                             KeySwitchKeyView key);
/// Divides by the last data prime and rounds; one limb fewer.
[[nodiscard]] Ciphertext rescale(const CkksContext& context, CiphertextView a);
/// Drops the last limb.
[[nodiscard]] Ciphertext mod_switch(const CkksContext& context, CiphertextView a);
/// Applies x -> x^element to two polynomials and switches back to s with that element's key.
[[nodiscard]] Ciphertext apply_galois(const CkksContext& context, CiphertextView a, u64 element,
                                      KeySwitchKeyView key);

/// The Galois element that rotates the slots left by `steps`: 3^steps mod 2N, where negative steps
/// rotate right. SEAL's GaloisTool::get_elt_from_step; 0 is refused here (conjugation is 2N - 1).
/// @throws ParameterError unless 0 < |steps| < N / 2
[[nodiscard]] u64 galois_element(std::size_t degree, i64 steps);

/// Key switching of one polynomial: `result` gets the two polynomials that, added to a ciphertext
/// under s, contribute target * s'. With one prime a digit and one special prime, SEAL's
/// Evaluator::switch_key_inplace.
///
/// @param target  limbs * N words, NTT form
/// Hybrid key switching: Gentry, Halevi, Smart 2012; Han, Ki 2020, section 3.
[[nodiscard]] Ciphertext switch_key(const CkksContext& context, std::span<const u64> target,
                                    std::size_t limbs, KeySwitchKeyView key);

}  // namespace ringsmith
