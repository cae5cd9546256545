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
    "syrenn_quadcopter.eran": ("2-240-200-2-1", 49121),
    "vcas_pra01_20hu.h5": ("3-20-20-20-20-20-9", 1949),
    "vcas_pra01_20hu.mat": ("3-20-20-20-20-20-9", 1949),
    "vcas_pra01_20hu.nnet": ("3-20-20-20-20-20-9", 1949),
    "vertcas_v4_pra01_45hu.nnet": ("4-45-45-45-45-45-45-9", 10989),
    "lyap_pvtol.pth": ("6-8-2", 74),
    "relucent_d4_w8_nh4.pt": ("4-8-8-8-8-1", 265),
    "sdf_bunny_2d_2x50.bin": ("2-50-50-1", 2751),
    "sdf_bunny_2d_4x32.bin": ("2-32-32-32-32-1", 3297),
    "sdf_bunny_3d_8x32.bin": ("3-32-32-32-32-32-32-32-32-1", 7553),
    "more/cf_sample_MAT2.mat": ("4-100-100-100-1+", 20801),
    "more/cf_sample_NNet.nnet": ("2-25-25-1", 751),
    "more/cgan_32.onnx": ("5-4608-12544-28800-4096-2048-1024-512-1", 529538),
    "more/nex_mnist8x8_student_36_10-mirror.h5": ("64-36-10", 2710),
    "more/nex_mnist8x8_student_36_10.h5": ("64-32-16-10", 2778),
    "more/nex_mnist8x8_student_36_10.onnx": ("64-32-16-10", 2778),
    "more/nneq_balance_scale_lin.h5": ("4-4-4-3", 55),
    "more/nneq_balance_scale_lin2.h5": ("4-4-4-3", 55),
    "more/nnl_car_controller_5_20_60_0.07.pt": ("3-8-8-2", 122),
    "more/nnl_pendulum_pendulum_controller1.pt": ("2-2-1~", 10),
    "more/nnl_test_negative_loss_relu_1.pt": ("2-4-4-1~", 38),
    "more/ns_fsb_error.onnx": ("5-4-3-2-5", 62),
    "more/nvjl_mnist1.nnet": ("784-25-10", 19885),
    "more/omlt_keras_linear_2353.keras": ("2-3", 47),
    "more/reluval_acasxu_1_1.nnet": ("5-50-50-50-50-50-50-5", 13305),
    "more/sh_drone_controller.onnx": ("8-100-100-100-100-100-2", 41502),
    "more/sh_sine_net_50_10.onnx": ("2-{}-1".format("-".join(["10"] * 50)), 5541),
    "more/veh_mnist.onnx": ("784-6272-3136-1568-3136-1024-512-256-256-10~", 5994),
    "pairs/acasxu_1_1.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "pairs/acasxu_1_1_perturbed.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "pairs/acasxu_1_1_pruned10.onnx": ("5-50-50-50-50-50-50-5", 13305),
    "pairs/acasxu_1_1_pruned5.onnx": ("5-50-50-50-50-50-50-5", 13305),
    "pairs/acasxu_2_1.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "pairs/acasxu_3_7.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "pairs/acasxu_4_6.onnx": ("5-50-50-50-50-50-50-5", 13310),
    "pairs/acasxu_5_1.onnx": ("5-50-50-50-50-50-50-5", 13310),
}

#: The rounding rules that are used, where it is not none, nor the exact decimals of text files.
_ROUNDING = {
    "layerzoo/batchnorm.onnx": "attributes: stored; batchnorm: float64",
    "layerzoo/leakyRelu.onnx": "attributes: stored",
    "marabou_bn_2-3-1.onnx": "attributes: stored; batchnorm: float64",
    "marabou_fc_matmul.onnx": "attributes: stored",
    "marabou_mnist5x20_leaky.onnx": "attributes: stored",
    "more/cgan_32.onnx": "attributes: stored; batchnorm: float64",
    "more/nnl_pendulum_pendulum_controller1.pt": "attributes: stored",
    "more/nnl_test_negative_loss_relu_1.pt": "attributes: stored",
}

