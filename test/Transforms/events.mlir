// RUN: grep -v "// wrong$" %s | grep -v "// race$" > %t.fixed.mlir
// RUN: grep -v "// fixed$" %s | grep -v "// race$" > %t.wrong.mlir
// RUN: grep -v "// fixed$" %s | grep -v "// wrong$" > %t.race.mlir
// RUN: verify-opt %t.fixed.mlir --tv-verify-equiv | FileCheck %s --check-prefix=PROVED
// RUN: not verify-opt %t.wrong.mlir --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=REFUTED
// RUN: not verify-opt %t.race.mlir --tv-verify-equiv 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: not verify-opt %t.race.mlir --tv-canonicalize-ssa 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: verify-opt %t.fixed.mlir --tv-interpret -o /dev/null | FileCheck %s --check-prefix=EQUAL
// RUN: verify-opt %t.fixed.mlir --tv-canonicalize-ssa --tv-interpret -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=EQUAL
// RUN: verify-opt %t.wrong.mlir --tv-interpret -o /dev/null | FileCheck %s --check-prefix=DIFFERS

// A gradient is received on one stream; others wait for that, and for each other, before
// the program has sent what the other device needs for it. The program waits for the
// last one alone, and then reads.

// PROVED: tv.answer = "proved"
// REFUTED: error: output 'y' differs from the reference
// RACE: error: 'tv.start' op on device 0 reads 'w' while communication writes to it
// RACE: note: it was started here
// RACE: note: and is waited for here, which has to come before
// RACE: note: or this has to come after it, by its handle or on its stream
// EQUAL: output 'y' {{.*}} equal
// EQUAL: gradient 'w' {{.*}} equal
// DIFFERS: gradient 'w' {{.*}} differs
tv.plan @reference <dp = 1, device = 1, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %0 = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = tv.subtract %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = tv.multiply %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.add_to %2, @g : tensor<4xf32>
    tv.output %2 "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
}
tv.plan @plan <dp = 1, device = 2, mb = 1> {
  tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
  tv.buffer @g on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : !tv.buffer<tensor<4xf32>>
  tv.program 0 {
    %x = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : tensor<4xf32>
    %receiving = tv.start stream "transfers" into @g { %0 = tv.receive from 1 : tensor<4xf32> }
    %difference = tv.start stream "compute" after %receiving into @g {
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.subtract %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // fixed
      %1 = tv.subtract %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // wrong
      %1 = tv.subtract %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // race
    }
    %product = tv.start stream "compute" into @g { // fixed
    %product = tv.start stream "compute" into @g { // wrong
    %product = tv.start stream "other" into @g { // race
      %0 = tv.read @g : tensor<4xf32>
      %1 = tv.multiply %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    }
    tv.send %x to 1 : tensor<4xf32>
    tv.wait %product
    %y = tv.read @g : tensor<4xf32>
    tv.wait %receiving
    tv.wait %difference
    tv.output %y "y" <2, [0:4 of 4]> : tensor<4xf32>
  }
  tv.program 1 {
    %x = tv.receive from 0 : tensor<4xf32>
    %0 = tv.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tv.send %0 to 0 : tensor<4xf32>
  }
}
