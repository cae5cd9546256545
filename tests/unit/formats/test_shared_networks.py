"""Real networks of the collection beside the project: shapes and numbers, or reasons for refusal.

The collection is no part of the project; without it these tests are skipped.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrelu.errors import NetworkFileError
from polyrelu.formats import load, read
from polyrelu.network import Network
from tests.generators.files import NETS as _NETS

#: Widths of the layers ("~": with connections that skip layers, "+": with a ReLU at the end), and
#: the number of stored numbers.
_READ: dict[str, tuple[str, int]] = {
    "acasxu_1_1_marabou.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "acasxu_1_1_vnncomp.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "arch_acc_5_20.onnx": ("5-20-20-20-20-20-1", 1826),
    "arch_double_pendulum_less.onnx": ("4-25-25-2", 827),
    "arch_single_pendulum.onnx": ("2-25-25-1", 751),
    "arch_unicycle.onnx": ("4-500-2+", 3506),
    "marabou_bn_2-3-1.onnx": ("2-1", 25),
    "marabou_certificate_controller.onnx": ("8-80-80-4", 1739),
    "marabou_cnn_max_mnist2.onnx": ("784-5000-1936-968-484-32-10~", 16502),
    "marabou_conv_mp1.onnx": ("192-512-256-128-32-5~", 4517),
    "marabou_dropout.onnx": ("784-5-5-10", 4015),
    "marabou_fc_matmul.onnx": ("125-50-5", 610),
    "marabou_mnist2x10.onnx": ("784-10-10-10", 8070),
    "marabou_mnist5x20_leaky.onnx": ("784-20-20-20-20-20-20-10~", 18010),
    "marabou_multiinput_add.onnx": ("10-10-10", 75),
    "marabou_tinytaxinet.onnx": ("128-16-8-8-2", 746),
    "marabou_traffic64.onnx": ("3072-32-16-10", 5236),
    "mnist_256x2.onnx": ("784-256-256-10", 269322),
    "mnist_256x4.onnx": ("784-256-256-256-256-10", 400906),
    "nn4sys_lindex.onnx": ("1-128-128-128-1", 33409),
    "nn4sys_pensieve_small.onnx": ("48-640-128-6~", 103174),
    "nnet_testnetwork2.onnx": ("5-50-50-50-50-50-50-5", 13305),
    "oval_cifar_deep.onnx": ("3072-2048-2048-2048-512-100-10", 54902),
    "rl_cartpole.onnx": ("4-64-64-2", 4610),
    "rl_dubinsrejoin.onnx": ("8-256-256-8", 70152),
    "rpd_gcas.onnx": ("14-32-32-14", 1998),
    "rpd_robot.onnx": ("5-64-64-64-5", 9029),
    "rpd_vdp.onnx": ("3-32-32-3", 1283),
    "tll_n2_NM16_0.onnx": ("2-512-256-128-64-32-16-8-4-1", 267307),
    "tll_n2_NM8_0.onnx": ("2-128-64-32-16-8-4-1", 17171),
    "vcas_pra01_20hu.onnx": ("3-20-20-20-20-20-9", 1952),
    "vnn21_convnet_maxpool.onnx": ("784-23328-9216-4608-2304-1152-10~", 11690),
    "vnn_test_nano.onnx": ("1-1+", 1),
    "vnn_test_tiny.onnx": ("1-1-1", 4),
    "layerzoo/add.onnx": ("4-4", 4),
    "layerzoo/batchnorm.onnx": ("6-6", 12),
    "layerzoo/cast_int_to_float.onnx": ("4-4", 4),
    "layerzoo/concat_axis_1.onnx": ("32-16", 0),
    "layerzoo/conv.onnx": ("25-25", 9),
    "layerzoo/dropout.onnx": ("4-4", 0),
    "layerzoo/flatten.onnx": ("8-8", 0),
    "layerzoo/gemm.onnx": ("4-4", 6),
    "layerzoo/identity.onnx": ("4-4", 0),
    "layerzoo/leakyRelu.onnx": ("4-4-4~", 0),
    "layerzoo/matmul.onnx": ("6-4", 6),
    "layerzoo/maxpool.onnx": ("16-10-5-3-1-4~", 0),
    "layerzoo/reshape.onnx": ("4-4", 0),
    "layerzoo/squeeze.onnx": ("6-6", 0),
    "layerzoo/sub.onnx": ("4-4", 4),
    "layerzoo/transpose.onnx": ("6-6", 0),
    "layerzoo/unsqueeze.onnx": ("6-6", 0),
    "acasxu_1_1.nnet": ("5-50-50-50-50-50-50-5", 13305),
    "arch_double_pendulum_more.h5": ("4-25-25-2", 827),
    "arch_single_pendulum.h5": ("2-25-25-1", 751),
    "coav_0131.nnet": ("6-40-40-38-19-1", 4239),
    "marabou_cnn_max_mnist2.h5": ("784-5000-1936-968-484-32-10~", 16502),
    "marabou_mnist10x10.nnet": ("784-10-10-10-10-10-10-10-10-10-10-10", 8950),
    "nnet_kerastestnetwork.h5": ("5-45-45-45-45-45-45-5", 10850),
    "nnet_testnetwork.nnet": ("5-50-50-50-50-50-50-5", 13305),
    "nnet_testnetwork2.nnet": ("5-50-50-50-50-50-50-5", 13305),
    "nv_cartpole.nnet": ("4-16-16-16-2", 658),
    "nv_small.nnet": ("1-2-2-1", 13),
    "nv_tiny.nnet": ("1-1-1", 4),
    "sdf_fox.npz": ("3-32-32-32-32-32-32-32-32-1", 7553),
    "vcas_pra01_20hu.h5": ("3-20-20-20-20-20-9", 1949),
    "vcas_pra01_20hu.mat": ("3-20-20-20-20-20-9", 1949),
    "vcas_pra01_20hu.nnet": ("3-20-20-20-20-20-9", 1949),
    "vertcas_v4_pra01_45hu.nnet": ("4-45-45-45-45-45-45-9", 10989),
    "lyap_pvtol.pth": ("6-8-2", 74),
    "relucent_d4_w8_nh4.pt": ("4-8-8-8-8-1", 265),
    "sdf_bunny_2d_2x50.bin": ("2-50-50-1", 2751),
    "sdf_bunny_2d_4x32.bin": ("2-32-32-32-32-1", 3297),
    "sdf_bunny_3d_8x32.bin": ("3-32-32-32-32-32-32-32-32-1", 7553),
}

#: Files of several networks, with the prefix that chooses one of them.
_PREFIXED: dict[str, tuple[str, str, int]] = {
    "lyap_pendulum_of.pth": ("controller.", "3-8-8-8-1", 185),
    "sb3_dqn_cartpole.zip": ("q_net.", "4-256-256-2", 67586),
}

#: Files that are refused, with a pattern for the message.
_REFUSED: dict[str, str] = {
    "mnist_ann.keras": (
        r"layer 'dense_2' \(Dense\): the activation 'softmax' is not supported; supported are "
        r"hard_sigmoid, hard_tanh, leaky_relu, linear, relu, relu6; --strip-tail"
    ),
    "sdf_bunny_3d.npz": r"operation 1 \(elu\): this operation is not supported",
    "syrenn_quadcopter.eran": r"unknown ending '.eran'; .*; export the network as ONNX",
    "lirpa_mnist_cnn_small.pth": (
        r"'conv1.weight' \[8, 1, 4, 4\] is of a convolution, whose stride and padding"
    ),
    "lyap_pendulum_of.pth": (
        r"several networks: prefix 'observer.' \(3-16-16-8-2\), prefix 'controller.'"
    ),
    "oval_cifar_deep.pth": (
        r"'0.weight' \[8, 3, 4, 4\] is of a convolution, whose stride and padding"
    ),
    "sb3_dqn_cartpole.zip": (
        r"several networks: prefix 'q_net.' \(4-256-256-2\), prefix 'q_net_target.'"
    ),
    "arch_quadrotor_3x64.onnx": r"node 'Sigmoid_1' \(Sigmoid\): this operation is not supported",
}

#: Networks that are not compared with onnxruntime, with a pattern for the reason.
_NOT_COMPARED = {
    "arch_acc_5_20.onnx": "expected to have rank 2 but has rank 4",
    "marabou_fc_matmul.onnx": "computed from constants",
    "marabou_multiinput_add.onnx": "computed from constants",
}


def _path(name: str) -> Path:
    if name.endswith((".pt", ".pth", ".bin", ".zip")):
        pytest.importorskip("torch")
    path = _NETS / name
    if not path.is_file():
        pytest.skip("the collection of networks is not here")
    return path


def _shape(network: Network) -> str:
    return (
        "-".join(map(str, network.widths))
        + ("+" if network.last == "relu" else "")
        + "~" * (not network.is_plain)
    )


@pytest.mark.parametrize("name", _READ)
def test_networks_that_are_read(name: str) -> None:
    imported = read(_path(name))
    assert (_shape(imported.network), imported.num_stored) == _READ[name]
    if name in _NOT_COMPARED:
        assert _NOT_COMPARED[name] in imported.comparison.reason
    elif name.endswith(".onnx"):
        assert imported.comparison.runtime
        assert 0 <= imported.comparison.worst < 1


@pytest.mark.parametrize("name", _PREFIXED)
def test_files_of_several_networks(name: str) -> None:
    prefix, shape, numbers = _PREFIXED[name]
    imported = read(_path(name), prefix=prefix)
    assert (_shape(imported.network), imported.num_stored) == (shape, numbers)
    assert any("ReLU between the linear layers" in caveat for caveat in imported.caveats)


@pytest.mark.parametrize("name", _REFUSED)
def test_networks_that_are_refused(name: str) -> None:
    with pytest.raises(NetworkFileError, match=_REFUSED[name]) as caught:
        load(_path(name))
    assert str(caught.value).isprintable()


def test_tails_that_are_left_out_on_request() -> None:
    imported = read(_path("mnist_ann.keras"), strip_tail=True)
    assert (_shape(imported.network), imported.num_stored) == ("784-128-32-10", 104938)
    assert any("softmax" in caveat for caveat in imported.caveats)


@pytest.mark.parametrize(
    "name", ["arch_single_pendulum", "vcas_pra01_20hu", "marabou_cnn_max_mnist2"]
)
def test_equal_twins_of_onnx_and_keras(name: str) -> None:
    assert load(_path(f"{name}.onnx")) == load(_path(f"{name}.h5"))


def test_equal_twins_of_other_formats() -> None:
    """ONNX and Keras store the nearest float32 of the decimals in .nnet files."""
    acas, vcas = load(_path("acasxu_1_1_marabou.onnx")), load(_path("vcas_pra01_20hu.onnx"))
    assert acas == load(_path("acasxu_1_1.nnet"), rounding="text=float32")
    assert acas != load(_path("acasxu_1_1.nnet"))
    assert acas == load(_path("acasxu_1_1_vnncomp.onnx"))
    assert vcas == load(_path("vcas_pra01_20hu.nnet"), rounding="text=float32")
    assert vcas != load(_path("vcas_pra01_20hu.nnet"))


def test_the_table_is_complete() -> None:
    if not _NETS.is_dir():
        pytest.skip("the collection of networks is not here")
    files = {str(path.relative_to(_NETS)) for path in _NETS.rglob("*") if path.is_file()}
    files = {
        name
        for name in files
        if not name.endswith((".md", ".vnnlib")) and not name.startswith(("more/", "pairs/"))
    }
    assert files == {*_READ, *_REFUSED}
