#include "ringsmith/kernels.h"

#include <algorithm>

#include "ringsmith/error.h"
#include "text.h"

namespace ringsmith::kernels {
namespace {

// Applies out = operation(modulus, a, b) to every word.
template <typename Operation>
void pointwise(const RnsContext& context, BaseView base, std::span<const u64> a,
               std::span<const u64> b, std::span<u64> out, Operation operation) {
  context.check_size(a.size(), base.size(), "the first operand");
  context.check_size(b.size(), base.size(), "the second operand");
  context.check_size(out.size(), base.size(), "the result");
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    const Modulus modulus = context.modulus(base[limb]);
    const std::size_t begin = limb * context.degree();
    for (std::size_t i = begin; i < begin + context.degree(); ++i) {
      out[i] = operation(modulus, a[i], b[i]);
    }
  }
}

void automorph_coefficients(const Modulus& modulus, u64 element, std::span<const u64> in,
                            std::span<u64> out) {
  const u64 degree = in.size();
  for (u64 i = 0; i < degree; ++i) {
    const u64 exponent = (i * element) & (2 * degree - 1);
    out[exponent & (degree - 1)] = exponent < degree ? in[i] : modulus.negate(in[i]);
  }
}

// sources[i] is the position that the automorphism brings to position i in NTT form.
std::vector<std::size_t> ntt_sources(const RnsContext& context, u64 element) {
  const u64 degree = context.degree();
  std::vector<std::size_t> sources(degree);
  for (u64 i = 0; i < degree; ++i) {
    const u64 exponent = 2 * reverse_bits(i, context.log_degree()) + 1;
    const u64 moved = (exponent * element) & (2 * degree - 1);
    sources[i] = reverse_bits(moved >> 1, context.log_degree());
  }
  return sources;
}

}  // namespace

void add(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<const u64> b,
         std::span<u64> out) {
  pointwise(context, base, a, b, out,
            [](const Modulus& modulus, u64 x, u64 y) { return modulus.add(x, y); });
}

void subtract(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out) {
  pointwise(context, base, a, b, out,
            [](const Modulus& modulus, u64 x, u64 y) { return modulus.subtract(x, y); });
}

void negate(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<u64> out) {
  pointwise(context, base, a, a, out,
            [](const Modulus& modulus, u64 x, u64) { return modulus.negate(x); });
}

void multiply(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out) {
  pointwise(context, base, a, b, out,
            [](const Modulus& modulus, u64 x, u64 y) { return modulus.multiply(x, y); });
}

void ntt(const RnsContext& context, BaseView base, std::span<u64> polynomial) {
  context.check_size(polynomial.size(), base.size(), "the polynomial");
  for (std::size_t i = 0; i < base.size(); ++i) {
    context.ntt(base[i]).forward(limb_of(polynomial, i, context.degree()));
  }
}

void intt(const RnsContext& context, BaseView base, std::span<u64> polynomial) {
  context.check_size(polynomial.size(), base.size(), "the polynomial");
  for (std::size_t i = 0; i < base.size(); ++i) {
    context.ntt(base[i]).inverse(limb_of(polynomial, i, context.degree()));
  }
}

void automorph(const RnsContext& context, BaseView base, Form form, u64 element,
               std::span<const u64> in, std::span<u64> out) {
  const std::size_t degree = context.degree();
  if (element % 2 == 0 || element >= 2 * degree) {
    throw ParameterError(text("Galois element ", element, " is not an odd number below 2N = ",
                              2 * degree, ": galois_element gives the one of a rotation"));
  }
  context.check_size(in.size(), base.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  std::vector<std::size_t> sources;
  if (form == Form::kNtt) {
    sources = ntt_sources(context, element);
  }
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    const std::span<const u64> from = limb_of(in, limb, degree);
    const std::span<u64> to = limb_of(out, limb, degree);
    if (form == Form::kCoeff) {
      automorph_coefficients(context.modulus(base[limb]), element, from, to);
      continue;
    }
    for (std::size_t i = 0; i < degree; ++i) {
      to[i] = from[sources[i]];
    }
  }
}

void ksk_inner_product(const RnsContext& context, BaseView base,
                       std::span<const std::span<const u64>> digits,
                       std::span<const std::span<const u64>> keys, std::span<u64> out) {
  const std::size_t degree = context.degree();
  if (digits.empty() || digits.size() != keys.size()) {
    throw ParameterError(text(digits.size(), " digits and ", keys.size(),
                              " key digits: give the same number of both, at least one"));
  }
  for (std::size_t d = 0; d < digits.size(); ++d) {
    context.check_size(digits[d].size(), base.size(), "a digit");
    if (keys[d].size() % degree != 0 || keys[d].size() <= std::ranges::max(base) * degree) {
      throw ParameterError(text("a digit's key half has ", keys[d].size(),
                                " words: it has N words for every prime up to the base's last"));
    }
  }
  context.check_size(out.size(), base.size(), "the result");
  for (std::size_t limb = 0; limb < base.size(); ++limb) {
    const Modulus modulus = context.modulus(base[limb]);
    const std::size_t offset = limb * degree;
    const std::size_t key_offset = base[limb] * degree;
    for (std::size_t i = 0; i < degree; ++i) {
      u128 sum = 0;
      for (std::size_t d = 0; d < digits.size(); ++d) {
        if (d % Modulus::kLazyProducts == 0) {
          sum = modulus.reduce_wide(sum);
        }
        sum += static_cast<u128>(digits[d][offset + i]) * keys[d][key_offset + i];
      }
      out[offset + i] = modulus.reduce_wide(sum);
    }
  }
}

}  // namespace ringsmith::kernels
