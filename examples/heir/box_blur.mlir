// Sums of 3 x 3 pixels of a secret image of 16 x 16, whose edges meet.
func.func @box_blur(%image: tensor<256xi16> {secret.secret}) -> tensor<256xi16> {
  %n = arith.constant 16 : index
  %all = arith.constant 256 : index
  %zero = arith.constant 0 : i16
  %blurred = affine.for %x = 0 to 16 iter_args(%outer = %image) -> tensor<256xi16> {
    %column = affine.for %y = 0 to 16 iter_args(%inner = %outer) -> tensor<256xi16> {
      %sum = affine.for %j = -1 to 2 iter_args(%s0 = %zero) -> i16 {
        %part = affine.for %i = -1 to 2 iter_args(%s1 = %s0) -> i16 {
          %xx = arith.addi %x, %i : index
          %yy = arith.addi %y, %j : index
          %row = arith.muli %xx, %n : index
          %flat = arith.addi %row, %yy : index
          %index = arith.remui %flat, %all : index
          %pixel = tensor.extract %image[%index] : tensor<256xi16>
          %t = arith.addi %s1, %pixel : i16
          affine.yield %t : i16
        }
        affine.yield %part : i16
      }
      %row = arith.muli %n, %x : index
      %index = arith.addi %row, %y : index
      %next = tensor.insert %sum into %inner[%index] : tensor<256xi16>
      affine.yield %next : tensor<256xi16>
    }
    affine.yield %column : tensor<256xi16>
  }
  return %blurred : tensor<256xi16>
}
