"""The end of a check that does not accept, and the cost of one file."""

from __future__ import annotations

from collections.abc import Iterable

# ==== 3.6 Cost ====

#: The default budget of a file in units, without what the bytes of its files add. A unit is about
#: half a nanosecond in plain Python on one core of 2023, so that this is about twenty seconds.
BUDGET = 2**35
#: What each byte of the certificate and of network files, as stored, adds to the budget.
UNITS_PER_BYTE = 2**14
#: One cell of memory, about 64 bytes, may be held for each of these units of the budget.
UNITS_PER_CELL = 2**12
#: Maximum number of bits of a common denominator, and of other numbers that grow in a rule.
GROWN_BITS = 2**16


class Stop(Exception):  # noqa: N818
    """The end of a check that does not accept; an empty place means the current step."""

    def __init__(self, verdict: str, expected: str, got: str, place: str = "") -> None:
        super().__init__(verdict, expected, got, place)
        self.verdict, self.expected, self.got, self.place = verdict, expected, got, place


def require(condition: bool, fact: str, got: str = "not so", place: str = "") -> None:
    """Reject the certificate unless a fact holds."""
    if not condition:
        raise Stop("rejected", fact, got[:200], place)


def well_formed(condition: bool, message: str, place: str = "") -> None:
    """Call the file unreadable unless it keeps to the format and its limits."""
    if not condition:
        expected = "a file in the format, within its limits"
        raise Stop("unreadable", expected, message[:300], place)


class Meter:
    """What a file has cost so far, in units of work and in cells of memory.

    Every rule pays before it computes, and holds cells before it allocates. `step` is the step of
    the check that is under way, for messages.
    """

    def __init__(self, budget: int | None = None) -> None:
        self.budget = BUDGET if budget is None else budget
        self.is_fixed, self.step = budget is not None, "reading"
        self.work = self.cells = self.most_cells = 0

    @property
    def cost(self) -> int:
        """What the file has cost: the least budget that it keeps to."""
        return max(self.work, self.most_cells * UNITS_PER_CELL)

    def allow(self, num_bytes: int) -> None:
        """Raise the default budget for the bytes of a file as it is stored."""
        if not self.is_fixed:
            self.budget += UNITS_PER_BYTE * num_bytes

    def pay(self, operations: int, bits: int = 0, other: int = 0) -> None:
        """Pay for products of numbers of `bits` and of `other` bits, each with an addition.

        Long products cost three of half the length, until the shorter factor is short.
        """
        halvings = (min(bits, other) - 1 >> 11).bit_length() if bits and other else 0
        size = bits * other * 3**halvings >> 2 * halvings
        self.units(operations * (100 + (bits + other >> 4) + (size >> 10)))

    def pay_divisions(self, operations: int, bits: int, other: int) -> None:
        """Pay for quotients or greatest common divisors of numbers of these sizes."""
        self.units(operations * (100 + (bits + other >> 4) + (bits * other >> 10)))

    def pay_modular(self, products: int) -> None:
        """Pay for products modulo a prime, summed up."""
        self.units(80 * products)

    def units(self, units: int) -> None:
        """Pay units that the table of section 3.6 states."""
        self.work += units
        if self.work > self.budget:
            well_formed(
                False,
                f"beyond the limits: the file costs more than {self.budget} units, which "
                "--budget raises",
            )

    def hold(self, cells: int) -> None:
        """Hold memory for so long as the file is checked, or until it is released."""
        self.cells += cells
        if self.cells <= self.most_cells:
            return
        self.most_cells = self.cells
        limit = self.budget // UNITS_PER_CELL
        if self.cells > limit:
            well_formed(
                False,
                f"beyond the limits: the file needs more than {limit} cells of memory, which "
                "--budget raises",
            )

    def release(self, cells: int) -> None:
        """Give memory back."""
        self.cells -= cells


def longest(rows: Iterable[Iterable[int]]) -> int:
    """The number of bits of the longest integer."""
    return max((max(map(int.bit_length, row), default=0) for row in rows), default=0)


def cells_of(count: int, bits: int) -> int:
    """The cells of memory that numbers of some bits take."""
    return count * (1 + (bits >> 9))


def quote(value: object) -> str:
    """At most 80 printable ASCII characters; no text of a file is shown in another way.

    Lists and objects are named, and never formatted.
    """
    if isinstance(value, list | dict):
        kind = "a list" if isinstance(value, list) else "an object"
        return f"{kind} of {len(value)} entries"
    is_long = isinstance(value, int) and value.bit_length() > 64
    text = value if isinstance(value, str) else "a long integer" if is_long else f"{value!r:.80}"
    return ascii(text[:72])[:76] + ("..." if len(text) > 72 else "")


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'s' * (number != 1)}"
