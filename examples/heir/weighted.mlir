// A secret vector times a clear one, which is an argument.
func.func @weighted(%x: tensor<8xf32> {secret.secret}, %w: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.mulf %x, %w : tensor<8xf32>
  return %r : tensor<8xf32>
}
