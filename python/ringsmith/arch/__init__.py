"""Architectures: each a folder that answers the five questions of docs/architecture.md."""
