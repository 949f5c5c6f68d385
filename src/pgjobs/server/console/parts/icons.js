// Line icons, drawn on a grid of 24.
import { html } from "../view.js";

const PATHS = {
  overview: ["M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z"],
  tasks: ["M9 6h11M9 12h11M9 18h11M4 6l.9.9L6.5 5M4 12l.9.9L6.5 11M4 18l.9.9L6.5 17"],
  jobs: ["M4 8h16v11H4zM9 8V5h6v3M4 13h16"],
  workflows: ["M4 5h5v5H4zM4 14h5v5H4zM15 9.5h5v5h-5zM9 7.5h2.5L15 12M9 16.5h2.5L15 12"],
  workers: ["M5 5h14v10H5zM9 19h6M12 15v4M9 9h.01M12 9h.01M15 9h.01"],
  providers: ["M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v6c0 1.7 3.6 3 8 3s8-1.3 8-3V6M9 20h6M12 15v5"],
  schedules: ["M4 6h16v14H4zM4 10h16M8 3v4M16 3v4M12 13v2.5l1.8 1.2"],
  cleanup: ["M4 20h16M6 20l2-9h8l2 9M10 11V4h4v7M10 20v-4M14 20v-4"],
  database: ["M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3"],
  menu: ["M4 7h16M4 12h16M4 17h16"],
  close: ["M6 6l12 12M18 6L6 18"],
  sun: ["M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4"],
  moon: ["M20 14.5A8 8 0 019.5 4a8 8 0 1010.5 10.5z"],
  pause: ["M8 5v14M16 5v14"],
  play: ["M7 5l12 7-12 7z"],
  bolt: ["M13 3L5 14h6l-1 7 8-11h-6z"],
  clock: ["M12 3a9 9 0 100 18 9 9 0 000-18zM12 7v5l3 2"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  cross: ["M7 7l10 10M17 7L7 17"],
  retry: ["M4 11a8 8 0 0114-4.5L20 9M20 4v5h-5M20 13a8 8 0 01-14 4.5L4 15M4 20v-5h5"],
  stop: ["M12 3a9 9 0 100 18 9 9 0 000-18zM5.6 5.6l12.8 12.8"],
  block: ["M12 9v4M12 16.5v.01M10.3 4.3L2.8 17.5A2 2 0 004.5 20.5h15a2 2 0 001.7-3L13.7 4.3a2 2 0 00-3.4 0z"],
  held: ["M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 017 0v3"],
  eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z"],
  skip: ["M6 12h12"],
  gone: ["M12 8.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7z"],
  hidden: ["M4 4l16 16M9.9 5.8A9 9 0 0112 5.5c6 0 9.5 6.5 9.5 6.5a17 17 0 01-3 3.7M6 7.5A17 17 0 002.5 12S6 18.5 12 18.5a9 9 0 004-1M10 10.3a2.5 2.5 0 003.6 3.5"],
  bell: ["M6 16V11a6 6 0 0112 0v5l1.5 2h-15zM10 21h4"],
  archive: ["M3 5h18v4H3zM5 9v10h14V9M10 13h4"],
  trash: ["M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5"],
  copy: ["M9 9h11v11H9zM5 15H4V4h11v1"],
  help: ["M12 3a9 9 0 100 18 9 9 0 000-18zM9.6 9.3a2.5 2.5 0 114 2.1c-1 .7-1.6 1.2-1.6 2.3M12 17v.01"],
  search: ["M11 4a7 7 0 100 14 7 7 0 000-14zM20 20l-4-4"],
  info: ["M12 3a9 9 0 100 18 9 9 0 000-18zM12 11v5M12 8v.01"],
  leave: ["M10 4H5v16h5M15 8l4 4-4 4M19 12H9"],
  next: ["M9 5l7 7-7 7"],
  pencil: ["M4 20h4L19 9l-4-4L4 16zM13 7l4 4"],
  inbox: ["M4 13l3-8h10l3 8v6H4zM4 13h5l1.5 2.5h3L15 13h5"],
};

export const icon = (name) => html`
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    ${PATHS[name].map((path) => html`<path d=${path} />`)}
  </svg>
`;
