"""What a file says about its network beside the weights: activations, slopes, other layers.

State dicts of PyTorch, ``.safetensors`` files and MAT files hold weights alone, so a reader assumes
a ReLU between linear layers. Such a file often holds settings too: ``negative_slope: 0.1``,
``{"config": {"activation": "tanh"}}``. Here they are found by their names. What they say must
agree with the assumption, or change the network (a slope makes it a leaky ReLU), or be an error;
settings that are not understood are for the cautions of the draft.

The values come from files: containers may be huge, or contain themselves.
"""

from __future__ import annotations

import json
import math
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from polyrelu.errors import NetworkError

__all__ = [
    "Activation",
    "Settings",
    "is_about_activations",
    "is_about_slopes",
    "parsed_activation",
    "settings_of",
]


@dataclass(frozen=True, slots=True)
class SettingsLimits:
    """Limits on the settings of a file.

    Attributes
    ----------
    depth
        Maximum depth of containers.
    values
        Maximum number of values; those after them are reported as not read.
    text
        Maximum number of characters of a text that is searched.
    listed
        Maximum number of layers for which a list of activations is compared.
    """

    depth: int = 8
    values: int = 5_000
    text: int = 20_000
    listed: int = 10_000


_LIMITS = SettingsLimits()


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation function as a text names it.

    Attributes
    ----------
    name
        The name in small letters without separators, such as ``leakyrelu``.
    shown
        The name as the file writes it.
    slope
        The slope for negative arguments, if the text contains it.
    """

    name: str
    shown: str
    slope: float | None = None

    @property
    def is_relu(self) -> bool:
        """Whether it is the ReLU."""
        return self.name in _RELU

    @property
    def is_leaky(self) -> bool:
        """Whether it is the leaky ReLU."""
        return self.name in _LEAKY

    @property
    def is_linear(self) -> bool:
        """Whether it is the identity."""
        return self.name in _LINEAR


@dataclass(slots=True)
class Settings:
    """The settings of a file that concern the function of its layers.

    Attributes
    ----------
    slope
        The slope of a leaky ReLU between the layers, and the entry that says it; None for a ReLU.
    output_relu
        The entry that says that a ReLU follows the last layer; empty if none does.
    tail
        The activation after the last layer that is not piecewise linear, and its entry; empty if
        there is none.
    named
        The entries that name the ReLU or the leaky ReLU, with these names.
    unread
        The entries that are not understood, with their values; those that may matter come first.
    """

    slope: tuple[float, str] | None = None
    output_relu: str = ""
    tail: tuple[str, str] | None = None
    named: dict[str, Activation] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


_RELU = {"relu", "poslin", "rectifier", "rectifiedlinear"}
_LEAKY = {"leakyrelu", "lrelu", "leaky"}
_LINEAR = {"linear", "identity", "none", "null", "purelin", "no", ""}

#: Words in the names of settings.
_ACTIVATION_WORDS = {
    *("activation", "activations", "activ", "actv", "actfn", "actfns", "actfunc", "actfcn"),
    "actfcns",
}
#: Words that stand beside these where the activation of the layers is meant: ``hidden_act_fn``.
_COMPANIONS = {
    *("act", "acts", "fn", "fns", "fcn", "fcns", "func", "funcs", "function", "functions"),
    *("type", "name", "names", "layer", "layers", "class", "cls", "hidden", "inner", "net"),
    *("network", "mlp", "non", "linearity", "linearities", "linear", "nonlinearity", "nonlin"),
    *("nonlinearities", "nonlinear", "model", "default"),
}
#: Activations that are known to be other ones, under any name that speaks of activations.
_OTHERS = {
    *("tanh", "sigmoid", "gelu", "elu", "selu", "silu", "swish", "softplus", "mish", "celu"),
    *("softsign", "relu6", "prelu", "hardtanh", "hardswish", "hardsigmoid", "logsigmoid", "sin"),
    *("sine", "cos", "exp", "softmax", "square", "gaussian", "tansig", "logsig", "maxout"),
    *("crelu", "glu", "swiglu", "geglu", "rrelu", "logistic"),
}
_OUTPUT_WORDS = {"output", "out", "final", "last"}
_SLOPE_WORDS = {"slope", "slopes", "leaky", "leakyrelu", "lrelu", "leak"}

#: Settings under which a chain of layers with activations between them is another function. The
#: names are in small letters without separators, after ``use`` and the like were left out.
_OTHER_LAYERS = {
    **dict.fromkeys(
        ("residual", "residuals", "resnet", "skip", "skips", "skipconnection", "skipconnections"),
        "connections that skip layers",
    ),
    **dict.fromkeys(
        ("batchnorm", "batchnormalization", "batchnormalisation", "bn"), "a batch normalisation"
    ),
    **dict.fromkeys(("layernorm", "ln", "layernormalization"), "a layer normalisation"),
    **dict.fromkeys(("groupnorm", "instancenorm", "rmsnorm"), "a normalisation"),
}

#: Names of settings whose values may name such a normalisation, and these values.
_NORMALISATIONS = {
    *("norm", "normalization", "normalisation", "normlayer", "normtype", "normalizationlayer"),
}
_OTHER_NORM = re.compile(r"batch|layer|group|instance|rms", re.IGNORECASE)

#: A text that a caution shows first: it may contradict what a reader assumes.
_TELLING = re.compile(
    r"act(ivation)?s?\b|relu|tanh|sigmoid|[gs]?elu\b|silu|swish|softplus|mish|slope|norm|residual"
    r"|skip|squash|prelu|maxout|shortcut|transform|scale|mean|std|shift",
    re.IGNORECASE,
)


def is_about_activations(name: str) -> bool:
    """Whether a setting of this name says which activation functions a network has.

    >>> [is_about_activations(name) for name in ("act_fcns", "hiddenActivation", "act_dim", "W")]
    [True, True, False, False]
    """
    words = set(_words(name))
    if words & _ACTIVATION_WORDS or "nonlin" in re.sub(r"[^a-z]", "", name[:200].lower()):
        return True
    return bool(words & {"act", "acts"}) and words <= _COMPANIONS | _OUTPUT_WORDS


def is_about_slopes(name: str) -> bool:
    """Return whether a setting of this name is the slope of a leaky ReLU.

    >>> [is_about_slopes(name) for name in ("negative_slope", "leakyReluAlpha", "alpha")]
    [True, True, False]
    """
    return bool(set(_words(name)) & _SLOPE_WORDS)


def parsed_activation(text: str) -> Activation:
    """Return the activation function that a text names, as Python writes functions and classes.

    >>> parsed_activation("<class 'torch.nn.modules.activation.Tanh'>").name
    'tanh'
    >>> parsed_activation("nn.LeakyReLU(negative_slope=0.2)")
    Activation(name='leakyrelu', shown='LeakyReLU', slope=0.2)
    """
    text = text[: _LIMITS.text].strip()
    inner = re.search(r"<class '([\w.]+)'>|<function ([\w.<>]+) at|<([\w.]+) object", text)
    plain = next(filter(None, inner.groups()), "") if inner else text.split("(")[0]
    shown = plain.strip().rpartition(".")[2][:40]
    name = re.sub(r"[\W_]+", "", shown).lower()
    number = r"([-+0-9.eE]{1,30})"
    found = re.search(rf"(?:slope|alpha)\s*[=:]\s*{number}", text) or re.search(
        rf"relu\w*\(\s*{number}\s*[,)]", text, re.IGNORECASE
    )
    return Activation(name, shown, _number(found[1]) if found else None)


def _number(text: str) -> float | None:
    """Return the number that a text is, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters, from ``negative_slope`` or ``actFn``."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name[:200])]


