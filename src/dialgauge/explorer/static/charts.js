"use strict";

// Charts are drawn when they come into sight, from a specification that this server makes; expressions in it are
// interpreted and never become code.
let bundle;
function drawing() {
  bundle ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = "/static/vega.js";
    script.type = "module";
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  return bundle;
}

async function draw(figure) {
  try {
    const [answer] = await Promise.all([fetch(figure.dataset.chart), drawing()]);
    if (!answer.ok) throw new Error(String(answer.status));
    const specification = await answer.json();
    await window.vegaEmbed(figure, specification, { actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: false });
    figure.dataset.drawn = "";
  } catch {
    figure.textContent = "This chart could not be drawn; the tables have its numbers.";
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries.filter((one) => one.isIntersecting)) {
    seen.unobserve(entry.target);
    draw(entry.target);
  }
}, { rootMargin: "300px" });
document.querySelectorAll("[data-chart]").forEach((figure) => seen.observe(figure));
