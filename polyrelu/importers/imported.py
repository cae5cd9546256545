"""What an importer returns: the exact network, and what it read on the way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from polyrelu.network import Network

__all__ = ["Imported"]


@dataclass(frozen=True, slots=True)
class Imported:
    """A network with its provenance.

    Attributes
    ----------
    network : the exact network.
    format : the file format, such as ``onnx, opset 9``.
    steps : the operations as read, with shapes, in order.
    dtypes : the number types of the stored weights.
    rounding : how steps that are not rational were rounded; ``"none"`` here.
    notes : anything folded, dropped or assumed.
    source, source_sha256 : the file's name and hash (unverified provenance).
    """

    network: Network
    format: str
    steps: tuple[str, ...]
    dtypes: tuple[str, ...]
    rounding: str = "none"
    notes: tuple[str, ...] = field(default=())
    source: str = ""
    source_sha256: str = ""

    def with_source(self, name: str, digest: str) -> Imported:
        """The same with the file's name and hash."""
        return replace(self, source=name, source_sha256=digest)

    @property
    def provenance(self) -> dict[str, str]:
        """For the `unverified` part of a certificate."""
        return {"source": self.source, "source-sha256": self.source_sha256, "rounding": self.rounding}
