"""Modules that cannot be read: one line each, with the operation, its line and what to do."""

import re
import resource
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.heir.make import text_of

from ringsmith import parameter_set
from ringsmith.errors import ProgramError, RingsmithError
from ringsmith.heir import interpreter, tape, text
from ringsmith.heir.importing import PlanBy, Wish, program_of
from ringsmith.heir.module import Scheme, trace_module

CKKS, BFV, VECTOR = "ckks", "bfv", "vector"


def replaced(before: str, after: str, count: int = 1) -> Callable[[str], str]:
    def change(module: str) -> str:
        assert before in module
        return module.replace(before, after, count)

    return change


BROKEN: dict[str, tuple[str, str, Callable[[str], str], str]] = {
    "truncated in an operation": (
        *("dot_f32", CKKS),
        lambda m: m[: m.index('"ckks.rescale"') + 40],
        r"dot:\d+: .*truncated",
    ),
    "truncated in a region": (
        *("dot_f32", CKKS),
        lambda m: m[: m.rindex('"func.return"')],
        r"the text ends inside a region: it is truncated",
    ),
    "an unknown dialect": (
        *("dot_f32", CKKS),
        replaced('"ckks.rescale"', '"acme.rescale"'),
        r"dot:\d+: acme.rescale is not read",
    ),
    "bootstrapping": (
        *("dot_f32", CKKS),
        replaced('"ckks.relinearize"', '"ckks.bootstrap"'),
        r"dot:\d+: ckks.bootstrap is not read: pass a larger greedy-level-budget",
    ),
    "a kernel that was not lowered": (
        *("dot_f32", CKKS),
        replaced('"ckks.rescale"', '"kernel.eval_chebyshev"'),
        r"kernel.eval_chebyshev is not read: compile without --annotate-module",
    ),
    "a secret that was not lowered": (
        *("dot_f32", CKKS),
        replaced('"ckks.add"', '"builtin.unrealized_conversion_cast"'),
        r"unrealized_conversion_cast is not read: .* double --slots",
    ),
    "another library's operations": (
        *("dot_f32", CKKS),
        replaced('"ckks.add"', '"openfhe.add"'),
        r"openfhe.add is not read: this is past import",
    ),
    "a plaintext that was never stored": (
        *("dot_f32", CKKS),
        replaced(
            '"lwe.rlwe_encode"(%39) <{',
            '"preprocessing.empty"() : () -> index\n'
            '    %471 = "preprocessing.load"(%47) <{site_id = 3 : i32, ',
        ),
        r"dot:\d+: preprocessing.load: the plaintext \(3,\) is used that was never stored",
    ),
    "a level that does not fit": (
        *("dot_f32", CKKS),
        replaced("(!ct_L3_1) -> !ct_L2\n", "(!ct_L3_1) -> !ct_L1\n"),
        r"dot:\d+: ckks.rescale: rescale makes level 2, .* its type says level 1",
    ),
    "levels that are added": (
        *("dot_f32", CKKS),
        replaced('"ckks.add"(%51, %46)', '"ckks.add"(%51, %43)'),
        r"dot:\d+: ckks.add: operands of scales 2\^90 and 2\^45 are not added",
    ),
    "a plaintext of another scale": (
        *("dot_f32", CKKS),
        replaced("level = 3 : i64, ring = #ring_f64_1_x16384, scale = 90", "scale = 45"),
        r"add_plain of a ciphertext of scale 2\^90 and a plaintext of scale 2\^45",
    ),
    "a wrong type": (
        *("dot_f32", CKKS),
        replaced("-> !ct_L3_D3\n", "-> index\n"),
        r"dot:\d+: the type 'index' is no ciphertext's",
    ),
    "types that are missing": (
        *("dot_f32", CKKS),
        replaced("(!ct_L3, !ct_L3) -> !ct_L3_D3", "(!ct_L3) -> !ct_L3_D3"),
        r"dot:\d+: ckks.mul has 2 operands and 1 results, and types of 1 and 1",
    ),
    "a value that is not defined": (
        *("dot_f32", CKKS),
        replaced('"ckks.mul"(%43, %44)', '"ckks.mul"(%43, %4444)'),
        r"dot:\d+: ckks.mul: %4444 is used and not defined before",
    ),
    "a loop of a billion iterations": (
        *("dot_f32", CKKS),
        replaced("<{value = 1024 : i32}>", "<{value = 1073741824 : i32}>", 9),
        r"dot:\d+: scf.for: the module executes more than 200,000,000 operations",
    ),
    "a loop that does not go on": (
        *("dot_f32", CKKS),
        replaced("<{value = 1 : i32}>", "<{value = 0 : i32}>", 9),
        r"scf.for: a loop steps by 0",
    ),
    "a tensor of terabytes": (
        *("dot_f32", VECTOR),
        replaced(
            "dense<0.000000e+00> : tensor<1x1024xf32>}> : () -> tensor<1x1024xf32>",
            "dense<0.000000e+00> : tensor<1x999999999999xf32>}> : () -> tensor<1x999999999999xf32>",
        ),
        r"too large a tensor|elements, and at most",
    ),
    "constants of another size": (
        *("dot_f32", VECTOR),
        replaced('dense<"0x0000', 'dense<"0x'),
        r"dot:\d+: (arith.constant: )?a constant (of \d+ bytes|has \d+ numbers)",
    ),
    "packing outside of its tensor": (
        *("dot_f32", CKKS),
        replaced("<{value = 8 : i32}>", "<{value = 9 : i32}>", 9),
        r"dot:\d+: tensor.extract: an index lies outside of its tensor",
    ),
    "no parameters": (
        *("dot_f32", CKKS),
        lambda m: (
            m[: m.rindex("{ckks.schemeParam")]
            + "{scheme.ckks, scheme.requested_slot_count = 1024 : i64} : () -> ()\n"
        ),
        r"the module has no ckks.schemeParam",
    ),
    "an older HEIR's": (
        *("dot_f32", CKKS),
        lambda m: m.replace("heir.interface = {", "client.enc_func = {"),
        r"dot:\d+: func.func carries client.enc_func, .* an older HEIR .* heir_py==2026.11.1",
    ),
    "no client functions": (
        *("dot_f32", CKKS),
        lambda m: m.replace('roles = ["client.encrypt"]', "roles = []"),
        r"no function of role client.encrypt 0",
    ),
    "several blocks": (
        *("dot_f32", CKKS),
        replaced('    "func.return"(%70)', '  ^bb1:\n    "func.return"(%70)'),
        r"dot:\d+: a region of several blocks",
    ),
    "no generic form": (
        *("dot_f32", CKKS),
        lambda m: "module {\n  func.func @f() {\n    return\n  }\n}\n",
        r"dot:1: 'module \{' is no operation in generic form: print the module with",
    ),
    "a plain modulus that HEIR alone has": (
        *("dot_i16", BFV),
        replaced("plaintextModulus = 65537", "plaintextModulus = 65539"),
        r"dot:\d+: .*65539",
    ),
    "an encryption without a body": (
        *("dot_i16", BFV),
        lambda m: re.sub(r'(encrypt__arg0"}>) \(\{.*?\n  \}\) \{heir', r"\1 {heir", m, flags=re.S),
        r"dot: no function of role client.encrypt 0",
    ),
    "a decryption of other vectors": (
        *("dot_i16", BFV),
        replaced("^bb0(%arg0: tensor<1x!ct_L0>", "^bb0(%arg0: tensor<2x!ct_L0>"),
        r"dot:\d+: dot__decrypt__result0 takes 2 ciphertexts, and the result has 1 vectors of 1024",
    ),
    "a decryption that returns no numbers": (
        *("dot_i16", BFV),
        replaced('"func.return"(%4) : (i16)', '"func.return"(%arg1) : (!skey_L0)'),
        r"dot:\d+: dot__decrypt__result0 does not make 1 numbers",
    ),
    "a constant of more than 64 bits": (
        *("dot_i16", BFV),
        replaced(
            "dense<0> : tensor<1x1024xi16>", "dense<99999999999999999999> : tensor<1x1024xi16>"
        ),
        r"dot:\d+: a constant has integers of more than 64 bits",
    ),
    "a value outside of its loop, which has no iteration": (
        *("dot_i16", BFV),
        lambda m: m.replace("value = 8 : i32", "value = 0 : i32").replace(
            'slice"(%27)', 'slice"(%36)'
        ),
        r"dot:\d+: tensor.extract_slice: a value is used outside of the region",
    ),
    "tensors of gigabytes": (
        *("dot_i16", BFV),
        replaced(
            '%58 = "tensor.empty"() : () -> tensor<1x!ct_L0>',
            '%58 = "tensor.empty"() : () -> tensor<1x!ct_L0>\n'
            '    %91 = "tensor.empty"() : () -> tensor<8192x8192xf64>',
        ),
        r"dot:\d+: .*hold more than 33,554,432 numbers at a time, the limit: compile it with",
    ),
    "nothing": ("dot_f32", CKKS, lambda m: "", r'dot:1: there is no "builtin.module"'),
}


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Ends a test that takes long or much memory."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KiB


