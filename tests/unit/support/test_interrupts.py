"""Ctrl-C and SIGTERM at moments when they must not be acted upon, or lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path

import pytest

from polyrelu.cli.given_up import interrupted_text
from polyrelu.support.interrupts import Watch, deferred_interrupt, postponed_interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_postponed_signal_comes_after_the_block(number: signal.Signals) -> None:
    """It once was lost while worker processes began: the command went on."""
    steps = list[str]()

    def work() -> None:
        with Watch():
            with postponed_interrupts():
                signal.raise_signal(number)  # os.kill may reach another thread, and late
                steps.append("end of the block")
            steps.append("after the block")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["end of the block"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_sigterm_ends_programs_in_the_background() -> None:
    """Shells let them ignore Ctrl-C, and SIGTERM once was ignored with it."""

    def work() -> None:
        with Watch(), deferred_interrupt():
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads signals from /proc")
def test_workers_begin_with_ctrl_c_blocked() -> None:
    """Once the first ones were ended by Ctrl-C while they began, with a traceback each."""
    program = """
import multiprocessing, re
from pathlib import Path
from polyrelu.support.parallel import processes
if __name__ == "__main__":
    pool = processes._Pool
    class Slow(pool):
        def start(self):
            super().start()
            for child in multiprocessing.active_children():
                status = Path(f"/proc/{child.pid}/status").read_text()
                print(int(re.search(r"SigBlk:\\s*(\\w+)", status)[1], 16) >> 1 & 1)
    processes._Pool = Slow
    list(processes.Processes(2).results(len, None, []))
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "1\n1\n"


def test_a_signal_to_another_thread_is_postponed() -> None:
    """A blocked signal goes to another thread, if there is one, and its handler runs at once."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    steps = list[str]()

    def work() -> None:
        with postponed_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            steps.append("end of the block")
        time.sleep(10)  # on a busy machine the other thread may run only now
        steps.append("the signal was lost")

    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        end.set()
        thread.join()
    assert steps == ["end of the block"]


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
    assert f"finished tasks are in {kept}" in interrupted_text(options)
    assert interrupted_text(Namespace()) == "interrupted; nothing was written"
