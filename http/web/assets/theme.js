// Sets the colour scheme that was chosen on this device before the page is painted.
"use strict";
try {
  const theme = localStorage.getItem("pmx-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is switched off */ }