@pytest.mark.parametrize("case", BROKEN)
def test_a_module_that_cannot_be_read_is_refused_in_one_line(case: str) -> None:
    name, level, change, words = BROKEN[case]
    with pytest.raises(RingsmithError, match=words) as caught:
        program_of(trace_module(change(text_of(name, level)), "dot"), Wish())
    assert str(caught.value).startswith("dot")
    assert "\n" not in str(caught.value)


def test_what_cannot_be_planned_names_the_modules_line() -> None:
    vector = trace_module(text_of("dot_f32", VECTOR), "dot.mlir")
    with pytest.raises(ProgramError, match=r"dot.mlir:\d+: the vector level has no parameters"):
        program_of(vector, Wish(PlanBy.HEIR, "auto"))
    with pytest.raises(ProgramError, match=r"computes on fractions, and BFV on whole numbers"):
        program_of(vector, Wish(scheme=Scheme.BFV))
    deep = trace_module(text_of("eight_products", VECTOR), "dot.mlir")
    with pytest.raises(ProgramError, match=r"dot.mlir:\d+: out of levels"):
        program_of(deep, Wish(headroom_bits=0), parameter_set("nano"))


def test_a_changed_module_is_read_or_refused_with_an_error_of_ours(
    rng: np.random.Generator,
) -> None:
    """Tokens are dropped, repeated, inserted and replaced; nothing but our errors may come out."""
    odd = ["-1", "0", "9" * 20, "index", '"', "{", ">", "tensor<0xf32>", "!ct_L3", "inf", "true"]
    refused: list[str] = []
    for name, level in (("dot_f32", CKKS), ("dot_i16", "bgv"), ("weighted", "split")) * 60:
        tokens = re.findall(r"%?[\w#.!-]+|\W", text_of(name, level))
        for position in rng.integers(0, len(tokens), rng.integers(1, 4)):
            other = tokens[rng.integers(len(tokens))]
            tokens[position] = str(rng.choice(["", odd[rng.integers(len(odd))], other * 2, other]))
        try:
            program_of(trace_module("".join(tokens), "dot", placeholders=True), Wish())
        except RingsmithError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert not any("\n" in message for message in refused)


def test_limits_of_text_steps_and_operations_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = text_of("dot_f32", CKKS)
    for where, name, value, words in (
        (text, "MAX_OPERATIONS", 20, "more than 20 operations"),
        (text, "MAX_NESTING", 2, "nested more than 2 deep"),
        (tape, "MAX_STEPS", 5, "more than 5 operations on ciphertexts"),
        (tape, "MAX_PLAIN_NUMBERS", 5, "plain operands of more than 5 numbers"),
        (interpreter, "MAX_STEPS", 50, "executes more than 50 operations"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, value)
            with pytest.raises(RingsmithError, match=words):
                trace_module(module, "dot")
