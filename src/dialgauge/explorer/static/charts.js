"use strict";

// Charts are drawn when they come into sight, from a specification that this server makes; expressions in it are
// interpreted and never become code. They take their colours from the page, and are drawn anew when the theme changes.
const source = document.currentScript.dataset.bundle;
let bundle;
function drawing() {
  bundle ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = source;
    script.type = "module";
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
  return bundle;
}

// The browser says what a name of the palette means in the theme of the page.
function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function themed() {
  const [ink, quiet, line] = ["--ink", "--ink-2", "--line"].map(colour);
  const axis = { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line };
  return {
    background: "transparent",
    view: { stroke: line },
    axis,
    axisX: axis,
    axisY: axis,
    legend: { labelColor: quiet, titleColor: quiet },
    title: { color: ink, subtitleColor: quiet },
    header: { labelColor: quiet, titleColor: quiet },
    text: { color: ink },
    mark: { tooltip: true },
  };
}

function merged(one, other) {
  const both = { ...one };
  for (const [name, value] of Object.entries(other)) {
    both[name] = typeof value === "object" ? merged(both[name] ?? {}, value) : value;
  }
  return both;
}

async function draw(figure) {
  try {
    const [answer] = await Promise.all([fetch(figure.dataset.chart), drawing()]);
    if (!answer.ok) throw new Error(String(answer.status));
    const specification = await answer.json();
    specification.config = merged(specification.config ?? {}, themed());
    specification.background = "transparent";
    await window.vegaEmbed(figure, specification, {
      actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true },
    });
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
new MutationObserver(() => document.querySelectorAll("[data-drawn]").forEach(draw))
  .observe(document.documentElement, { attributeFilter: ["data-theme"] });
