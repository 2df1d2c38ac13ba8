"""LoLa's network for MNIST on one encrypted image of a handwritten digit.

A client holds an image and the secret key; a server holds a trained network and evaluates it on
ciphertexts, without learning the image or the digit. The layers and their order are those of LoLa
(Brutzkus, Elisha, Gilad-Bachrach 2019, "Low latency privacy preserving inference"): convolution,
square, dense layer, square, dense layer. One image fills the ciphertexts, so that one answer comes
soon; ``apps.cnn`` answers many images at once.
"""
