//===- PickleReaderTest.cpp - what pickles mean -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every opcode, by what it makes of a small file; then what holds for graphs:
// identity, cycles, depth, growth, and that nothing is ever run.
//
//===----------------------------------------------------------------------===//

#include "PickleBytes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>

using namespace verify::pickle;

namespace {

/// A file, and what its root is. The first character names the opcode at issue.
struct OpcodeCase {
  unsigned char opcode;
  std::string file;
  std::string root;
};

const OpcodeCase opcodeCases[] = {
    {'(', "((lt.", "([])"},
    {'.', "N.", "None"},
    {'0',
     "NK\1"
     "0.",
     "None"},
    {'1',
     "N(K\1K\2"
     "1.",
     "None"},
    {'2',
     "K\1"
     "2\x86.",
     "(1, 1)"},
    {'B', bytes("B\3\0\0\0a\0b."), "b'a\\00b'"},
    {'C', bytes("C\2xy."), "b'xy'"},
    {'F', "F-2.5\n.", "-2.5"},
    {'G', bytes("G\x3f\xf8\0\0\0\0\0\0."), "1.5"},
    {'I', "I-17\n.", "-17"},
    {'J', bytes("J\xfe\xff\xff\xff."), "-2"},
    {'K', "K\xff.", "255"},
    {'L', "L12345678901L\n.", "12345678901"},
    {'M', bytes("M\1\2."), "513"},
    {'N', "N.", "None"},
    {'P', "Pthe id\n.", "persistent 'the id'"},
    {'Q', "K\7Q.", "persistent 7"},
    {'R', "cm\nf\nK\1\x85R.", "m.f(1)"},
    {'S', "S'it\\'s\\x21'\n.", "'it's!'"},
    {'T', bytes("T\2\0\0\0ab."), "'ab'"},
    {'U', "U\2ab.", "'ab'"},
    {'V', "Vsnow\\u2603 \\U0001f600 \xe9\n.",
     "'snow\\E2\\98\\83 \\F0\\9F\\98\\80 \\C3\\A9'"},
    {'X', bytes("X\2\0\0\0ab."), "'ab'"},
    {']', "].", "[]"},
    {'a', "]K\1a.", "[1]"},
    {'b', "cm\nC\n)\x81}U\1xK\1sb.", "new m.C() state {'x': 1}"},
    {'c', "cmodule\nname\n.", "module.name"},
    {'d', "(K\1K\2K\3K\4d.", "{1: 2, 3: 4}"},
    {'e', "](K\1K\2e.", "[1, 2]"},
    {'g', "K\5p10\n0g10\n.", "5"},
    {'h',
     "K\5q\3"
     "0h\3.",
     "5"},
    {'i', "(K\1K\2im\nC\n.", "m.C(1, 2)"},
    {'j',
     bytes("K\5r\0\1\0\0"
           "0j\0\1\0\0."),
     "5"},
    {'l', "(K\1K\2l.", "[1, 2]"},
    {'o', "(cm\nC\nK\1o.", "m.C(1)"},
    {'p', "K\5p0\n0g0\n.", "5"},
    {'q',
     bytes("K\5q\0"
           "0h\0."),
     "5"},
    {'r',
     bytes("K\5r\2\0\0\0"
           "0h\2."),
     "5"},
    {'s', "}K\1K\2s.", "{1: 2}"},
    {'t', "(K\1K\2K\3K\4t.", "(1, 2, 3, 4)"},
    {'u', "}(U\1aK\1U\1bK\2u.", "{'a': 1, 'b': 2}"},
    {'}', "}.", "{}"},
    {')', ").", "()"},
    {0x80, "\x80\5N.", "None"},
    {0x81, "cm\nC\nK\1\x85\x81.", "new m.C(1)"},
    {0x82, "\x82\7.", "extension 7"},
    {0x83, bytes("\x83\0\1."), "extension 256"},
    {0x84, bytes("\x84\0\0\1\0."), "extension 65536"},
    {0x85, "K\1\x85.", "(1)"},
    {0x86, "K\1K\2\x86.", "(1, 2)"},
    {0x87, "K\1K\2K\3\x87.", "(1, 2, 3)"},
    {0x88, "\x88.", "True"},
    {0x89, "\x89.", "False"},
    {0x8a, bytes("\x8a\2\xff\0."), "255"},
    {0x8b, bytes("\x8b\2\0\0\0\0\xff."), "-256"},
    {0x8c, "\x8c\2ab.", "'ab'"},
    {0x8d, bytes("\x8d\2\0\0\0\0\0\0\0ab."), "'ab'"},
    {0x8e, bytes("\x8e\2\0\0\0\0\0\0\0ab."), "b'ab'"},
    {0x8f, "\x8f.", "{}"},
    {0x90, "\x8f(K\1K\2\x90.", "{1, 2}"},
    {0x91, "(K\1K\2\x91.", "frozenset{1, 2}"},
    {0x92, "cm\nC\n)}U\1aK\1s\x92.", "new m.C(){'a': 1}"},
    {0x93,
     "\x8c\1m\x8c\3"
     "A.b\x93.",
     "m.A.b"},
    {0x94,
     bytes("K\5\x94"
           "0h\0."),
     "5"},
    {0x95, bytes("\x95\2\0\0\0\0\0\0\0N."), "None"},
    {0x96, bytes("\x96\2\0\0\0\0\0\0\0ab."), "bytearray'ab'"},
    {0x97, "\x97.", "out of band"},
    {0x98, "\x97\x98.", "out of band"},
};

TEST(PickleReaderTest, EveryOpcode) {
  std::set<unsigned char> seen;
  for (const OpcodeCase &opcodeCase : opcodeCases) {
    EXPECT_EQ(show(opcodeCase.file), opcodeCase.root)
        << "opcode " << static_cast<int>(opcodeCase.opcode);
    EXPECT_NE(opcodeCase.file.find(static_cast<char>(opcodeCase.opcode)),
              std::string::npos);
    seen.insert(opcodeCase.opcode);
  }
  // All opcodes of protocols 0 to 5.
  EXPECT_EQ(seen.size(), 68u);
}

TEST(PickleReaderTest, Integers) {
  EXPECT_EQ(show("I00\n."), "False");
  EXPECT_EQ(show("I01\n."), "True");
  EXPECT_EQ(show(bytes("\x8a\0.")), "0");
  EXPECT_EQ(show("\x8a\1\x80."), "-128");
  EXPECT_EQ(show(bytes("J\0\0\0\x40.")), "1073741824");
  EXPECT_EQ(show(bytes("J\xff\xff\xff\x3f.")), "1073741823");
  EXPECT_EQ(show(bytes("J\0\0\0\xc0.")), "-1073741824");
  EXPECT_EQ(show(bytes("J\xff\xff\xff\xbf.")), "-1073741825");
  EXPECT_EQ(show("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."),
            "9223372036854775807");
  EXPECT_EQ(show(bytes("\x8a\x08\0\0\0\0\0\0\0\x80.")), "-9223372036854775808");
  // A number of more than 64 bits stays bytes, unless they only repeat a sign.
  EXPECT_EQ(show(bytes("\x8a\x09\1\0\0\0\0\0\0\x80\0.")),
            "0x010000000000008000");
  EXPECT_EQ(show("\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(show("L18446744073709551616L\n."), "0x000000000000000001");
  EXPECT_EQ(show("L-18446744073709551616L\n."), "0x0000000000000000ff");
}

TEST(PickleReaderTest, TextOperands) {
  EXPECT_EQ(show("S\"\\n\\t\\\\\\101\\q\"\n."), "'\\0A\\09\\\\A\\\\q'");
  EXPECT_EQ(show("V\\ud800\n."), "'\\ED\\A0\\80'");
  EXPECT_EQ(show("V\\\\u0041\\u0041\\\n."), "'\\\\\\\\u0041A\\\\'");
  EXPECT_EQ(show("Finf\n."), "inf");
  EXPECT_EQ(show("P\n."), "persistent ''");
}

TEST(PickleReaderTest, LongText) {
  // Longer than what is copied, and than what a node can say.
  for (size_t size : {255u, 256u, 65536u, (1u << 26) + 5}) {
    std::string file =
        "B" + little<uint32_t>(size) + std::string(size, 'x') + "U\1y\x86.";
    llvm::Expected<Graph> graph = readBytes(file);
    ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
    auto elements = graph->getElements(graph->getRoot());
    EXPECT_EQ(graph->getText(elements[0]), std::string(size, 'x'));
    EXPECT_EQ(graph->getText(elements[1]), "y");
    EXPECT_LT(graph->getMemoryUse(), size_t(4096));
  }
}

TEST(PickleReaderTest, Identity) {
  llvm::Expected<Graph> graph = readBytes(bytes("]q\0]h\0\x87."));
  ASSERT_TRUE(!!graph);
  auto elements = graph->getElements(graph->getRoot());
  EXPECT_NE(elements[0], elements[1]);
  EXPECT_EQ(elements[0], elements[2]);
}

TEST(PickleReaderTest, GlobalsOfOneNameAreOne) {
  llvm::Expected<Graph> graph = readBytes("cm\nf\n\x8c\1m\x8c\1f\x93"
                                          "cm\ng\n\x87.");
  ASSERT_TRUE(!!graph);
  auto elements = graph->getElements(graph->getRoot());
  EXPECT_EQ(elements[0], elements[1]);
  EXPECT_NE(elements[0], elements[2]);
  EXPECT_EQ(graph->getGlobals().size(), 2u);
}

TEST(PickleReaderTest, FilledObjects) {
  // Classes derived from list and dict are filled like a list or dict.
  EXPECT_EQ(show("cm\nL\n)\x81(K\1K\2eK\3a."), "new m.L() items [1, 2, 3]");
  EXPECT_EQ(show("cm\nD\n)\x81(K\1K\2uK\3K\4s."),
            "new m.D() entries {1: 2, 3: 4}");
  EXPECT_EQ(show("cm\nS\n)R(K\1K\2\x90."), "m.S() items [1, 2]");
  EXPECT_EQ(show("cm\nC\n)\x81K\1bK\2bK\3b."), "new m.C() state 1 then [2, 3]");
  EXPECT_EQ(show("cm\nC\n)\x81K\1aNb."), "new m.C() state None items [1]");
}

TEST(PickleReaderTest, FarFromTheEnd) {
  // What is near the end is read one opcode at a time, the rest by the fast
  // path.
  for (llvm::StringRef file :
       {"cm\nL\n)\x81(K\1K\2eK\3a", "cm\nD\n)\x81(K\1K\2uK\3K\4s",
        "cm\nC\n)\x81K\1bK\2bK\3b", "cm\nC\n)\x81K\1aNb",
        "cm\nC\n)\x81)\x81}(\x8c\1aK\1ub}(\x8c\1bK\1ub",
        "}(\x8c\1aK\1u(\x8c\1bK\2u(\x8c\1aK\3u", "}(\x8c\1aNuNNs", "}(u(NNu",
        "](K\1e]aNa", "(K\1K\2t\x85\x94K\3\x86NN\x87"})
    EXPECT_EQ(show((file + ".").str()), show((file + "NNNNN00000.").str()));
  EXPECT_EQ(show(bytes("}(\x8c\1a\x94K\1u}(NNu(h\0K\2u\x86NNNNN00000.")),
            "({'a': 1}, {None: None, 'a': 2})");
  EXPECT_EQ(show("}(\x8c\1aK\1u(\x8c\1aK\2\x8c\1bK\2uNNNNN00000."),
            "{'a': 1, 'a': 2, 'b': 2}");
}

TEST(PickleReaderTest, Shapes) {
  // Two dictionaries with the same keys, and one with another order.
  std::string first = "}(\x8c\1a\x94K\1\x8c\1b\x94K\2u";
  llvm::Expected<Graph> graph = readBytes(
      bytes("") + first + bytes("}(h\0K\3h\1K\4u}(h\1K\5h\0K\6u\x87."));
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  auto elements = graph->getElements(graph->getRoot());
  EXPECT_EQ(graph->getNumShapes(), 2u);
  EXPECT_EQ(graph->getShape(elements[0]), graph->getShape(elements[1]));
  EXPECT_NE(graph->getShape(elements[0]), graph->getShape(elements[2]));
  EXPECT_EQ(show(*graph, graph->getRoot()),
            "({'a': 1, 'b': 2}, {'a': 3, 'b': 4}, {'b': 5, 'a': 6})");
  // One that grows loses its shape and keeps its entries.
  EXPECT_EQ(show("}(U\1aK\1uU\1bK\2sK\3K\4s."), "{'a': 1, 'b': 2, 3: 4}");
}

TEST(PickleReaderTest, GrowingContainers) {
  // Two lists that take turns, so that neither can grow in place.
  std::string file = "(]q\1]q\2"
                     "l0";
  for (int i = 0; i != 3000; ++i)
    file += "h\1M" + little<uint16_t>(i) + "a0h\2(M" + little<uint16_t>(i) +
            "M" + little<uint16_t>(i + 1) + "e0";
  llvm::Expected<Graph> graph = readBytes(file + "h\1h\2\x86.");
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  auto lists = graph->getElements(graph->getRoot());
  auto single = graph->getElements(lists[0]);
  auto pairs = graph->getElements(lists[1]);
  ASSERT_EQ(single.size(), 3000u);
  ASSERT_EQ(pairs.size(), 6000u);
  for (int i = 0; i != 3000; ++i) {
    ASSERT_EQ(graph->getInteger(single[i]), i);
    ASSERT_EQ(graph->getInteger(pairs[2 * i]), i);
    ASSERT_EQ(graph->getInteger(pairs[2 * i + 1]), i + 1);
  }
}

TEST(PickleReaderTest, GrowingDictionary) {
  std::string file = "}";
  for (int batch = 0; batch != 5; ++batch) {
    file += "(";
    for (int i = 0; i != 1000; ++i)
      file += "M" + little<uint16_t>(1000 * batch + i) + "]";
    file += "u";
  }
  llvm::Expected<Graph> graph = readBytes(file + ".");
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  ASSERT_EQ(graph->getNumEntries(graph->getRoot()), 5000u);
  EXPECT_EQ(graph->getShape(graph->getRoot()), Graph::noShape);
  for (int i = 0; i != 5000; ++i)
    ASSERT_EQ(graph->getInteger(graph->getEntry(graph->getRoot(), i).first), i);
}

TEST(PickleReaderTest, Memo) {
  // MEMOIZE numbers slots by how many have been written, as Python does.
  EXPECT_EQ(show(bytes("K\1r\x10\0\0\0"
                       "0K\2\x94"
                       "0h\1.")),
            "2");
}

TEST(PickleReaderTest, MemoSlotsFarApart) {
  std::string file = bytes("K\1r\xff\xff\xff\xff"
                           "0K\2p9000000000000000000\n0"
                           "j\xff\xff\xff\xffg9000000000000000000\n\x86.");
  llvm::Expected<Graph> graph = readBytes(file);
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  EXPECT_EQ(show(*graph, graph->getRoot()), "(1, 2)");
  EXPECT_LT(graph->getMemoryUse(), size_t(4096));
}

TEST(PickleReaderTest, MemoThatFillsGaps) {
  // Every slot below 3000, from the last to the first.
  std::string file;
  for (int slot = 2999; slot >= 0; --slot)
    file += "M" + little<uint16_t>(slot) + "r" + little<uint32_t>(slot) + "0";
  file += "(";
  for (int slot = 0; slot != 3000; ++slot)
    file += "j" + little<uint32_t>(slot);
  llvm::Expected<Graph> graph = readBytes(file + "l.");
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  auto elements = graph->getElements(graph->getRoot());
  ASSERT_EQ(elements.size(), 3000u);
  for (int slot = 0; slot != 3000; ++slot)
    ASSERT_EQ(graph->getInteger(elements[slot]), slot);
}

TEST(PickleReaderTest, Cycles) {
  llvm::Expected<Graph> graph = readBytes("]q\1h\1a.");
  ASSERT_TRUE(!!graph);
  Value root = graph->getRoot();
  EXPECT_EQ(graph->getElements(root), llvm::ArrayRef(root));

  graph = readBytes("cm\nC\n)\x81q\1}U\1xh\1sb.");
  ASSERT_TRUE(!!graph);
  root = graph->getRoot();
  EXPECT_EQ(graph->getEntry(graph->getState(root), 0).second, root);
}

TEST(PickleReaderTest, DeepTuples) {
  constexpr int depth = 1'000'000;
  llvm::Expected<Graph> graph = readBytes("N" + repeat("\x85", depth) + ".");
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
  Value value = graph->getRoot();
  for (int i = 0; i != depth; ++i) {
    ASSERT_EQ(graph->getKind(value), Kind::Tuple);
    value = graph->getElements(value)[0];
  }
  EXPECT_TRUE(graph->isNone(value));
}

TEST(PickleReaderTest, DeepMarks) {
  constexpr int depth = 1'000'000;
  llvm::Expected<Graph> graph =
      readBytes(repeat("(", depth) + repeat("l", depth) + ".");
  ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
}

TEST(PickleReaderTest, NothingIsRun) {
  llvm::SmallString<128> marker;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("pickle", "marker", marker));
  ASSERT_FALSE(llvm::sys::fs::remove(marker));
  std::string command = ("touch " + marker).str();
  std::string files[] = {
      "cos\nsystem\n" + text(command) + "\x85R.",
      "(S'" + command + "'\nios\nsystem\n.",
      "(cos\nsystem\n" + text(command) + "o.",
      "cbuiltins\nexec\n" + text("import os; os.system('" + command + "')") +
          "\x85R.",
  };
  for (const std::string &file : files) {
    llvm::Expected<Graph> graph = readBytes(file);
    ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
    EXPECT_EQ(graph->getKind(graph->getRoot()), Kind::Object);
  }
  EXPECT_FALSE(llvm::sys::fs::exists(marker));
}

TEST(PickleReaderTest, MemoryLimit) {
  ReaderOptions options;
  options.memoryLimit = 1 << 20;
  EXPECT_EQ(readError("(" + repeat("]", 1000) + "l.", options), "");
  EXPECT_THAT(readError("(" + repeat("]", 1'000'000) + "l.", options),
              testing::MatchesRegex("test.pkl: byte [0-9]+: reading needs "
                                    "[0-9]+ bytes of memory, more than the "
                                    "limit of 1048576"));
}

TEST(PickleReaderTest, Files) {
  llvm::SmallString<128> path;
  int descriptor;
  ASSERT_FALSE(
      llvm::sys::fs::createTemporaryFile("pickle", "pkl", descriptor, path));
  // Large enough to be mapped, and for its pages to be given back.
  std::string content(8 << 20, 'x');
  {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << "(B" << little<uint32_t>(content.size()) << content << "(";
    for (int i = 0; i != 1'000'000; ++i)
      stream << "M" << little<uint16_t>(i) << "\x85";
    stream << "lB" << little<uint32_t>(content.size()) << content << "t.";
  }
  {
    llvm::Expected<Graph> graph = readPickleFile(path);
    ASSERT_TRUE(!!graph) << llvm::toString(graph.takeError());
    auto elements = graph->getElements(graph->getRoot());
    EXPECT_EQ(graph->getText(elements[0]), content);
    EXPECT_EQ(graph->getElements(elements[1]).size(), 1'000'000u);
    EXPECT_EQ(graph->getText(elements[2]), content);
  }
  ASSERT_FALSE(llvm::sys::fs::remove(path));
  llvm::Expected<Graph> missing = readPickleFile(path);
  ASSERT_FALSE(!!missing);
  EXPECT_THAT(llvm::toString(missing.takeError()),
              testing::StartsWith(path.str().str() + ": "));
}

} // namespace
