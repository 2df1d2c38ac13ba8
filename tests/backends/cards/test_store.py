"""The host's store in a card's memory: what is held stays, what is kept goes when it must."""

from collections.abc import Hashable

import pytest

from ringsmith.backends.cards.port import Claim
from ringsmith.backends.rpau.card.store import CardStore
from ringsmith.errors import DeviceError

PAGE = 4096


def keep(store: CardStore, name: Hashable) -> None:
    """Keeps a page by a name."""
    with store.kept(name, PAGE, lambda address: None):
        pass


def test_pinned_keys_and_held_blocks_stay_where_others_are_evicted() -> None:
    pinned = {"key"}
    store = CardStore(Claim(0, 0, 4 * PAGE), pinned.__contains__)
    keep(store, "key")
    keep(store, "table")
    first, second = store.hold(PAGE + 1, "output 'y'"), store.hold(PAGE, "x")
    assert store.names == ["key"]
    assert (store.held, store.has_space(PAGE), store.has_space(PAGE + 1)) == (3 * PAGE, True, False)
    with pytest.raises(
        DeviceError,
        match=r"z takes 4,096 bytes, and 0 of 16,384 are left \(it holds output 'y' 8,192, "
        r"x 4,096, keys and tables 4,096\): free handles",
    ):
        store.hold(PAGE, "z")
    pinned.clear()  # the handle of the keys was freed
    third = store.hold(PAGE, "z")
    assert store.names == []
    for block in (first, second, third):
        store.release(block)
    assert store.held == 0
    blocks = [store.hold(PAGE, "a page") for _ in range(4)]
    for block in blocks[::2]:
        store.release(block)
    with pytest.raises(DeviceError, match="8,192 of 16,384 are left, but in parts"):
        store.hold(2 * PAGE, "two pages")
    for block in blocks[1::2]:
        store.release(block)
    store.release(store.hold(4 * PAGE, "all of it"))
