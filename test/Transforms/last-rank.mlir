// RUN: verify-opt %s --tv-check-equiv | FileCheck %s --check-prefix=PROVED
// RUN: sed 's/tv.add %%\([rp]\)m/tv.subtract %%\1m/' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// The rank of the last of 16 experts differs from row to row: in the last row two scores are greater, in
// row 300 none may be. What signs know of scores is no order of them, so that a divisor which is 0 where the
// rank is 0 may be so in a row that only the plan reads. One that is 1 or 2 is not.

// PROVED: tv.answer = "proved"
// UNKNOWN: the plan may be undefined where the reference is not

tv.graph @g <dp = 1> {
  %x = tv.input <input "x"> : tensor<600xf32>
  %rtri = tv.lower_triangle : () -> tensor<600x600xf32>
  %re = tv.exp %x : (tensor<600xf32>) -> tensor<600xf32>
  %rz = tv.einsum %rtri, %re {equation = "ji,j->i"} : (tensor<600x600xf32>, tensor<600xf32>) -> tensor<600xf32>
  %ro = tv.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]> : tensor<16xf64> : () -> tensor<16xf32>
  %rc0 = tv.constant dense<[0.5, 2.0, 3.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -10.0, -11.0, -12.0, -13.0, -14.0, 0.0]> : tensor<16xf64> : () -> tensor<16xf32>
  %rc = tv.broadcast %rc0 {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<600x16xf32>
  %reo = tv.einsum %rz, %ro {equation = "i,e->ie"} : (tensor<600xf32>, tensor<16xf32>) -> tensor<600x16xf32>
  %rs = tv.add %rc, %reo : (tensor<600x16xf32>, tensor<600x16xf32>) -> tensor<600x16xf32>
  %rrank = tv.descending_rank %rs : (tensor<600x16xf32>) -> tensor<600x16xi64>
  %rrs = tv.slice %rrank {dimension = 1 : i64, start = 15 : i64, end = 16 : i64} : (tensor<600x16xi64>) -> tensor<600x1xi64>
  %rhot = tv.one_hot %rrs {start = 0 : i64} : (tensor<600x1xi64>) -> tensor<600x1x1xf32>
  %rone = tv.constant dense<1.0> : tensor<f64> : () -> tensor<600x1x1xf32>
  %rm = tv.constant dense<1.0> : tensor<f64> : () -> tensor<600x1x1xf32>
  %rd = tv.add %rm, %rhot : (tensor<600x1x1xf32>, tensor<600x1x1xf32>) -> tensor<600x1x1xf32>
  %ry = tv.divide %rone, %rd : (tensor<600x1x1xf32>, tensor<600x1x1xf32>) -> tensor<600x1x1xf32>
  %rh = tv.slice %ry {dimension = 0 : i64, start = 599 : i64, end = 600 : i64} : (tensor<600x1x1xf32>) -> tensor<1x1x1xf32>
  %px = tv.distribute %x <[0:600 of 600]> on <> : (tensor<600xf32>) -> tensor<600xf32>
  %ptri = tv.lower_triangle on <> : () -> tensor<600x600xf32>
  %pe = tv.exp %px on <> : (tensor<600xf32>) -> tensor<600xf32>
  %pz = tv.einsum %ptri, %pe on <> {equation = "ji,j->i"} : (tensor<600x600xf32>, tensor<600xf32>) -> tensor<600xf32>
  %po = tv.constant dense<[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]> : tensor<16xf64> on <> : () -> tensor<16xf32>
  %pc0 = tv.constant dense<[0.5, 2.0, 3.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -10.0, -11.0, -12.0, -13.0, -14.0, 0.0]> : tensor<16xf64> on <> : () -> tensor<16xf32>
  %pc = tv.broadcast %pc0 on <> {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<600x16xf32>
  %peo = tv.einsum %pz, %po on <> {equation = "i,e->ie"} : (tensor<600xf32>, tensor<16xf32>) -> tensor<600x16xf32>
  %ps = tv.add %pc, %peo on <> : (tensor<600x16xf32>, tensor<600x16xf32>) -> tensor<600x16xf32>
  %prank = tv.descending_rank %ps on <> : (tensor<600x16xf32>) -> tensor<600x16xi64>
  %prs = tv.slice %prank on <> {dimension = 1 : i64, start = 15 : i64, end = 16 : i64} : (tensor<600x16xi64>) -> tensor<600x1xi64>
  %phot = tv.one_hot %prs on <> {start = 0 : i64} : (tensor<600x1xi64>) -> tensor<600x1x1xf32>
  %pone = tv.constant dense<1.0> : tensor<f64> on <> : () -> tensor<600x1x1xf32>
  %pm = tv.constant dense<1.0> : tensor<f64> on <> : () -> tensor<600x1x1xf32>
  %pd = tv.add %pm, %phot on <> : (tensor<600x1x1xf32>, tensor<600x1x1xf32>) -> tensor<600x1x1xf32>
  %py = tv.divide %pone, %pd on <> : (tensor<600x1x1xf32>, tensor<600x1x1xf32>) -> tensor<600x1x1xf32>
  %ph = tv.slice %py on <> {dimension = 0 : i64, start = 599 : i64, end = 600 : i64} : (tensor<600x1x1xf32>) -> tensor<1x1x1xf32>
  tv.expect %py is %ry <[0:600 of 600], [0:1 of 1], [0:1 of 1]> on <> number 0 : tensor<600x1x1xf32> is tensor<600x1x1xf32>
  %pi = tv.slice %py on <> {dimension = 0 : i64, start = 300 : i64, end = 301 : i64} : (tensor<600x1x1xf32>) -> tensor<1x1x1xf32>
  %pd2 = tv.subtract %pi, %pi on <> : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %pz2 = tv.add %ph, %pd2 on <> : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  tv.expect %pz2 is %rh <[0:1 of 1], [0:1 of 1], [0:1 of 1]> on <> number 1 contract <output "h"> : tensor<1x1x1xf32> is tensor<1x1x1xf32>
}
