"""Cards of coprocessors behind a DMA: a simulated one, and the driver of any."""
