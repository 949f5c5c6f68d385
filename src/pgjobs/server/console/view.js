// Preact, signals and htm, tied together.
import { Component, h, options, render } from "./vendor/preact.js";
import { batch, computed, effect, signal, untracked } from "./vendor/signals-core.js";
import htm from "./vendor/htm.js";

export { batch, computed, effect, render, signal, untracked };

// Controls that turn the direction of writing can make a text read as another: they are shown as escapes.
const TURNS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const plain = (text) => text.replace(TURNS, (turn) => `\\u${turn.charCodeAt(0).toString(16).padStart(4, "0")}`);
const SHOWN = ["title", "aria-label", "placeholder"];
options.vnode = (node) => {
  if (node.type === null && typeof node.props === "string") node.props = plain(node.props);
  if (typeof node.type !== "string") return;
  for (const name of SHOWN) {
    if (typeof node.props[name] === "string") node.props[name] = plain(node.props[name]);
  }
};

// A plain function used as a component watches the signals it reads, like any view.
const views = new WeakMap();
const watched = (type) => {
  if (typeof type !== "function" || type.prototype?.render) return type;
  if (!views.has(type)) views.set(type, view(() => type));
  return views.get(type);
};
export const html = htm.bind((type, ...rest) => h(watched(type), ...rest));

// A component: `setup` runs once per instance, with its properties as a signal, and gives the
// function that draws. Drawing is repeated when a signal it has read changes. What setup hands
// to `leaving` is called when the instance goes.
export function view(setup) {
  return class extends Component {
    constructor(properties) {
      super(properties);
      this.leavings = [];
      this.given = signal(properties);
      const draw = untracked(() => setup(this.given, (leaving) => this.leavings.push(leaving)));
      this.drawn = computed(() => draw(this.given.value));
    }

    componentDidMount() {
      let isFirst = true;
      const stop = effect(() => {
        this.drawn.value;
        if (!isFirst) this.forceUpdate();
        isFirst = false;
      });
      this.leavings.push(stop);
    }

    componentWillReceiveProps(next) {
      this.given.value = next;
    }

    componentWillUnmount() {
      this.leavings.forEach((leaving) => leaving());
    }

    render() {
      return this.drawn.value;
    }
  };
}

// A signal that follows a media query for as long as the page lives.
export function media(query) {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener("change", () => (matches.value = list.matches));
  return matches;
}

export const isWide = media("(min-width: 768px)");
export const isRoomy = media("(min-width: 1000px)");
