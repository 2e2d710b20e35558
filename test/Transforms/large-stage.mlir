// RUN: grep -v '// wrong$' %s | verify-opt --tv-check-equiv -o /dev/null
// RUN: grep -v '// right$' %s | not verify-opt --tv-check-equiv -o /dev/null 2>&1 | FileCheck %s

// A stage of more than a million terms is proved all the same, if nothing else decides a result.
// CHECK: error: output 'y' differs from the reference

tv.graph @graph <r = 1> {
  %i = tv.input <input "i"> : tensor<i64>
  %j = tv.input <input "j"> : tensor<i64>
  %m = tv.input <parameter "m"> : tensor<800x800xf32>
  %h = tv.one_hot %i {start = -1 : i64} : (tensor<i64>) -> tensor<800xf32>
  %k = tv.one_hot %j {start = -1 : i64} : (tensor<i64>) -> tensor<800xf32>
  %a = tv.einsum %h, %m {equation = "v,vu->u"} : (tensor<800xf32>, tensor<800x800xf32>) -> tensor<800xf32>
  %y = tv.einsum %a, %k {equation = "u,u->"} : (tensor<800xf32>, tensor<800xf32>) -> tensor<f32>
  %pi = tv.distribute %i <> on <> : (tensor<i64>) -> tensor<i64>
  %pj = tv.distribute %j <> on <> : (tensor<i64>) -> tensor<i64>
  %p0 = tv.distribute %m <[0:400 of 800], [0:800 of 800]> on <> : (tensor<800x800xf32>) -> tensor<400x800xf32>
  %p1 = tv.distribute %m <[400:800 of 800], [0:800 of 800]> on <> : (tensor<800x800xf32>) -> tensor<400x800xf32>
  %pm = tv.concat %p0, %p1 on <> {dimension = 0 : i64} : (tensor<400x800xf32>, tensor<400x800xf32>) -> tensor<800x800xf32> // right
  %pm = tv.concat %p1, %p0 on <> {dimension = 0 : i64} : (tensor<400x800xf32>, tensor<400x800xf32>) -> tensor<800x800xf32> // wrong
  %ph = tv.one_hot %pi on <> {start = -1 : i64} : (tensor<i64>) -> tensor<800xf32>
  %pk = tv.one_hot %pj on <> {start = -1 : i64} : (tensor<i64>) -> tensor<800xf32>
  %b = tv.einsum %ph, %pm on <> {equation = "v,vu->u"} : (tensor<800xf32>, tensor<800x800xf32>) -> tensor<800xf32>
  %q = tv.einsum %b, %pk on <> {equation = "u,u->"} : (tensor<800xf32>, tensor<800xf32>) -> tensor<f32>
  tv.expect %q is %y <> on <> number 0 contract <output "y"> : tensor<f32> is tensor<f32>
}
