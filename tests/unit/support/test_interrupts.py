"""Ctrl-C and SIGTERM at moments when they must not be acted upon, or lost."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from pathlib import Path

import pytest

from polyrelu.cli.given_up import interrupted_text
from polyrelu.support.interrupts import Watch, postponed_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_postponed_signal_comes_after_the_block(number: signal.Signals) -> None:
    """It once was lost while worker processes began: the command went on."""
    steps = list[str]()

    def work() -> None:
        with Watch():
            with postponed_interrupts():
                os.kill(os.getpid(), number)
                steps.append("end of the block")
            steps.append("after the block")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["end of the block"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_nothing_happens_without_a_signal() -> None:
    with Watch():
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        with postponed_interrupts():
            pass
        assert handlers == [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]


def test_an_interrupted_command_says_what_its_checkpoint_keeps(tmp_path: Path) -> None:
    kept = tmp_path / "work.db"
    options = Namespace(checkpoint=str(kept))
    assert interrupted_text(options) == "interrupted; nothing was written"
    kept.write_bytes(b"results")
    assert f"the work that {kept} keeps is not lost" in interrupted_text(options)
    assert interrupted_text(Namespace()) == "interrupted; nothing was written"
