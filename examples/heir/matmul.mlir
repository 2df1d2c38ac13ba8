// Product of a secret 3 x 5 matrix and a secret 5 x 2 matrix.
func.func @matmul(%a: tensor<3x5xf32> {secret.secret}, %b: tensor<5x2xf32> {secret.secret})
    -> tensor<3x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x2xf32>
  %c = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x2xf32>)
                     outs(%zero : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %c : tensor<3x2xf32>
}
