//===- FactorUnification.cpp - common refinement of dimensions ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dimensions as trees of concatenations and products over atoms, and their
// unification. Two dimensions that are related get the same atoms; where no
// common refinement exists, all positions of both are kept, which needs none.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace verify;

/// Deepest chain of unifications, each of which one before it needs: where a
/// dimension is related to itself at an offset there are as many as positions.
static constexpr unsigned unificationLimit = 2048;

FactorAnalysis::Node FactorAnalysis::newAtom(int64_t size) {
  if (size == 1 && !nodes.empty())
    return unit;
  NodeData data;
  data.size = size;
  nodes.push_back(data);
  return nodes.size() - 1;
}

FactorAnalysis::Node FactorAnalysis::newNode(Kind kind,
                                             ArrayRef<Node> children) {
  NodeData data;
  data.kind = kind;
  data.size = kind == Kind::Product ? 1 : 0;
  for (Node child : children) {
    child = find(child);
    int64_t size = nodes[child].size;
    if (kind == Kind::Product) {
      if (size == 1)
        continue;
      if (llvm::MulOverflow(data.size, size, data.size))
        fail("a dimension has more than 2^63 elements");
    } else if (llvm::AddOverflow(data.size, size, data.size)) {
      fail("a dimension has more than 2^63 elements");
    }
    data.children.push_back(child);
  }
  if (data.children.empty())
    return unit;
  if (data.children.size() == 1)
    return data.children.front();
  nodes.push_back(std::move(data));
  return nodes.size() - 1;
}

FactorAnalysis::Node FactorAnalysis::find(Node node) const {
  // Chains are halved on the way: they grow as long as the program is deep.
  while (nodes[node].kind == Kind::Forward) {
    Node &next = nodes[node].children.front();
    if (nodes[next].kind == Kind::Forward)
      next = nodes[next].children.front();
    node = next;
  }
  return node;
}

void FactorAnalysis::forward(Node from, Node to) {
  if (nodes[from].isRigid())
    makeRigid(to, nodes[from].rigidity);
  to = find(to);
  if (from == to)
    return;
  nodes[from].kind = Kind::Forward;
  nodes[from].children.assign(1, to);
}

void FactorAnalysis::makeRigid(Node node, Rigidity rigidity) {
  SmallVector<Node> worklist = {node};
  while (!worklist.empty()) {
    Node next = find(worklist.pop_back_val());
    nodes[next].rigidity = std::max(nodes[next].rigidity, rigidity);
    if (nodes[next].kind == Kind::Atom) {
      if (nodes[next].size > options.rigidLimit)
        fail("a dimension of size " + Twine(nodes[next].size) +
             " has to be looked at in full");
      continue;
    }
    llvm::append_range(worklist, nodes[next].children);
  }
}

void FactorAnalysis::unify(Node left, Node right) {
  if (nodes[find(left)].size != nodes[find(right)].size)
    return fail("dimensions of size " + Twine(nodes[find(left)].size) +
                " and " + Twine(nodes[find(right)].size) + " are related");
  if (tryUnify(left, right))
    return;
  makeRigid(left);
  makeRigid(right);
}

bool FactorAnalysis::tryUnify(Node left, Node right) {
  left = find(left);
  right = find(right);
  if (left == right || failure)
    return true;
  if (nodes[left].size != nodes[right].size)
    return false;
  if (nodes[left].kind == Kind::Atom) {
    forward(left, right);
    return true;
  }
  if (nodes[right].kind == Kind::Atom) {
    forward(right, left);
    return true;
  }
  if (unificationDepth >= unificationLimit) {
    fail("a dimension of size " + Twine(nodes[left].size) +
         " is related to itself in too many ways");
    return true;
  }
  ++unificationDepth;
  llvm::scope_exit leave([&] { --unificationDepth; });
  bool isProduct =
      nodes[left].kind == Kind::Product && nodes[right].kind == Kind::Product;
  bool unified =
      isProduct && getBlocks(left).size() == 1 && getBlocks(right).size() == 1
          ? unifyFactors(left, right)
          : unifyBlocks(left, right);
  if (unified && find(left) != find(right))
    forward(find(left), right);
  return unified;
}

SmallVector<FactorAnalysis::Node> FactorAnalysis::getFactorList(Node node) {
  node = find(node);
  if (nodes[node].kind != Kind::Product)
    return {node};
  SmallVector<Node> list;
  for (Node child : llvm::SmallVector<Node>(nodes[node].children.begin(),
                                            nodes[node].children.end()))
    llvm::append_range(list, getFactorList(child));
  return list;
}

SmallVector<FactorAnalysis::Node> FactorAnalysis::getBlocks(Node node) {
  node = find(node);
  if (nodes[node].kind == Kind::Atom)
    return {node};
  if (nodes[node].kind == Kind::Concat) {
    SmallVector<Node> list;
    for (Node child : llvm::SmallVector<Node>(nodes[node].children.begin(),
                                              nodes[node].children.end()))
      llvm::append_range(list, getBlocks(child));
    return list;
  }
  // A product whose major factor is a concatenation is one of products.
  SmallVector<Node> list = getFactorList(node);
  SmallVector<Node> majors = getBlocks(list.front());
  if (majors.size() == 1)
    return {node};
  SmallVector<Node> blocks;
  for (Node major : majors) {
    SmallVector<Node> parts = {major};
    parts.append(list.begin() + 1, list.end());
    blocks.push_back(newNode(Kind::Product, parts));
  }
  return blocks;
}

