// Light or dark, decided before anything is drawn: what was selected here, else what the system prefers.
"use strict";
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("pgjobs-theme");
    } catch {
      return null; // Storage may be forbidden.
    }
  };
  const show = () => {
    document.documentElement.dataset.theme = stored() ?? (system.matches ? "dark" : "light");
    dispatchEvent(new Event("themechange"));
  };
  system.addEventListener("change", show);
  addEventListener("storage", show);
  globalThis.switchTheme = () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("pgjobs-theme", next);
    } catch {
      // Then it lasts as long as the page.
    }
    document.documentElement.dataset.theme = next;
    dispatchEvent(new Event("themechange"));
  };
  show();
})();