def settings_of(
    entries: Mapping[str, Any], sizes: tuple[int, ...] | None, has_biases: bool | None = None
) -> Settings:
    """Return what the entries of a file say about a chain of linear layers.

    `sizes` are the numbers of neurons of the input and all layers, None if they are not known yet;
    a list of activations is compared with them. A `NetworkError` names an entry that contradicts
    the assumption of ReLUs between the layers.
    """
    settings, telling, others = Settings(), list[str](), dict[str, str]()
    for place, value in _leaves(entries):
        if _is_understood(settings, place, value, sizes, has_biases):
            continue
        text = f"{place} {_shown(value)}"
        if _TELLING.search(text):
            telling.append(text)
        else:
            top = place.partition(".")[0]
            others[top] = text if top == place else f"{top} {_kind(entries.get(top))}"
    settings.unread = [*telling, *others.values()]
    _check_slope(settings)
    return settings


def _check_slope(settings: Settings) -> None:
    """Refuse a leaky ReLU without its slope, and a slope where the file names the ReLU."""
    for place, activation in settings.named.items():
        if activation.is_leaky and settings.slope is None:
            raise NetworkError(
                f"its entry {place[:80]!r} says {activation.shown}, but nothing says its slope"
            )
        if activation.is_relu and settings.slope is not None and settings.slope[0]:
            slope, other = settings.slope
            raise NetworkError(
                f"its entry {place[:80]!r} says {activation.shown}, and its entry {other[:80]!r} "
                f"says the slope {slope:g} of a leaky ReLU"
            )


