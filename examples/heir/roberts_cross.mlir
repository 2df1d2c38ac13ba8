// Squared gradient of a secret image of 16 x 16 along both diagonals; it tells left from right.
func.func @roberts_cross(%image: tensor<256xi16> {secret.secret}) -> tensor<256xi16> {
  %n = arith.constant 16 : index
  %all = arith.constant 256 : index
  %one = arith.constant 1 : index
  %edges = affine.for %x = 0 to 16 iter_args(%outer = %image) -> tensor<256xi16> {
    %column = affine.for %y = 0 to 16 iter_args(%inner = %outer) -> tensor<256xi16> {
      %row = arith.muli %x, %n : index
      %here = arith.addi %row, %y : index
      %x1 = arith.subi %x, %one : index
      %row1 = arith.muli %x1, %n : index
      %y1 = arith.subi %y, %one : index
      %a0 = arith.addi %row1, %y1 : index
      %a1 = arith.addi %a0, %all : index
      %a = arith.remui %a1, %all : index
      %b0 = arith.addi %row1, %y : index
      %b1 = arith.addi %b0, %all : index
      %b = arith.remui %b1, %all : index
      %c0 = arith.addi %row, %y1 : index
      %c1 = arith.addi %c0, %all : index
      %c = arith.remui %c1, %all : index
      %pa = tensor.extract %image[%a] : tensor<256xi16>
      %pb = tensor.extract %image[%b] : tensor<256xi16>
      %pc = tensor.extract %image[%c] : tensor<256xi16>
      %ph = tensor.extract %image[%here] : tensor<256xi16>
      %d = arith.subi %pa, %ph : i16
      %e = arith.subi %pb, %pc : i16
      %dd = arith.muli %d, %d : i16
      %ee = arith.muli %e, %e : i16
      %g = arith.addi %dd, %ee : i16
      %next = tensor.insert %g into %inner[%here] : tensor<256xi16>
      affine.yield %next : tensor<256xi16>
    }
    affine.yield %column : tensor<256xi16>
  }
  return %edges : tensor<256xi16>
}
