// Runs before the page is drawn, so that a chosen theme never flashes.
(() => {
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage can be switched off; the system's theme is used then */ }
})();
