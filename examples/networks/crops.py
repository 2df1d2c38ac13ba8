"""Crops of 32 x 32 pixels of ten pictures that scikit-image ships; the class is the picture.

They have the shape of CIFAR-10's images, and stand for no other data set. Each picture is cut into
tiles of 64 x 64 pixels. Of every four tiles that follow one another, test images come from one and
training images from the others: no pixel is in both.
"""

import numpy as np
from numpy.typing import NDArray

PICTURES = (
    "astronaut",
    "brick",
    "chelsea",
    "coffee",
    "grass",
    "hubble_deep_field",
    "immunohistochemistry",
    "motorcycle",
    "retina",
    "rocket",
)
SIZE, TILE, HELD_OUT = 32, 64, 4

Crops = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Images of shape (count, 3, 32, 32) from 0 to 1, and their classes."""


def crops(count: int, *, test: bool, seed: int) -> Crops:
    """Returns images, of each class about as many.

    Args:
        count: How many.
        test: Whether from the tiles that are held out.
        seed: Equal seeds draw equal images.
    """
    rng = np.random.default_rng(seed)
    tiles = [_tiles(name, test=test) for name in PICTURES]
    labels = rng.permutation(np.arange(count) % len(PICTURES)).astype(np.int64)
    images = np.empty((count, 3, SIZE, SIZE), np.float32)
    for number, label in enumerate(labels.tolist()):
        tile = tiles[label][rng.integers(len(tiles[label]))]
        row, column = rng.integers(0, TILE - SIZE + 1, 2)
        crop = tile[row : row + SIZE, column : column + SIZE]
        images[number] = np.moveaxis(crop[:, :: rng.choice((-1, 1))], -1, 0)
    return images / 255, labels


def _tiles(name: str, *, test: bool) -> list[NDArray[np.uint8]]:
    """The tiles of a picture, shape (64, 64, 3) each."""
    from skimage import data

    picture = data.stereo_motorcycle()[0] if name == "motorcycle" else getattr(data, name)()
    if picture.ndim == 2:
        picture = np.repeat(picture[:, :, None], 3, axis=2)
    rows, columns = (length // TILE for length in picture.shape[:2])
    found = []
    for row in range(rows):
        for column in range(columns):
            if ((row * columns + column + row) % HELD_OUT == 0) == test:
                top, left = row * TILE, column * TILE
                found.append(picture[top : top + TILE, left : left + TILE])
    return found


def cifar10(folder: str, *, test: bool) -> Crops:
    """Returns the user's own CIFAR-10, in the form for Python (cifar-10-batches-py)."""
    import pickle
    from pathlib import Path

    names = ["test_batch"] if test else [f"data_batch_{i}" for i in range(1, 6)]
    images, labels = [], []
    for name in names:
        with (Path(folder) / name).open("rb") as file:
            batch = pickle.load(file, encoding="bytes")  # noqa: S301 - the user's own file
        images.append(batch[b"data"].reshape(-1, 3, SIZE, SIZE).astype(np.float32) / 255)
        labels.append(np.asarray(batch[b"labels"], np.int64))
    return np.concatenate(images), np.concatenate(labels)
