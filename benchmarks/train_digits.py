"""Train the shipped example network 64-32-16-10 on scikit-learn's handwritten digits.

The network is stored as float32 arrays W1, b1, W2, b2, W3, b3 (rows of W are neurons); its outputs
are the logits of the ten digits, for inputs divided by 16. With the same library versions on the
same kind of CPU, running this again gives the same bytes.

Where the data give no gradient (pixels that are 0 in all training images, neurons that went
inactive) only weight decay acts. Some weights are therefore as small as 4e-32, and exact arithmetic
meets denominators up to 2^128."""

import argparse
import hashlib
import io
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float32]

SEED = 0
HIDDEN_WIDTHS = (32, 16)
REQUIRED_ACCURACY = 0.95
DEFAULT_OUTPUT = Path(__file__).resolve().parent.parent / "polyrelu" / "examples" / "digits.npz"


def load_split() -> tuple[Floats, Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return training inputs, test inputs, training labels and test labels.

    The split is the default one, with a quarter for tests.
    """
    inputs, labels = load_digits(return_X_y=True)
    scaled = (inputs / 16).astype(np.float32)
    train_x, test_x, train_y, test_y = train_test_split(scaled, labels, random_state=SEED)
    return train_x, test_x, train_y, test_y


def train(inputs: Floats, labels: NDArray[np.int64]) -> dict[str, Floats]:
    """Return weights and biases of the trained network by name, in the order of the file."""
    # All other settings: the defaults.
    classifier = MLPClassifier(HIDDEN_WIDTHS, activation="relu", random_state=SEED)
    # Several threads add up in varying order, which changes the last bits. The default of 200
    # epochs ends before the convergence test is met, which scikit-learn warns of; it is the first
    # setting tried, and it stays.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        classifier.fit(inputs, labels)
    arrays: dict[str, Floats] = {}
    for layer, (weights, bias) in enumerate(
        zip(classifier.coefs_, classifier.intercepts_, strict=True), 1
    ):
        if weights.dtype != np.float32 or bias.dtype != np.float32:
            raise TypeError("training did not happen in float32")
        # scikit-learn keeps one column per neuron.
        arrays[f"W{layer}"] = np.ascontiguousarray(weights.T)
        arrays[f"b{layer}"] = bias
    return arrays


def logits(arrays: dict[str, Floats], inputs: Floats) -> Floats:
    """Return the outputs of the stored network, one row per input."""
    activations = inputs
    for layer in (1, 2):
        activations = np.maximum(activations @ arrays[f"W{layer}"].T + arrays[f"b{layer}"], 0)
    return activations @ arrays["W3"].T + arrays["b3"]


def npz_bytes(arrays: dict[str, Floats]) -> bytes:
    """Return an uncompressed .npz file that does not depend on the time or the operating system."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            content = io.BytesIO()
            np.lib.format.write_array(content, array, version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getvalue())
    return buffer.getvalue()


def main() -> None:
    """Train, write the file, and print its hash and its accuracy on the test set as JSON."""
    parser = argparse.ArgumentParser(description="Train the digits example network.")
    parser.add_argument(
        "--output", type=Path, default=DEFAULT_OUTPUT, help="the .npz file to write"
    )
    output: Path = parser.parse_args().output

    train_x, test_x, train_y, test_y = load_split()
    content = npz_bytes(train(train_x, train_y))
    # Measured on what is stored, not on scikit-learn's object.
    with np.load(io.BytesIO(content)) as stored:
        predicted = logits(dict(stored), test_x).argmax(axis=1)
    accuracy = float((predicted == test_y).mean())
    if accuracy < REQUIRED_ACCURACY:
        raise SystemExit(
            f"test accuracy {accuracy:.4f} is below {REQUIRED_ACCURACY}; nothing was written"
        )
    output.write_bytes(content)
    print(json.dumps({"accuracy": accuracy, "sha256": hashlib.sha256(content).hexdigest()}))


if __name__ == "__main__":
    main()
