"""Reader of VNN-LIB files of versions 1 and 2.

Version 1 declares the single numbers X_0, X_1, … and Y_0, Y_1, … of one network with
``declare-const``. Version 2 declares networks with named tensors. Both assert formulas over linear
expressions. Only what is linear is read: a product of two variables is refused by its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from polyrelu.errors import DomainError
from polyrelu.formats.vnnlib.query import (
    Conjunction,
    Constraint,
    DeclaredNetwork,
    Disjunction,
    Formula,
    Relation,
    Tensor,
    VnnlibQuery,
)
from polyrelu.formats.vnnlib.syntax import (
    Index,
    Item,
    SExpression,
    at_line,
    content,
    number,
    s_expressions,
    shown,
)
from polyrelu.support.arguments import expect_path
from polyrelu.support.limits import BIT_LIMIT, WIDTH_LIMIT

__all__ = ["read_vnnlib"]

#: Maximum number of operations with coefficients in a file.
_WORK_LIMIT = 20_000_000

_ONE = Fraction(1)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_VERSION = re.compile(r"<([0-9]{1,3}\.[0-9]{1,3})>", re.ASCII)
_FIRST_VERSION_NAME = re.compile(r"([XY])_(0|[1-9][0-9]{0,8})", re.ASCII)
#: Commands of SMT-LIB that say nothing about the variables.
_IGNORED = ("set-logic", "set-info", "set-option", "check-sat", "get-model")
_RELATIONS: dict[str, tuple[Relation, int]] = {
    "<=": ("<=", 1),
    "<": ("<", 1),
    ">=": ("<=", -1),
    ">": ("<", -1),
    "==": ("==", 1),
    "=": ("==", 1),
    "!=": ("!=", 1),
}


def read_vnnlib(path: str | Path) -> VnnlibQuery:
    """Read a VNN-LIB file of version 1 or 2.

    Numbers are taken exactly, as the decimals that they are. Variables are real numbers, whatever
    element type the file declares. What follows the command ``(exit)`` is not read.

    Parameters
    ----------
    path
        Name of the file, which may be packed (.vnnlib.gz).

    Returns
    -------
    VnnlibQuery
        The declared networks and the assertions about their inputs and outputs.

    Raises
    ------
    DomainError
        The file cannot be read, or is not such a file, or an assertion is not linear; the message
        names the line.
    ArgumentError
        `path` is not the name of a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> text = '''
    ... (declare-const X_0 Real)
    ... (declare-const Y_0 Real)
    ... (assert (<= X_0 0.1))
    ... (assert (>= X_0 -0.1))
    ... (assert (or (>= Y_0 1) (<= Y_0 X_0)))
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "property.vnnlib")
    ...     _ = file.write_text(text)
    ...     query = read_vnnlib(file)
    >>> query.domain().bounding_box(), len(query.cases())
    (((Fraction(-1, 10),), (Fraction(1, 10),)), 2)
    """
    file = expect_path(path, "path")
    reader = _Reader(str(file))
    for group in s_expressions(content(file), reader.name):
        if group.head == "exit" and len(group.items) == 1:
            break  # SMT-LIB: what follows is not read
        reader.read(group)
    return reader.query()


@dataclass(slots=True)
class _Expression:
    """A linear expression: coefficients by variable, and a constant."""

    coefficients: dict[int, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction()


@dataclass(slots=True)
class _Reader:
    """The state of the reading of one file.

    Attributes
    ----------
    name
        Name of the file, for errors.
    version
        The version, once it is known.
    networks
        The networks that are declared so far.
    declared
        In version 1 the numbers of X and of Y that are declared so far.
    places
        The number of the first entry of each tensor, and the tensor.
    assertions
        The formulas so far.
    work
        The number of operations with coefficients so far.
    """

    name: str
    version: str = ""
    networks: list[DeclaredNetwork] = field(default_factory=list)
    declared: dict[str, set[int]] = field(default_factory=lambda: {"X": set(), "Y": set()})
    places: dict[str, tuple[int, Tensor]] = field(default_factory=dict)
    assertions: list[Formula] = field(default_factory=list)
    work: int = 0

    def read(self, group: SExpression) -> None:
        """Read one of the outermost S-expressions."""
        head = group.head
        if head == "assert":
            self._read_assertion(group)
        elif head in ("declare-const", "declare-fun"):
            self._read_constant(group)
        elif head == "declare-network":
            self._read_network(group)
        elif head == "vnnlib-version":
            self._read_version(group)
        elif head not in _IGNORED:
            known = "vnnlib-version, declare-const, declare-fun, declare-network, assert"
            raise self.fail(
                group.line,
                f"{shown(group)} is not understood; expected one of {known}",
            )

    def query(self) -> VnnlibQuery:
        """Return what was read."""
        self._finish_declarations()
        if not self.networks:
            raise DomainError(f"{self.name}: it declares no variables, so it is no VNN-LIB file")
        return VnnlibQuery(
            self.name, self.version or "1.0", tuple(self.networks), tuple(self.assertions)
        )

    def fail(self, line: int, problem: str) -> DomainError:
        """Return the error about a line."""
        return at_line(self.name, line, problem)

    # -- Declarations ------------------------------------------------------------------------------

    def _read_version(self, group: SExpression) -> None:
        word = group.items[1] if len(group.items) == 2 else ""
        found = _VERSION.fullmatch(word) if isinstance(word, str) else None
        if found is None or self.version or self.networks or any(self.declared.values()):
            problem = "expected (vnnlib-version <2.0>), once, at the beginning"
            raise self.fail(group.line, problem)
        if not found[1].startswith(("1.", "2.")):
            raise self.fail(group.line, f"version {found[1]} is not known; known are 1 and 2")
        self.version = found[1]

    def _read_constant(self, group: SExpression) -> None:
        """Read the declaration of one number of version 1: (declare-const X_0 Real)."""
        words = [
            item for item in group.items if not (isinstance(item, SExpression) and not item.items)
        ]
        found = (
            _FIRST_VERSION_NAME.fullmatch(words[1])
            if len(words) == 3 and isinstance(words[1], str) and words[2] == "Real"
            else None
        )
        if found is None:
            problem = "expected (declare-const X_0 Real), with X_ for inputs and Y_ for outputs"
            raise self.fail(group.line, problem)
        place = int(found[2])
        if self.version.startswith("2"):
            raise self.fail(group.line, "version 2 declares variables in (declare-network …)")
        if self.networks:
            raise self.fail(group.line, f"declare {found[0]} before the first assertion")
        if place in self.declared[found[1]]:
            raise self.fail(group.line, f"{found[0]} is declared twice")
        self.declared[found[1]].add(place)

    def _finish_declarations(self) -> None:
        """Make the network of version 1 of its declared numbers."""
        if self.networks or not any(self.declared.values()):
            return
        tensors = []
        for letter, places in self.declared.items():
            if not places or max(places) != len(places) - 1:
                missing = next(j for j in range(len(places) + 1) if j not in places)
                raise DomainError(f"{self.name}: {letter}_{missing} is not declared")
            tensors.append(Tensor(letter, "Real", (len(places),)))
        self._add_network(DeclaredNetwork("", (tensors[0],), (tensors[1],)), 1)

    def _read_network(self, group: SExpression) -> None:
        """Read the declaration of a network of version 2."""
        if self.assertions or any(self.declared.values()):
            raise self.fail(group.line, "declare all networks before the first assertion")
        name = self._name(group, 1)
        network = DeclaredNetwork(name, (), ())
        for part in group.items[2:]:
            head = part.head if isinstance(part, SExpression) else ""
            if not isinstance(part, SExpression) or not head:
                raise self.fail(group.line, f"network {name}: {shown(part)} is not understood")
            if head in ("equal-to", "isomorphic-to"):
                other = self._name(part, 1)
                if other not in [known.name for known in self.networks]:
                    raise self.fail(part.line, f"no network {other!r} is declared before")
                is_equal = head == "equal-to"
                network = replace(
                    network,
                    equal_to=other if is_equal else network.equal_to,
                    isomorphic_to=network.isomorphic_to if is_equal else other,
                )
            elif head == "declare-input":
                network = replace(network, inputs=(*network.inputs, self._tensor(part)))
            elif head == "declare-output":
                network = replace(network, outputs=(*network.outputs, self._tensor(part)))
            else:
                problem = "only inputs and outputs of networks are read, no hidden nodes"
                raise self.fail(part.line, f"{shown(part)}: {problem}")
        self._add_network(network, group.line)

    def _add_network(self, network: DeclaredNetwork, line: int) -> None:
        if not network.inputs or not network.outputs:
            raise self.fail(line, f"network {network.name!r} needs an input and an output")
        if network.name in [known.name for known in self.networks]:
            raise self.fail(line, f"two networks are called {network.name!r}")
        first = sum(known.num_inputs + known.num_outputs for known in self.networks)
        for tensor in (*network.inputs, *network.outputs):
            if tensor.name in self.places:
                raise self.fail(line, f"two tensors are called {tensor.name!r}")
            self.places[tensor.name] = (first, tensor)
            first += tensor.size
        if first > WIDTH_LIMIT:
            raise self.fail(line, f"more than {WIDTH_LIMIT} inputs and outputs")
        self.networks.append(network)

    def _tensor(self, group: SExpression) -> Tensor:
        """Read (declare-input NAME TYPE [SHAPE])."""
        name, kind = self._name(group, 1), self._name(group, 2)
        shape = group.items[3] if len(group.items) > 3 else None
        if not isinstance(shape, Index) or len(group.items) > 4:
            problem = f"expected ({group.head} {name} {kind} [SHAPE]), SHAPE such as 1,5"
            if group.items[4:] == ["initialized"]:
                problem = f"input {name!r} is initialized in the model, which is not supported"
            raise self.fail(group.line, problem)
        tensor = Tensor(name, kind, shape.entries)
        if not 1 <= tensor.size <= WIDTH_LIMIT:
            problem = f"{name} has {tensor.size} entries; tensors have 1 to {WIDTH_LIMIT}"
            raise self.fail(group.line, problem)
        return tensor

    def _name(self, group: SExpression, place: int) -> str:
        """Return the name at a place of an S-expression."""
        item = group.items[place] if len(group.items) > place else ""
        if not isinstance(item, str) or not _NAME.fullmatch(item):
            raise self.fail(group.line, f"{shown(group)}: expected a name, got {shown(item)}")
        return item

    # -- Formulas ----------------------------------------------------------------------------------

    def _read_assertion(self, group: SExpression) -> None:
        self._finish_declarations()
        if len(group.items) != 2 or not isinstance(group.items[1], SExpression):
            raise self.fail(group.line, "expected (assert FORMULA)")
        if not self.networks:
            raise self.fail(group.line, "no variable is declared before this assertion")
        self.assertions.append(self._formula(group.items[1]))

    def _formula(self, group: SExpression) -> Formula:
        if group.head in ("and", "or"):
            parts = []
            for part in group.items[1:]:
                if not isinstance(part, SExpression):
                    raise self.fail(group.line, f"({group.head} …): {shown(part)} is no formula")
                parts.append(self._formula(part))
            if not parts:
                raise self.fail(group.line, f"({group.head}) needs a formula")
            return (Conjunction if group.head == "and" else Disjunction)(tuple(parts))
        if group.head not in _RELATIONS:
            known = ", ".join(("and", "or", *_RELATIONS))
            raise self.fail(group.line, f"{shown(group)} is no formula; expected one of {known}")
        sides = self._expressions(group, group.items[1:])
        if len(sides) != 2:
            raise self.fail(group.line, f"{group.head} compares 2 expressions, not {len(sides)}")
        relation, sign = _RELATIONS[group.head]
        total = self._minus(group.line, *(sides if sign == 1 else reversed(sides)))
        coefficients = tuple(sorted((j, c) for j, c in total.coefficients.items() if c))
        return Constraint(coefficients, total.constant, relation, group.line)

    # -- Linear expressions ------------------------------------------------------------------------

    def _expressions(self, group: SExpression, items: Sequence[Item]) -> list[_Expression]:
        """Return the expressions that items are; a word may have an index after it."""
        found, place = list[_Expression](), 0
        while place < len(items):
            item, index = items[place], None
            place += 1
            if isinstance(item, str) and place < len(items):
                following = items[place]
                if isinstance(following, Index):
                    index, place = following, place + 1
            if isinstance(item, SExpression):
                found.append(self._operation(item))
            elif isinstance(item, Index):
                raise self.fail(group.line, f"{shown(item)} does not follow a name")
            else:
                found.append(self._word(group.line, item, index))
        return found

    def _word(self, line: int, word: str, index: Index | None) -> _Expression:
        """Return the variable or the number that a word is."""
        if not word[0].isalpha():
            if index is not None:
                raise self.fail(line, f"{word[:40]!r} has no entries")
            return _Expression(constant=number(self.name, line, word))
        name, place = word, index
        if not self.networks[0].name and index is None:  # version 1, X_3 is entry 3 of X
            found = _FIRST_VERSION_NAME.fullmatch(word)
            if found is not None:
                name, place = found[1], Index((int(found[2]),))
        if name not in self.places:
            raise self.fail(line, f"{word[:40]!r} is not declared")
        first, tensor = self.places[name]
        entries = place.entries if place is not None else ()
        if len(entries) != len(tensor.shape) or any(
            j >= size for j, size in zip(entries, tensor.shape, strict=True)
        ):
            shape = list(tensor.shape)
            raise self.fail(line, f"{name}{list(entries)} is no entry of shape {shape}")
        offset = 0
        for j, size in zip(entries, tensor.shape, strict=True):
            offset = offset * size + j
        return _Expression({first + offset: _ONE})

    def _operation(self, group: SExpression) -> _Expression:
        """Return the expression of (+ …), (- …), (* …) or (/ …)."""
        line, parts = group.line, self._expressions(group, group.items[1:])
        if group.head not in ("+", "-", "*", "/") or not parts:
            raise self.fail(line, f"{shown(group)} is no expression; expected +, -, * or /")
        total = parts[0]
        if group.head == "-" and len(parts) == 1:
            return self._times(line, total, Fraction(-1))
        for part in parts[1:]:
            if group.head == "+":
                total = self._plus(line, total, part)
            elif group.head == "-":
                total = self._minus(line, total, part)
            elif group.head == "*":
                total = self._product(line, total, part)
            elif part.coefficients or not part.constant:
                raise self.fail(line, "only a division by a number that is not 0 is linear")
            else:
                total = self._times(line, total, 1 / part.constant)
        return total

    def _product(self, line: int, one: _Expression, other: _Expression) -> _Expression:
        if one.coefficients and other.coefficients:
            raise self.fail(line, "a product of two variables is not linear")
        if one.coefficients:
            one, other = other, one
        return self._times(line, other, one.constant)

    def _plus(self, line: int, one: _Expression, other: _Expression) -> _Expression:
        """Return the sum, in the expression that has more variables."""
        if len(one.coefficients) < len(other.coefficients):
            one, other = other, one
        self._count(line, len(other.coefficients) + 1)
        for j, coefficient in other.coefficients.items():
            one.coefficients[j] = self._short(
                line, one.coefficients.get(j, Fraction()) + coefficient
            )
        one.constant = self._short(line, one.constant + other.constant)
        return one

    def _minus(self, line: int, one: _Expression, other: _Expression) -> _Expression:
        """Return the difference, in the first expression."""
        self._count(line, len(other.coefficients) + 1)
        for j, coefficient in other.coefficients.items():
            known = one.coefficients.get(j)
            change = -coefficient if known is None else known - coefficient
            one.coefficients[j] = self._short(line, change)
        one.constant = self._short(line, one.constant - other.constant)
        return one

    def _times(self, line: int, one: _Expression, factor: Fraction) -> _Expression:
        self._count(line, len(one.coefficients) + 1)
        if factor == 1:
            return one
        coefficients = {j: self._short(line, c * factor) for j, c in one.coefficients.items()}
        return _Expression(coefficients, self._short(line, one.constant * factor))

    def _short(self, line: int, found: Fraction) -> Fraction:
        """Return a number that has not more bits than files may have."""
        if max(found.numerator.bit_length(), found.denominator.bit_length()) > BIT_LIMIT:
            raise self.fail(line, f"a number with more than {BIT_LIMIT} bits")
        return found

    def _count(self, line: int, operations: int) -> None:
        self.work += operations
        if self.work > _WORK_LIMIT:
            raise self.fail(line, f"more than {_WORK_LIMIT} operations on coefficients")