bool FactorAnalysis::unifyFactors(Node left, Node right) {
  SmallVector<Node> first = getFactorList(left), second = getFactorList(right);
  while (!first.empty() && !second.empty()) {
    Node a = find(first.pop_back_val()), b = find(second.pop_back_val());
    if (nodes[a].size == nodes[b].size) {
      if (!tryUnify(a, b))
        return false;
      continue;
    }
    bool isFirstLarger = nodes[a].size > nodes[b].size;
    Node large = isFirstLarger ? a : b, small = isFirstLarger ? b : a;
    auto parts = divide(large, nodes[small].size);
    if (!parts || !tryUnify(parts->second, small))
      return false;
    llvm::append_range(isFirstLarger ? first : second,
                       getFactorList(parts->first));
  }
  return first.empty() && second.empty();
}

bool FactorAnalysis::unifyBlocks(Node left, Node right) {
  SmallVector<Node> first = getBlocks(left), second = getBlocks(right);
  std::reverse(first.begin(), first.end());
  std::reverse(second.begin(), second.end());
  while (!first.empty() && !second.empty()) {
    Node a = find(first.pop_back_val()), b = find(second.pop_back_val());
    if (nodes[a].size == nodes[b].size) {
      if (!tryUnify(a, b))
        return false;
      continue;
    }
    bool isFirstLarger = nodes[a].size > nodes[b].size;
    Node large = isFirstLarger ? a : b, small = isFirstLarger ? b : a;
    auto parts = split(large, nodes[small].size);
    if (!parts || !tryUnify(parts->first, small))
      return false;
    SmallVector<Node> &rest = isFirstLarger ? first : second;
    SmallVector<Node> blocks = getBlocks(parts->second);
    rest.append(blocks.rbegin(), blocks.rend());
  }
  return first.empty() && second.empty();
}

std::optional<std::pair<FactorAnalysis::Node, FactorAnalysis::Node>>
FactorAnalysis::split(Node node, int64_t offset) {
  node = find(node);
  if (nodes[node].kind == Kind::Atom) {
    Rigidity rigidity = nodes[node].rigidity;
    Node first = newAtom(offset), second = newAtom(nodes[node].size - offset);
    Node both = newNode(Kind::Concat, {first, second});
    nodes[node].rigidity = rigidity;
    forward(node, both);
    return std::pair(first, second);
  }
  if (nodes[node].kind == Kind::Concat) {
    SmallVector<Node> children(nodes[node].children.begin(),
                               nodes[node].children.end());
    SmallVector<Node> before;
    for (size_t i = 0; i < children.size(); ++i) {
      int64_t size = nodes[find(children[i])].size;
      if (offset >= size) {
        offset -= size;
        before.push_back(children[i]);
        if (offset > 0)
          continue;
        SmallVector<Node> after(children.begin() + i + 1, children.end());
        return std::pair(newNode(Kind::Concat, before),
                         newNode(Kind::Concat, after));
      }
      auto parts = split(children[i], offset);
      if (!parts)
        return std::nullopt;
      before.push_back(parts->first);
      SmallVector<Node> after = {parts->second};
      after.append(children.begin() + i + 1, children.end());
      return std::pair(newNode(Kind::Concat, before),
                       newNode(Kind::Concat, after));
    }
    return std::nullopt;
  }
  SmallVector<Node> list = getFactorList(node);
  Node major = list.front();
  int64_t minor = nodes[node].size / nodes[find(major)].size;
  if (offset % minor)
    return std::nullopt;
  auto parts = split(major, offset / minor);
  if (!parts)
    return std::nullopt;
  SmallVector<Node> first = {parts->first}, second = {parts->second};
  first.append(list.begin() + 1, list.end());
  second.append(list.begin() + 1, list.end());
  return std::pair(newNode(Kind::Product, first),
                   newNode(Kind::Product, second));
}

std::optional<std::pair<FactorAnalysis::Node, FactorAnalysis::Node>>
FactorAnalysis::divide(Node node, int64_t minor) {
  node = find(node);
  if (minor == 0 || nodes[node].size % minor)
    return std::nullopt;
  if (nodes[node].size == minor)
    return std::pair(unit, node);
  if (minor == 1)
    return std::pair(node, unit);
  if (nodes[node].kind == Kind::Atom) {
    Node major = newAtom(nodes[node].size / minor), rest = newAtom(minor);
    forward(node, newNode(Kind::Product, {major, rest}));
    return std::pair(major, rest);
  }
  if (nodes[node].kind == Kind::Product) {
    SmallVector<Node> list = getFactorList(node), low;
    while (!list.empty() && minor > 1) {
      Node last = list.pop_back_val();
      int64_t size = nodes[find(last)].size;
      if (minor % size == 0) {
        low.insert(low.begin(), last);
        minor /= size;
        continue;
      }
      auto parts = divide(last, minor);
      if (!parts)
        return std::nullopt;
      low.insert(low.begin(), parts->second);
      list.push_back(parts->first);
      minor = 1;
    }
    return std::pair(newNode(Kind::Product, list), newNode(Kind::Product, low));
  }
  // Every block is divided alike.
  SmallVector<Node> majors;
  std::optional<Node> shared;
  for (Node child : llvm::SmallVector<Node>(nodes[node].children.begin(),
                                            nodes[node].children.end())) {
    auto parts = divide(child, minor);
    if (!parts || (shared && !tryUnify(*shared, parts->second)))
      return std::nullopt;
    shared = parts->second;
    majors.push_back(parts->first);
  }
  Node major = newNode(Kind::Concat, majors);
  forward(node, newNode(Kind::Product, {major, *shared}));
  return std::pair(major, *shared);
}

void FactorAnalysis::cut(Node node, int64_t offset) {
  node = find(node);
  if (offset <= 0 || offset >= nodes[node].size)
    return;
  if (!split(node, offset))
    makeRigid(node);
}
