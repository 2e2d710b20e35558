// RUN: grep -v '// wrong$' %s | verify-opt --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: grep -v '// fixed$' %s | not verify-opt --tv-verify-equiv -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed '/tv.wait .sa$/d' %s | grep -v '// wrong$' | not verify-opt --tv-canonicalize-ssa -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// RUN: sed '/^tv.plan @plan/,$d' %s > %t.mlir
// RUN: echo 'tv.plan @plan <dp = 1, device = 2, mb = 1> { tv.program 0 { %%0 = tv.start { %%1 = tv.receive from 1 : tensor<4xf32> } %%2 = tv.wait %%0 : tensor<4xf32> } }' >> %t.mlir
// RUN: not verify-opt %t.mlir --tv-canonicalize-ssa -o /dev/null 2>&1 | FileCheck %s --check-prefix=NEVER

// Two transfers of one channel and two collectives of one group, each two at a time. What
// a start takes part in is decided by the order of starts, not of waits.

// PROVED: tv.answer = "proved"
// WRONG: error: output {{.*}} differs from the reference
// FORGOTTEN: error: 'tv.start' op on device 0 is never waited for
// NEVER: error: 'tv.wait' op on device 0 waits for device 1, which sends nothing more

tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.segment @forward on 0 cell 2 {
  ^bb0(%x: tensor<4xf32>):
    %0 = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    tv.return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  tv.program 0 {
    %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %1:2 = tv.call @forward(%0) instance 2 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    tv.output %1#0 "a" <8, [0:4 of 4]> : tensor<4xf32>
    tv.output %1#1 "b" <9, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
    %a = tv.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %b = tv.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    %sa = tv.start { tv.send %a to 1 : tensor<4xf32> }
    %sb = tv.start { tv.send %b to 1 : tensor<4xf32> }
    %ra = tv.start { %0 = tv.communicate broadcast %a group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> }
    %rb = tv.start { %0 = tv.communicate broadcast %b group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> }
    %d = tv.wait %rb : tensor<4xf32>
    %c = tv.wait %ra : tensor<4xf32>
    tv.wait %sb
    tv.wait %sa
    tv.output %c "a" <8, [0:4 of 4]> : tensor<4xf32>
    tv.output %d "b" <9, [0:4 of 4]> : tensor<4xf32>
  }
  tv.program 1 {
    %sa = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %sb = tv.start { %0 = tv.receive from 0 : tensor<4xf32> }
    %b = tv.wait %sb : tensor<4xf32> // fixed
    %a = tv.wait %sa : tensor<4xf32> // fixed
    %a = tv.wait %sb : tensor<4xf32> // wrong
    %b = tv.wait %sa : tensor<4xf32> // wrong
    %ra = tv.start { %0 = tv.communicate broadcast %a group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32> }
    %d = tv.communicate broadcast %b group [0, 1] {root = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    %c = tv.wait %ra : tensor<4xf32>
    tv.output %c "a" <8, [0:4 of 4]> : tensor<4xf32>
    tv.output %d "b" <9, [0:4 of 4]> : tensor<4xf32>
  }
}