def _leaves(entries: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values in nested containers, with their places: ``config.activation``.

    A text that is a JSON object is a container; a list without containers is a value. Outer values
    come first, so that the state of an optimizer does not hide a configuration.
    """
    waiting = deque((str(key)[:60], value, 0) for key, value in entries.items())
    for _ in range(_LIMITS.values):
        if not waiting:
            return
        place, value, depth = waiting.popleft()
        inner = _container(value)
        if inner is None or depth >= _LIMITS.depth:
            yield place, value
            continue
        parts = islice(inner.items(), _LIMITS.values)
        waiting.extend((f"{place}.{str(key)[:60]}", part, depth + 1) for key, part in parts)
    if waiting:
        yield waiting[0][0], "and further entries"


def _container(value: Any) -> Mapping[Any, Any] | None:
    """Return a value as a mapping if it is a container of settings, else None."""
    if isinstance(value, str) and value.lstrip()[:1] == "{" and len(value) <= _LIMITS.text:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(x, (Mapping, list)) for x in value):
        return dict(enumerate(value))
    return None


def _is_understood(
    settings: Settings,
    place: str,
    value: Any,
    sizes: tuple[int, ...] | None,
    has_biases: bool | None,
) -> bool:
    """Whether an entry is used, or says what is assumed anyway; raise if it contradicts that."""
    name = place.rpartition(".")[2]
    words = set(_words(name))
    if is_about_slopes(name) and _as_number(value) is not None:
        _add_slope(settings, place, _as_number(value))
        return True
    texts = _texts(value)
    if is_about_activations(name) and _are_activations(words, texts):
        _add_activations(settings, place, words, texts, sizes)
        return True
    plain = re.sub(r"[^a-z]|^(use|with|has|is|add)_?", "", name.lower())
    if plain in _OTHER_LAYERS and _says_yes(value):
        raise NetworkError(
            f"its entry {place[:80]!r} says {_shown(value)}: the network has "
            f"{_OTHER_LAYERS[plain]}, which the layers alone do not tell"
        )
    if plain in _NORMALISATIONS and isinstance(value, str) and _OTHER_NORM.search(value):
        raise NetworkError(
            f"its entry {place[:80]!r} says {_shown(value)}: the network has a normalisation, "
            "which the layers alone do not tell"
        )
    if plain in _OTHER_LAYERS or (name == "bias" and value is has_biases):
        return not isinstance(value, (dict, list))
    return _are_sizes(value, sizes)


def _as_number(value: Any) -> float | None:
    """Return a number, also in a tensor of one entry or in a text; None for anything else."""
    if isinstance(value, str):
        return _number(value.strip())
    if isinstance(value, bool) or getattr(value, "shape", ()) not in ((), (1,)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None
    return number


def _add_slope(settings: Settings, place: str, slope: float | None) -> None:
    """Record a slope; slope 0 is the ReLU, and two different slopes are an error."""
    if slope is None or not math.isfinite(slope):
        raise NetworkError(f"its entry {place[:80]!r} is not a finite slope")
    if settings.slope is not None and settings.slope[0] != slope:
        raise NetworkError(
            f"its entries {settings.slope[1][:80]!r} and {place[:80]!r} say different slopes, "
            f"{settings.slope[0]:g} and {slope:g}"
        )
    settings.slope = (slope, place)


def _are_activations(words: set[str], texts: list[str]) -> bool:
    """Whether texts name activations of the layers, by themselves or by the name of the setting.

    ``activation_checkpointing: full`` says something else.
    """
    if words <= _ACTIVATION_WORDS | _COMPANIONS | _OUTPUT_WORDS:
        return bool(texts)
    found = [parsed_activation(text) for text in texts]
    return any(x.is_relu or x.is_leaky or x.name in _OTHERS for x in found)


def _texts(value: Any) -> list[str]:
    """Return the texts that name activations: one, a list of them, or a class of PyTorch."""
    if isinstance(value, str):
        return [value] if re.search(r"[<(]", value) else re.split(r"[,;]\s*", value.strip(" ,;"))
    if isinstance(value, type):
        return [value.__name__]
    if isinstance(value, (list, tuple)) and 0 < len(value) <= _LIMITS.listed:
        names = [entry.__name__ if isinstance(entry, type) else entry for entry in value]
        return [str(name) for name in names] if all(isinstance(x, str) for x in names) else []
    return []


def _add_activations(
    settings: Settings,
    place: str,
    words: set[str],
    texts: list[str],
    sizes: tuple[int, ...] | None,
) -> None:
    """Take account of an entry that names activations, or raise an error if it cannot be used."""
    found = [parsed_activation(text) for text in texts]
    if words & _OUTPUT_WORDS and len(found) == 1:
        _add_output(settings, place, found[0])
        return
    if len(found) > 1 and sizes is not None:
        depth = len(sizes) - 1
        if len(found) not in (depth - 1, depth):
            raise NetworkError(
                f"its entry {place[:80]!r} names {len(found)} activations for {depth} layers"
            )
        if len(found) == depth:
            _add_output(settings, place, found.pop())
    elif len(found) > 1:
        found.pop()  # it may belong to the output; the layers are not known yet
    for activation in found:
        _add_hidden(settings, place, activation)


def _add_hidden(settings: Settings, place: str, activation: Activation) -> None:
    """Take account of an activation between layers."""
    if not activation.is_relu and not activation.is_leaky:
        raise NetworkError(
            f"its entry {place[:80]!r} says that the activation is {activation.shown!r}; only "
            "networks with ReLU or leaky ReLU can be taken from weights"
        )
    if activation.is_leaky and activation.slope is not None:
        _add_slope(settings, place, activation.slope)
    settings.named[place] = activation


def _add_output(settings: Settings, place: str, activation: Activation) -> None:
    """Take account of an activation after the last layer."""
    if activation.is_relu:
        settings.output_relu = place
    elif not activation.is_linear:
        settings.tail = (activation.shown, place)


def _says_yes(value: Any) -> bool:
    """Whether the value of a setting means that something is there."""
    if isinstance(value, str):
        return value.strip().lower() not in ("", "none", "false", "no", "0", "identity", "null")
    try:
        return bool(value)
    except (TypeError, ValueError, RuntimeError):
        return True


def _are_sizes(value: Any, sizes: tuple[int, ...] | None) -> bool:
    """Whether a value is the list of all sizes, or of some at one or both ends left out."""
    if sizes is None or not isinstance(value, (list, tuple)):
        return False
    if not all(type(entry) is int for entry in value):
        return False
    return tuple(value) in (sizes, sizes[1:-1], sizes[:-1], sizes[1:])


def _kind(value: Any) -> str:
    return type(value).__name__


def _shown(value: Any) -> str:
    """Return a value for a message: a short text, a number, or the kind of anything else."""
    if isinstance(value, str):
        return repr(value if len(value) < 60 else f"{value[:56]}…")
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)[:40]
    shape = getattr(value, "shape", None)
    if shape is not None:
        return str(list(shape))
    if isinstance(value, (list, tuple)) and len(value) <= 8:
        return str(value)[:60]
    return _kind(value)
