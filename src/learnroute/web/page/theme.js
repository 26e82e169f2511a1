// Light or dark colours: the system's setting, or the user's choice, which the browser stores.

import { $ } from "./dom.js";

const SHOWN = { auto: "◐ auto", light: "☀ light", dark: "☾ dark" };
const NEXT = { auto: "light", light: "dark", dark: "auto" };

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("theme").textContent = SHOWN[theme];
  $("theme").setAttribute("aria-label", `Colours: ${theme === "auto" ? "system setting" : theme}`);
  $("theme").value = theme;
  try {
    localStorage.setItem("learnroute-theme", theme);
  } catch { /* a browser without storage forgets the choice */ }
}

export function startTheme() {
  let theme = "auto";
  try {
    theme = localStorage.getItem("learnroute-theme") ?? "auto";
  } catch { /* no stored choice */ }
  setTheme(theme);
  $("theme").addEventListener("click", () => setTheme(NEXT[$("theme").value]));
}
