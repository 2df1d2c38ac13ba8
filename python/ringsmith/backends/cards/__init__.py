"""Accelerator cards as a host reaches them: files of a driver, or sockets of a simulated card."""
