#include "ringsmith/kernels.h"

#include <algorithm>

#include "automorphism.h"
#include "multiples.h"
#include "platform/parallel.h"
#include "platform/text.h"
#include "ringsmith/error.h"
#include "simd/kernel_set.h"

namespace ringsmith::kernels {
namespace {

using simd::PrimeConstants;
using simd::PrimeKernels;

void check_sizes(const RnsContext& context, BaseView base, std::span<const u64> a,
                 std::span<const u64> b, std::span<u64> out) {
  context.check_size(a.size(), base.size(), "the first operand");
  context.check_size(b.size(), base.size(), "the second operand");
  context.check_size(out.size(), base.size(), "the result");
}

void check_residues(BaseView base, std::span<const u64> residues) {
  if (residues.size() != base.size()) {
    throw ParameterError(text(residues.size(), " residues of a scalar for ", base.size(),
                              " primes: give one for each"));
  }
}

void check_products(const RnsContext& context, BaseView base,
                    std::span<const std::span<const u64>> a,
                    std::span<const std::span<const u64>> b, std::span<u64> out) {
  if (a.empty() || a.size() != b.size()) {
    throw ParameterError(
        text(a.size(), " and ", b.size(), " factors: give the same number of both, at least one"));
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    check_sizes(context, base, a[i], b[i], out);
  }
}

// The limbs of some polynomials that begin at word `offset`.
std::vector<const u64*> limbs_at(std::span<const std::span<const u64>> polynomials,
                                 std::size_t offset) {
  std::vector<const u64*> limbs;
  for (const std::span<const u64> polynomial : polynomials) {
    limbs.push_back(&polynomial[offset]);
  }
  return limbs;
}

// Calls operation(kernels, prime, offset) for every limb, which begins at word `offset`.
template <typename Operation>
void for_each_limb(const RnsContext& context, BaseView base, Operation operation) {
  parallel_for(base.size(), context.degree(), [&](std::size_t limb) {
    const NttTables& tables = context.ntt(base[limb]);
    operation(tables.kernels(), tables.plan().prime, limb * context.degree());
  });
}

}  // namespace

void add(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<const u64> b,
         std::span<u64> out) {
  check_sizes(context, base, a, b, out);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.add(prime, &a[offset], &b[offset], &out[offset], context.degree());
                });
}

void subtract(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out) {
  check_sizes(context, base, a, b, out);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.subtract(prime, &a[offset], &b[offset], &out[offset], context.degree());
                });
}

void negate(const RnsContext& context, BaseView base, std::span<const u64> a, std::span<u64> out) {
  check_sizes(context, base, a, a, out);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.negate(prime, &a[offset], &out[offset], context.degree());
                });
}

void multiply(const RnsContext& context, BaseView base, std::span<const u64> a,
              std::span<const u64> b, std::span<u64> out) {
  check_sizes(context, base, a, b, out);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.multiply(prime, &a[offset], &b[offset], &out[offset], context.degree());
                });
}

void multiply_scalar(const RnsContext& context, BaseView base, std::span<const u64> a,
                     std::span<const u64> residues, std::span<u64> out) {
  check_sizes(context, base, a, a, out);
  check_residues(base, residues);
  const std::size_t degree = context.degree();
  parallel_for(base.size(), degree, [&](std::size_t limb) {
    const NttTables& tables = context.ntt(base[limb]);
    const ShoupFactor factor(residues[limb], tables.modulus());
    tables.kernels().scale(tables.plan().prime, &a[limb * degree], {factor.factor, factor.quotient},
                           &out[limb * degree], degree);
  });
}

void add_scalar(const RnsContext& context, BaseView base, Form form, std::span<const u64> a,
                std::span<const u64> residues, std::span<u64> out) {
  check_sizes(context, base, a, a, out);
  check_residues(base, residues);
  const std::size_t degree = context.degree();
  parallel_for(base.size(), degree, [&](std::size_t limb) {
    const Modulus& modulus = context.modulus(base[limb]);
    const std::span<const u64> in = limb_of(a, limb, degree);
    const std::span<u64> to = limb_of(out, limb, degree);
    if (form == Form::kCoeff) {
      if (in.data() != to.data()) {
        std::ranges::copy(in, to.begin());
      }
      to[0] = modulus.add(to[0], residues[limb]);
      return;
    }
    for (std::size_t i = 0; i < degree; ++i) {
      to[i] = modulus.add(in[i], residues[limb]);
    }
  });
}

