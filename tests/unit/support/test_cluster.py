"""Tasks on a real local cluster of Dask: two workers in processes of their own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polyrelu.complex import save_region_stream
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.network import from_arrays
from polyrelu.support.parallel import Cluster, run_tasks, workers_for
from tests.generators.parallel_tasks import failing, squared, unhurried

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a scheduler and two workers."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        yield started


def test_results_come_in_the_order_of_the_tasks(cluster: Any) -> None:
    workers = workers_for(cluster=cluster.scheduler_address)
    assert isinstance(workers, Cluster)
    assert workers.number == 2
    found = list(run_tasks(squared, 2, range(40), workers))
    assert found == [str(2 * n**2).encode() for n in range(40)]


def test_a_killed_worker_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    workers = Cluster(cluster.scheduler_address)
    assert list(run_tasks(unhurried, str(tmp_path), range(12), workers)) == [
        bytes([n]) for n in range(12)
    ]
    assert (tmp_path / "killed").exists()


def test_errors_of_tasks_reach_the_caller(cluster: Any) -> None:
    with pytest.raises(DomainError, match=r"task \d: no such domain"):
        list(run_tasks(failing, None, range(3), Cluster(cluster.scheduler_address)))


def test_the_same_file_as_from_one_process(cluster: Any, tmp_path: Path) -> None:
    net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, -2, 1]], [-1]), ([[3]], [1])])
    save_region_stream(net, None, tmp_path / "one.csv")
    workers = Cluster(cluster.scheduler_address)
    save_region_stream(net, None, tmp_path / "two.csv", workers=workers)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_lost_scheduler_is_an_error(tmp_path: Path) -> None:
    started = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    )
    results = run_tasks(squared, 2, range(10**6), Cluster(started.scheduler_address))
    assert next(results) == b"0"
    started.close()
    with pytest.raises(PolyreluError, match=r"the cluster failed .* goes on from there"):
        list(results)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates with openssl")
def test_tls_is_set_in_the_configuration_of_dask(tmp_path: Path) -> None:
    """With the certificates the work is done; without them the scheduler does not answer."""
    certificate, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    command += ["-subj", "/CN=polyrelu", "-keyout", key, "-out", certificate]
    subprocess.run(command, check=True, capture_output=True)
    names = {
        "distributed.comm.tls.ca-file": certificate,
        "distributed.comm.require-encryption": True,
    }
    for role in ("scheduler", "worker", "client"):
        names[f"distributed.comm.tls.{role}.cert"] = certificate
        names[f"distributed.comm.tls.{role}.key"] = key
    dask = pytest.importorskip("dask")
    with (
        dask.config.set(names),
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tls://",
            security=distributed.Security(),
            dashboard_address=None,
        ) as started,
    ):
        assert started.scheduler_address.startswith("tls://")
        found = list(run_tasks(squared, 2, range(3), Cluster(started.scheduler_address)))
        assert found == [b"0", b"2", b"8"]
        with (
            dask.config.set(dict.fromkeys(names)),
            pytest.raises(PolyreluError, match="no scheduler of Dask answers"),
        ):
            Cluster(started.scheduler_address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "tcp://127.0.0.1:x"])
def test_no_scheduler(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrelu.support.parallel.cluster._PATIENCE", 1)
    with pytest.raises(PolyreluError, match=f"{address}: no scheduler of Dask answers"):
        Cluster(address)
