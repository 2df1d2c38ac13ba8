"""A convolutional network on encrypted images of handwritten digits.

Somebody (``client``) holds images and the secret key; a service (``server``) holds a trained
network and evaluates it on ciphertexts, without learning an image or a digit. Convolution, square,
dense layer, square, dense layer: the order of CryptoNets (Gilad-Bachrach, Dowlin, Laine, Lauter,
Naehrig, Wernsing 2016) without its pooling. Unlike there, all maps of several images lie in one
ciphertext, and all three layers are products with matrices by diagonals.
"""