#: The beginnings of all cautions, where there are some.
_CAUTIONS: dict[str, list[str]] = {
    "acasxu_1_1.nnet": [
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "lyap_pvtol.pth": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
        "tensors that were not read: 'lyapunov.R' [6, 6]",
        "entries that were not read: lower_limit [6], upper_limit [6], kappa 0.01, ibp_ra",
    ],
    "more/cf_sample_MAT2.mat": [
        "act_fcns has 5 names of activations for 4 layers, all 'relu': every layer has th",
    ],
    "more/nnl_car_controller_5_20_60_0.07.pt": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
    ],
    "more/nnl_pendulum_pendulum_controller1.pt": [
        "leaky ReLU of slope 0.1 between the linear layers, as the file says ('negative_s",
        "entries that were not read: x_lo [2], x_up [2], u_lo [1], u_up [1]",
    ],
    "more/nnl_test_negative_loss_relu_1.pt": [
        "leaky ReLU of slope 0.2 between the linear layers, as the file says ('negative_s",
    ],
    "more/nvjl_mnist1.nnet": [
        "line 7 has 784 numbers where the means of the inputs and of the outputs are 785",
        "line 8 has 784 numbers where the ranges of the inputs and of the outputs are 785",
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "more/reluval_acasxu_1_1.nnet": [
        "line 7 has 7 numbers where the least inputs are 5",
        "line 8 has 7 numbers where the greatest inputs are 5",
        "line 9 has 8 numbers where the means of the inputs and of the outputs are 6",
        "line 10 has 8 numbers where the ranges of the inputs and of the outputs are 6",
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "nnet_testnetwork.nnet": [
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "nnet_testnetwork2.nnet": [
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "relucent_d4_w8_nh4.pt": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
        "entries that were not read: widths [4, 8, 8, 8, 8, 2]",
    ],
    "sdf_bunny_2d_2x50.bin": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
    ],
    "sdf_bunny_2d_4x32.bin": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
    ],
    "sdf_bunny_3d_8x32.bin": [
        "assumed, since a state dict records neither: ReLU between the linear layers, the",
    ],
    "vcas_pra01_20hu.nnet": [
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
    "vertcas_v4_pra01_45hu.nnet": [
        "the normalisation of the header is not applied: the network takes (x - mean) / r",
    ],
}

#: Networks whose comparison with the runtime takes more than two seconds.
_SLOW = {"more/cgan_32.onnx", "more/veh_mnist.onnx"}

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
    "arch_quadrotor_3x64.onnx": r"node 'Sigmoid_1' \(Sigmoid\): this operation is not supported$",
    "more/mit_quadrotor_small.json": r"the layers of a Keras model without its weights",
    "more/omlt_cat.onnx": (
        r"node 'LgbmRegressor' \(TreeEnsembleRegressor\): this operation of 'ai.onnx.ml' is not"
    ),
    "more/overt_quad_6D_random.nnet": r"line 10: 6 entries; expected a row of weights, 5",
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


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW)) for name in _READ],
)
def test_networks_that_are_read(name: str) -> None:
    imported = read(_path(name))
    assert (_shape(imported.network), imported.num_stored) == _READ[name]
    plain = "text: exact" if name.endswith((".nnet", ".eran")) else "none"
    assert imported.rounding == _ROUNDING.get(name, plain)
    expected = _CAUTIONS.get(name, [])
    assert len(imported.caveats) == len(expected)
    for caution, start in zip(imported.caveats, expected, strict=True):
        assert caution.startswith(start)
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
    student = load(_path("more/nex_mnist8x8_student_36_10.onnx"))
    assert student == load(_path("more/nex_mnist8x8_student_36_10.h5"))
    assert student != load(_path("more/nex_mnist8x8_student_36_10-mirror.h5"))


def test_a_controller_with_leaky_relu() -> None:
    """As a ReLU network it would give about 0.792 at (1, 1)."""
    (value,) = load(_path("more/nnl_pendulum_pendulum_controller1.pt"))([1, 1])
    assert -8.1168 < value < -8.1166


def test_the_table_is_complete() -> None:
    if not _NETS.is_dir():
        pytest.skip("the collection of networks is not here")
    files = {str(path.relative_to(_NETS)) for path in _NETS.rglob("*") if path.is_file()}
    files = {name for name in files if not name.endswith((".md", ".vnnlib"))}
    assert files == {*_READ, *_REFUSED}
