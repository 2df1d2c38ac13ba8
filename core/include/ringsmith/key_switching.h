// Key switching and what is made of it: relinearization and rotation.
//
// A ciphertext is in NTT form in CKKS and in coefficient form in BFV; `form` says which, of
// operands and results alike. With one prime a digit and one special prime all is Microsoft SEAL's,
// bit for bit. All functions throw ParameterError when shapes, levels or keys do not fit.
#pragma once

#include <span>
#include <vector>

#include "ringsmith/ciphertext.h"
#include "ringsmith/rlwe.h"
#include "ringsmith/types.h"

namespace ringsmith {

/// @throws ParameterError unless the key has the context's number of digits, a special prime
///         where they are digits of primes and no residue digits, and the words fit; a prepared key
///         must be of the same primes, with a special one
void check(const RlweContext& context, const KeySwitchKeyView& key);

/// Key switching of one polynomial: the two polynomials that, added to a ciphertext under s,
/// contribute target * s'. How the polynomial is cut is the key's: by primes, and divided by the
/// special primes; or without a division in words of `key.word_bits` bits, or, if the context has
/// them, in residue digits (kernels::lift_digit).
///
/// @param target  limbs * N words
/// Hybrid key switching: Gentry, Halevi, Smart 2012; Han, Ki 2020, section 3; SEAL's
/// Evaluator::switch_key_inplace. By words: Fan, Vercauteren 2012, version 1 of relinearization. By
/// residue digits: Halevi, Polyakov, Shoup 2019, section 3.
[[nodiscard]] Ciphertext switch_key(const RlweContext& context, Form form,
                                    std::span<const u64> target, std::size_t limbs,
                                    KeySwitchKeyView key);

/// Three polynomials back to two by switching the last one from s^2 to s.
[[nodiscard]] Ciphertext relinearize(const RlweContext& context, Form form, CiphertextView a,
                                     KeySwitchKeyView key);

/// relinearize and rescale of CKKS in one division, by the special primes and the last data prime:
/// saves a forward transform of every limb and half. Its bits are its own, not those of the two in
/// turn.
///
/// The division errs by at most (k + 1) / 2 a coefficient and half for k special primes, where
/// rescale alone errs by 1 / 2. SEAL has no such operation. Kim, Polyakov, Zucca 2021, section 4.
[[nodiscard]] Ciphertext relinearize_rescale(const RlweContext& context, CiphertextView a,
                                             KeySwitchKeyView key);

/// Applies x -> x^element to two polynomials and switches back to s with that element's key.
[[nodiscard]] Ciphertext apply_galois(const RlweContext& context, Form form, CiphertextView a,
                                      u64 element, KeySwitchKeyView key);

/// One of several automorphisms of a ciphertext, and the key that belongs to it.
struct GaloisSwitch {
  u64 element = 1;
  KeySwitchKeyView key;
};

/// apply_galois for each of `switches`, with the same bits and less work: the ciphertext is
/// decomposed, and its digits transformed, once for all (hoisting). Keys in words of bits
/// or in residue digits are used one by one. Where one polynomial is to be rotated many times,
/// memory is what the results take. Halevi, Shoup 2018, eprint 2018/244, section 5;
/// src/keyswitch/digit_products.h says why the bits are SEAL's.
[[nodiscard]] std::vector<Ciphertext> apply_galois_many(const RlweContext& context, Form form,
                                                        CiphertextView a,
                                                        std::span<const GaloisSwitch> switches);

/// The Galois element that rotates the slots left by `steps`: 3^steps mod 2N, where negative steps
/// rotate right. SEAL's GaloisTool::get_elt_from_step; 0 is refused here (conjugation in CKKS and
/// the swap of rows in BFV are 2N - 1).
/// @throws ParameterError unless 0 < |steps| < N / 2
[[nodiscard]] u64 galois_element(std::size_t degree, i64 steps);

}  // namespace ringsmith
