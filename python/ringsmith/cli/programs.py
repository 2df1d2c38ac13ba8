"""The subcommands for programs as files: ``import`` from another compiler, and ``run-program``."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ringsmith.cli.applications import DeviceKind
from ringsmith.cli.options import named_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

import_app = typer.Typer(
    help="Import a network, or an encrypted program that another compiler made.",
    no_args_is_help=True,
)


class PlanBy(StrEnum):
    """Whose plan an imported program follows."""

    OURS = "ours"
    HEIR = "heir"


class HeirScheme(StrEnum):
    """A scheme that HEIR compiles for."""

    CKKS = "ckks"
    BFV = "bfv"
    BGV = "bgv"


@import_app.command("heir")
def import_heir(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A module of MLIR: an input of heir-opt, or what it compiled."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the program goes, such as program.rsp.")
    ],
    plan: Annotated[
        PlanBy, typer.Option(help="Plan anew, or keep HEIR's levels and operations.")
    ] = PlanBy.OURS,
    parameters: Annotated[
        str,
        typer.Option(
            help="`auto`; `heir`, those that HEIR chose; or a parameter set, a name or a TOML file."
        ),
    ] = "auto",
    scheme: Annotated[
        HeirScheme | None,
        typer.Option(help="The scheme; else CKKS for fractions and BFV for integers."),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(
            min=8,
            max=1 << 14,
            help="Slots of a vector, a power of two; else as few, from 1,024, as HEIR packs into.",
        ),
    ] = None,
    plain_modulus: Annotated[
        int | None, typer.Option(help="BFV: results are exact modulo this prime; else 65,537.")
    ] = None,
    precision_bits: Annotated[
        float | None,
        typer.Option(
            help="CKKS: bits after the point that the forecast must promise; else the scale is "
            "2^45, as HEIR's."
        ),
    ] = None,
    headroom_bits: Annotated[
        int | None,
        typer.Option(
            help="CKKS: promises that results stay within ±2^headroom_bits; else 8 or more."
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(
            help="With `--parameters auto`: what this accelerator takes: a name, or a TOML file."
        ),
    ] = None,
    fewer_keys: Annotated[
        bool,
        typer.Option("--fewer-keys", help="Compose rotations: fewer keys, some more rotations."),
    ] = False,
    clear: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A clear argument's array, as arg1=weights.npy."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            help="Compare what HEIR compiles with its input, both in the clear, on random numbers."
        ),
    ] = True,
) -> None:
    """Import a program that HEIR compiled, or that it is to compile."""
    from ringsmith.files import check_target, write_whole
    from ringsmith.heir.importing import PlanBy as Plan
    from ringsmith.heir.importing import Wish, import_module
    from ringsmith.heir.module import Scheme

    check_target(output, overwrite=False)
    _check_slots(slots)
    wish = Wish(
        Plan(plan.value),
        parameters,
        None if scheme is None else Scheme(scheme.value),
        slots,
        plain_modulus,
        precision_bits,
        headroom_bits,
        fewer_keys,
        design,
        check,
    )
    found = import_module(file, wish, named_arrays("--clear", clear))
    write_whole(output, found.program.to_bytes(), overwrite=False)
    figures = found.figures()
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:{width}}  {value}")


@import_app.command("onnx")
def import_onnx(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A network of ONNX.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the program goes, such as program.rsp.")
    ],
    calibrate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Samples, as images.npy: ranges of all numbers follow from them.",
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="A class for each sample: their accuracy is reported.")
    ] = None,
    simulate: Annotated[
        int, typer.Option(min=0, help="Number of samples to simulate, slot by slot.")
    ] = 0,
    encrypt: Annotated[
        int, typer.Option(min=0, help="Number of samples to compute encrypted.")
    ] = 0,
    input_range: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LOW,HIGH", help="The range of an input; else that of samples."),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Samples in one run, where the file leaves that open.")
    ] = 1,
    until: Annotated[
        str | None,
        typer.Option(metavar="TENSOR", help="Ends there, such as before a last Softmax."),
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(help="Part of a function's range by which its approximation may be wrong."),
    ] = None,
    degree: Annotated[
        int | None, typer.Option(min=2, help="The degree of one polynomial for each function.")
    ] = None,
    margin: Annotated[
        float,
        typer.Option(min=0, help="Part of its width by which a range of samples is widened."),
    ] = 0.25,
    parameters: Annotated[
        str, typer.Option(help="`auto`, or a parameter set of CKKS: a name or a TOML file.")
    ] = "auto",
    design: Annotated[
        str | None,
        typer.Option(help="The accelerator that is to run it: a name, or a TOML file."),
    ] = None,
    precision_bits: Annotated[
        float | None,
        typer.Option(help="Bits after the point that the forecast must promise."),
    ] = None,
) -> None:
    """Make an encrypted program of a network: of PyTorch, TensorFlow, scikit-learn, as ONNX."""
    from ringsmith import AutoParameters, explain, parameter_set, trace
    from ringsmith.errors import ParameterError
    from ringsmith.files import check_target, write_whole
    from ringsmith.files.arrays import read_array
    from ringsmith.networks import accuracy, from_onnx
    from ringsmith.runtime.designs import named_design

    check_target(output, overwrite=False)
    if design is not None:
        named_design(design)
    known = None if labels is None else read_array(labels)
    samples = samples_of(calibrate)
    if samples is None and (labels is not None or simulate or encrypt):
        raise ParameterError("--labels, --simulate and --encrypt go with --calibrate FILE")
    network = from_onnx(
        file,
        calibrate=samples,
        bounds=ranges_of(input_range),
        batch=batch,
        until=until,
        error=error,
        degree=degree,
        margin=margin,
    )
    chosen: Any = parameters
    if parameters != "auto":
        chosen = parameter_set(parameters)
    elif precision_bits is not None:
        chosen = AutoParameters(precision_bits=precision_bits, design=design)
    elif design is not None:
        chosen = AutoParameters(design=design)
    program = trace(network, chosen, network.inputs)
    write_whole(output, program.to_bytes(), overwrite=False)
    print(explain(program, design, lines=True))
    if samples is not None:
        found = accuracy(network, program, samples, known, simulated=simulate, encrypted=encrypt)
        print("", *found, sep="\n")
    print(f"\n{output}: inputs {', '.join(network.input_names)}")


def samples_of(given: list[str] | None) -> "dict[str, NDArray[Any]] | NDArray[Any] | None":
    """Reads samples of options ``FILE`` or ``NAME=FILE``; None without any."""
    from ringsmith.files.arrays import read_array

    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return read_array(Path(given[0]))
    return named_arrays("--calibrate", given)


def ranges_of(given: list[str] | None) -> dict[str, tuple[float, float]]:
    """Reads ranges of options ``NAME=LOW,HIGH``."""
    from ringsmith.errors import ParameterError

    found = {}
    for text in given or ():
        name, _, ends = text.rpartition("=")
        try:
            low, high = map(float, ends.split(","))
        except ValueError:
            raise ParameterError(f"--input-range {text!r:.60}: write NAME=LOW,HIGH") from None
        if not name or not low < high:
            raise ParameterError(f"--input-range {text!r:.60}: LOW must be below HIGH")
        found[name] = (low, high)
    return found


def run_program(
    program: Annotated[
        Path, typer.Argument(metavar="PROGRAM", help="A program's file, such as program.rsp.")
    ],
    output_dir: Annotated[
        Path, typer.Option(help="A folder to make: an array NAME.npy for each output.")
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE", help="An input's array, as x=x.npy."),
    ] = None,
    device: Annotated[DeviceKind, typer.Option(help="Where to run it.")] = DeviceKind.CPU,
    design: Annotated[
        str | None,
        typer.Option(
            help="Accelerator that `model` and `rtl` are: a name, or a TOML file; else the "
            "smallest that does."
        ),
    ] = None,
) -> None:
    """Encrypt inputs with fresh keys, run a program on them, and decrypt what it computes."""
    import numpy as np

    from ringsmith.errors import ParameterError, ProgramError
    from ringsmith.files import new_folder
    from ringsmith.files.arrays import array_bytes
    from ringsmith.program import Program
    from ringsmith.runtime.designs import named_design
    from ringsmith.runtime.here import here

    if design is not None and device is DeviceKind.CPU:
        raise ParameterError("--design is for --device model or rtl: leave one of both out")
    point = None if design is None else named_design(design)
    found = Program.load(program)
    if not isinstance(found, Program):
        raise ProgramError(f"{program}: a client kit, which has no operations: give the program")
    given = named_arrays("--input", inputs)
    expected = found.evaluate(given)
    with new_folder(output_dir) as folder:
        done = here(found, given, device.value, point)
        for name, values in done.outputs.items():
            (folder / f"{name}.npy").write_bytes(array_bytes(values))
            clear = expected[name][..., : values.shape[-1]] if values.ndim else expected[name]
            error = float(np.max(np.abs(values - clear), initial=0.0))
            print(f"{name}  {values.shape}, at most {error:.2g} from the program in the clear")
    spent = "" if done.result.cycles is None else f", {done.result.cycles:,} clock cycles"
    print(f"{found.name}: run on {device.value}{spent}; results are in {output_dir}")


def _check_slots(slots: int | None) -> None:
    from ringsmith.errors import ParameterError

    if slots is not None and slots & (slots - 1):
        raise ParameterError(
            f"--slots {slots} is not a power of two: give {1 << slots.bit_length()}"
        )
