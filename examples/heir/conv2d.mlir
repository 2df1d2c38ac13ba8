// Convolution of a secret 8 x 8 image, padded by one, with a clear 3 x 3 kernel.
func.func @conv2d(%image: tensor<1x1x8x8xf32> {secret.secret}) -> tensor<1x1x8x8xf32> {
  %kernel = arith.constant dense<[[[[-0.1131, -0.4138, 0.5634],
    [0.6536, -0.9736, 0.0651],
    [-0.4524, 0.8705, 0.5638]]]]> : tensor<1x1x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %begin = arith.constant dense<0.0> : tensor<1x1x8x8xf32>
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x1x8x8xf32> to tensor<1x1x10x10xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%padded, %kernel : tensor<1x1x10x10xf32>, tensor<1x1x3x3xf32>)
      outs(%begin : tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  return %y : tensor<1x1x8x8xf32>
}
