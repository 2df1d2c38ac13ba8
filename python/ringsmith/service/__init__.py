"""The network service: encrypted programs behind a URL, on the CPU or an accelerator.

A server process speaks HTTP, keeps keys and jobs on disk, and gives jobs to worker processes that
own devices. It has no secret key, and nothing here imports ``ringsmith.client``. The client is
:mod:`ringsmith.remote`. docs/guide/service.md describes both.
"""
