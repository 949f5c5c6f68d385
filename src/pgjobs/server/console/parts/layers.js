// Places the tasks of a workflow in layers, parents left of their children, so that a thousand can be read: tasks of
// one job that have the same parents and children are folded into one box, and so is a row of them one after the other.
const FEW = 8;
const SWEEPS = 4;

// Boxes of one task each, in an order in which parents come first, and who is next to whom.
function boxed(nodes, edges) {
  const boxes = new Map(nodes.map((node) => [node.number, { key: node.number, tasks: [node], before: new Set(), after: new Set() }]));
  for (const [parent, child] of edges) {
    boxes.get(parent).after.add(child);
    boxes.get(child).before.add(parent);
  }
  return boxes;
}

function join(boxes, members) {
  const [first] = members;
  const inside = new Set(members.map((box) => box.key));
  const joined = { key: first.key, tasks: members.flatMap((box) => box.tasks), before: new Set(), after: new Set() };
  for (const box of members) {
    for (const key of box.before) if (!inside.has(key)) joined.before.add(key);
    for (const key of box.after) if (!inside.has(key)) joined.after.add(key);
    boxes.delete(box.key);
  }
  boxes.set(first.key, joined);
  for (const key of joined.before) {
    const { after } = boxes.get(key);
    for (const member of inside) after.delete(member);
    after.add(first.key);
  }
  for (const key of joined.after) {
    const { before } = boxes.get(key);
    for (const member of inside) before.delete(member);
    before.add(first.key);
  }
  return joined;
}

const jobOf = (box) => box.tasks[0].job;

function foldAlike(boxes) {
  const alike = new Map();
  for (const box of boxes.values()) {
    if (box.tasks.length > 1) continue;
    const name = JSON.stringify([jobOf(box), [...box.before].sort(), [...box.after].sort()]);
    alike.set(name, [...(alike.get(name) ?? []), box]);
  }
  for (const members of alike.values()) if (members.length >= FEW) join(boxes, members).how = "side by side";
}

function foldRows(boxes) {
  const next = (box) => {
    if (box.after.size !== 1 || box.tasks.length > 1) return null;
    const following = boxes.get([...box.after][0]);
    return following.before.size === 1 && following.tasks.length === 1 && jobOf(following) === jobOf(box) ? following : null;
  };
  const isInside = new Set([...boxes.values()].map(next).filter(Boolean).map((box) => box.key));
  for (const start of [...boxes.values()]) {
    if (isInside.has(start.key)) continue;
    const row = [start];
    for (let box = next(start); box; box = next(box)) row.push(box);
    if (row.length >= FEW) join(boxes, row).how = "one after the other";
  }
}

// The layer of each box: one to the right of its last parent.
function ranked(boxes) {
  const waiting = new Map([...boxes.values()].map((box) => [box.key, box.before.size]));
  let ready = [...boxes.values()].filter((box) => box.before.size === 0);
  for (const box of ready) box.layer = 0;
  const layers = [];
  while (ready.length) {
    const following = [];
    for (const box of ready) {
      (layers[box.layer] ??= []).push(box);
      for (const key of box.after) {
        const child = boxes.get(key);
        child.layer = Math.max(child.layer ?? 0, box.layer + 1);
        waiting.set(key, waiting.get(key) - 1);
        if (waiting.get(key) === 0) following.push(child);
      }
    }
    ready = following;
  }
  return layers;
}

// Within a layer, near to whom they are joined with: the mean place of those, there and back.
function ordered(boxes, layers) {
  const settle = (layer) => layer.forEach((box, place) => (box.place = (place + 0.5) / layer.length));
  layers.forEach(settle);
  const near = (keys, box) => (keys.size ? [...keys].reduce((sum, key) => sum + boxes.get(key).place, 0) / keys.size : box.place);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isBack = sweep % 2 === 1;
    for (const layer of isBack ? [...layers].reverse() : layers) {
      const wanted = new Map(layer.map((box) => [box, near(isBack ? box.after : box.before, box)]));
      layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a.key - b.key);
      settle(layer);
    }
  }
}

// Layers of boxes and the pairs of boxes that are joined; `isFolded` says whether any box holds many.
export function layered({ nodes, edges }, withFolds = true) {
  const boxes = boxed(nodes, edges);
  if (withFolds) {
    foldRows(boxes);
    foldAlike(boxes);
  }
  const layers = ranked(boxes);
  ordered(boxes, layers);
  const pairs = [...boxes.values()].flatMap((box) => [...box.after].map((key) => [box, boxes.get(key)]));
  return { layers, pairs, isFolded: [...boxes.values()].some((box) => box.tasks.length > 1) };
}