void sum_of_products(const RnsContext& context, BaseView base,
                     std::span<const std::span<const u64>> a,
                     std::span<const std::span<const u64>> b, std::span<u64> out) {
  check_products(context, base, a, b, out);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.inner_product(prime, a.size(), limbs_at(a, offset).data(),
                                        limbs_at(b, offset).data(), nullptr, &out[offset], nullptr,
                                        context.degree());
                });
}

void sums_of_products(const RnsContext& context, BaseView base,
                      std::span<const std::span<const u64>> a,
                      const std::array<std::span<const std::span<const u64>>, 2>& b,
                      const std::array<std::span<u64>, 2>& outs) {
  check_products(context, base, a, b[0], outs[0]);
  check_products(context, base, a, b[1], outs[1]);
  for_each_limb(context, base,
                [&](const PrimeKernels& kernels, const PrimeConstants& prime, std::size_t offset) {
                  kernels.inner_product(prime, a.size(), limbs_at(a, offset).data(),
                                        limbs_at(b[0], offset).data(),
                                        limbs_at(b[1], offset).data(), &outs[0][offset],
                                        &outs[1][offset], context.degree());
                });
}

void sum_of_multiples(const RnsContext& context, std::size_t prime,
                      std::span<const u64* const> words, std::span<const u64> factors, u64* out,
                      std::size_t count) {
  const NttTables& tables = context.ntt(prime);
  if (words.size() > 1 && std::ranges::all_of(factors, [](u64 factor) { return factor == 1; })) {
    const u64* sum = words.back();  // which may be `out`
    for (const u64* const term : words.first(words.size() - 1)) {
      tables.kernels().add(tables.plan().prime, sum, term, out, count);
      sum = out;
    }
    return;
  }
  const simd::Combination sum{
      .terms = words.size(),
      .words = words.data(),
      .word_bits = context.modulus(prime).bits(),
      .factors = factors.data(),
      .offset = 0,
      .extra = nullptr,
      .extra_factor = {},
  };
  tables.kernels().combine(tables.plan().prime, sum, out, count);
}

void sum_of_multiples(const RnsContext& context, BaseView base, std::span<const Multiple> terms,
                      std::span<u64> out) {
  if (terms.empty()) {
    return;
  }
  const std::size_t degree = context.degree();
  parallel_for(base.size(), terms.size() * degree, [&](std::size_t limb) {
    std::vector<const u64*> words;
    std::vector<u64> factors;
    for (const Multiple& term : terms) {
      words.push_back(limb_of(term.polynomial, limb, degree).data());
      factors.push_back(term.scalars.empty() ? 1 : term.scalars[limb]);
    }
    sum_of_multiples(context, base[limb], words, factors, limb_of(out, limb, degree).data(),
                     degree);
  });
}

void ntt(const RnsContext& context, BaseView base, std::span<u64> polynomial) {
  context.check_size(polynomial.size(), base.size(), "the polynomial");
  parallel_for(base.size(), kTransformPasses * context.degree(), [&](std::size_t i) {
    context.ntt(base[i]).forward(limb_of(polynomial, i, context.degree()));
  });
}

void intt(const RnsContext& context, BaseView base, std::span<u64> polynomial) {
  context.check_size(polynomial.size(), base.size(), "the polynomial");
  parallel_for(base.size(), kTransformPasses * context.degree(), [&](std::size_t i) {
    context.ntt(base[i]).inverse(limb_of(polynomial, i, context.degree()));
  });
}

void automorph(const RnsContext& context, BaseView base, Form form, u64 element,
               std::span<const u64> in, std::span<u64> out) {
  const std::size_t degree = context.degree();
  const Automorphism automorphism(context, form, element);
  context.check_size(in.size(), base.size(), "the operand");
  context.check_size(out.size(), base.size(), "the result");
  parallel_for(base.size(), degree, [&](std::size_t limb) {
    automorphism.apply(base[limb], limb_of(in, limb, degree), limb_of(out, limb, degree));
  });
}

}  // namespace ringsmith::kernels
