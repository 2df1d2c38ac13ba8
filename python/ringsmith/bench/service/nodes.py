"""A Ray cluster of several nodes on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ringsmith.errors import ToolError

_OBJECT_BYTES = 256 << 20


@contextmanager
def ray_nodes(count: int) -> Iterator[None]:
    """Starts nodes of one processor each, and has ``RAY_ADDRESS`` name their cluster.

    Raises:
        ToolError: If Ray is not installed.
    """
    try:
        from ray.cluster_utils import Cluster
    except ImportError:
        raise ToolError(
            "nodes of Ray need Ray, which is not installed: pip install 'ringsmith[ray]'"
        ) from None
    options = {"object_store_memory": _OBJECT_BYTES, "include_dashboard": False}
    cluster: Any = Cluster(True, head_node_args={"num_cpus": 0, **options})
    before = os.environ.get("RAY_ADDRESS")
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, object_store_memory=_OBJECT_BYTES)
        os.environ["RAY_ADDRESS"] = cluster.address
        yield
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        if before is not None:
            os.environ["RAY_ADDRESS"] = before
        cluster.shutdown()
